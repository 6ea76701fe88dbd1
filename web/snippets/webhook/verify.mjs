import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Whether the value of X-Pay-Signature is right for a body: a Buffer, byte by byte as it
 * came. The secret is used as it is shown, whsec_ included; nothing is right without one.
 */
export function verify(body, header, secret) {
  if (!secret) return false
  const want = Buffer.from('sha256=' + createHmac('sha256', secret).update(body).digest('hex'))
  const have = Buffer.from(header ?? '')
  return have.length === want.length && timingSafeEqual(have, want)
}

const maxBody = 64 << 10

/** Takes webhooks: http.createServer(handler(secret, process)). One may come twice. */
export function handler(secret, process) {
  return async (request, response) => {
    const parts = []
    let size = 0
    try {
      for await (const part of request) if ((size += part.length) <= maxBody) parts.push(part)
    } catch {
      return // whoever sent it has hung up
    }
    if (size > maxBody) {
      response.writeHead(400).end()
      return
    }
    const body = Buffer.concat(parts)
    if (!verify(body, request.headers['x-pay-signature'], secret)) {
      response.writeHead(401).end()
      return
    }
    try {
      await process(JSON.parse(body.toString()))
      response.writeHead(200).end()
    } catch {
      response.writeHead(500).end() // it is sent again
    }
  }
}
