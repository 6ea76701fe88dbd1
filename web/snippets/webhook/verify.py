import hashlib
import hmac


def verify(body: bytes, header: str | None, secret: str) -> bool:
    """Whether the value of X-Pay-Signature is right for a body, byte by byte as it came.

    The secret is used as it is shown, whsec_ included; nothing is right for an empty one.

    Flask:  verify(request.get_data(), request.headers.get("X-Pay-Signature"), secret)
    Django: verify(request.body, request.headers.get("X-Pay-Signature"), secret)
    """
    want = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return secret != "" and hmac.compare_digest(want.encode(), (header or "").encode())
