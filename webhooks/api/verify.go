package api

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"

	"tonscribe/query/api"
	"tonscribe/webhooks/signature"
	"tonscribe/webhooks/store"
)

// verdict says whether a signature is right, and what is likely wrong with it.
type verdict struct {
	valid   bool
	mistake string
}

var verify = &Endpoint{
	Method: http.MethodPost, Path: "/verify", Name: "verify", Tag: tagVerify, Scope: store.ScopeManage,
	Summary:     "Check a signature",
	Description: "Of a body as it was received, and the header. Without a secret it is checked with those of the merchant.",
	InBody: []Param{
		{Name: "body", Kind: TextKind, MaxBytes: maxBody, Required: true, Description: "of the webhook, to the byte"},
		{Name: "header", Kind: TextKind, MaxBytes: 1024, Required: true, Description: "value of the header with the signature"},
		{Name: "secret", Kind: TextKind, MaxBytes: maxSecret, Description: "that should have signed"},
	},
	Errors: []*Error{errNoSecret},
	Result: of(api.New("Verdict",
		api.Bool("valid", func(v verdict) bool { return v.valid }),
		api.Text("mistake", func(v verdict) string { return v.mistake }).Optional().Doc("what is likely wrong"),
	), (*call).verify),
}

func (c *call) verify() (verdict, error) {
	body, header := []byte(get[string](c.values, "body")), get[string](c.values, "header")
	var secrets []string
	if secret := get[string](c.values, "secret"); secret != "" {
		secrets = []string{secret}
	}
	e, err := c.store.Endpoints.Newest(c, c.merchant.ID)
	if err != nil {
		return verdict{}, err
	}
	own := []named{{"the secret", e.Secret}, {"the next secret, which does not sign yet", e.Next}, {"the old secret, which does not sign any more", e.Old}, {"the API key", e.Key}}
	if len(secrets) == 0 {
		if e.Locked != nil {
			return verdict{}, e.Locked
		}
		if e.Current() == "" {
			return verdict{}, errNoSecret
		}
		secrets = []string{e.Current()}
	}
	if signature.Verify(body, header, secrets...) {
		return verdict{valid: true}, nil
	}
	return verdict{mistake: mistake(body, header, secrets, own)}, nil
}

// named is a secret and what it is.
type named struct{ what, secret string }

const (
	schemePrefix = "sha256="
	hexLength    = 64
	secretPrefix = "whsec_"
)

// mistake is what is likely wrong with a signature that does not hold.
func mistake(body []byte, header string, secrets []string, own []named) string {
	if text := formMistake(body, header, secrets); text != "" {
		return text
	}
	right := func(body []byte, secrets ...string) bool { return signature.Verify(body, header, secrets...) }
	for _, secret := range secrets {
		for _, other := range wronglyRead(secret) {
			if right(body, other.secret) {
				return "the key is " + other.what + ": the whole text of the secret, with " + secretPrefix + ", is the key"
			}
		}
	}
	for _, one := range own {
		if one.secret != "" && right(body, one.secret) {
			return "it was signed by " + one.what
		}
	}
	for _, other := range otherBodies(body) {
		if right([]byte(other.secret), secrets...) {
			return "the body is " + other.what + ": check the bytes as they arrive, before they are parsed"
		}
	}
	return "neither the body nor the secret can be those that signed: check the bytes as they arrive, and which secret the dashboard shows"
}

// formMistake is what is wrong with the form of the header, whatever signed.
func formMistake(body []byte, header string, secrets []string) string {
	right := func(header string) bool { return signature.Verify(body, header, secrets...) }
	digits, prefixed := strings.CutPrefix(header, schemePrefix)
	switch {
	case strings.HasPrefix(header, "v1,"):
		return "this is the value of webhook-signature (Standard Webhooks): take that of the other header, which begins with " + schemePrefix
	case strings.TrimSpace(header) != header && right(strings.TrimSpace(header)):
		return "there are spaces around the value"
	case !prefixed && right(schemePrefix+header):
		return "the value lacks " + schemePrefix + " in front"
	case right(strings.ToLower(header)):
		return "the hex digits are upper case: lower case is right"
	case prefixed && right(schemePrefix+fromBase64(digits)):
		return "the value is base64: hex digits are right"
	case !prefixed:
		return "the value does not begin with " + schemePrefix
	case len(digits) != hexLength:
		return "the value is not " + schemePrefix + " and 64 hex digits"
	}
	return ""
}

// fromBase64 is the hex of base64, empty for what is none.
func fromBase64(text string) string {
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return ""
	}
	return hex.EncodeToString(raw)
}

// wronglyRead are keys that are made of the text of a secret by mistake.
func wronglyRead(secret string) (keys []named) {
	encoded, prefixed := strings.CutPrefix(secret, secretPrefix)
	if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil && prefixed {
		keys = append(keys, named{"what the secret encodes", string(raw)})
	}
	if prefixed {
		keys = append(keys, named{"the secret without " + secretPrefix, encoded})
	} else {
		keys = append(keys, named{"the secret with " + secretPrefix + " in front", secretPrefix + secret})
	}
	if trimmed := strings.TrimSpace(secret); trimmed != secret {
		keys = append(keys, named{"the secret without the spaces around it", trimmed})
	}
	return keys
}

// otherBodies are what a body may have been before somebody parsed it, or what is sent.
func otherBodies(body []byte) (bodies []named) {
	if trimmed := bytes.TrimSpace(body); len(trimmed) != len(body) {
		bodies = append(bodies, named{"followed or preceded by white space that was not sent", string(trimmed)})
	}
	var compact bytes.Buffer
	if json.Compact(&compact, body) == nil && !bytes.Equal(compact.Bytes(), body) {
		bodies = append(bodies, named{"indented or written anew", compact.String()})
	}
	if parsed := compact.Bytes(); len(parsed) > 0 {
		var raw any
		if json.Unmarshal(parsed, &raw) == nil {
			var plain bytes.Buffer
			into := json.NewEncoder(&plain)
			into.SetEscapeHTML(false)
			if into.Encode(raw) == nil {
				bodies = append(bodies, named{"with its members in another order, or with other escapes", strings.TrimSuffix(plain.String(), "\n")})
			}
		}
		bodies = append(bodies, named{"written with escapes that were not sent", unescapeHTML.Replace(string(parsed))})
	}
	return bodies
}

// unescapeHTML takes back what encoders for pages do.
var unescapeHTML = strings.NewReplacer(`\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&", `\u2028`, "\u2028", `\u2029`, "\u2029", `\/`, "/")

var eventSchema = &Endpoint{
	Method: http.MethodGet, Path: "/event-schema", Name: "eventSchema", Tag: tagVerify, Access: anybody,
	Summary: "What the body of a webhook looks like, a JSON Schema",
	Result:  of[json.RawMessage](plain{"a JSON Schema"}, func(*call) (json.RawMessage, error) { return eventSchemaText, nil }),
}
