package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"tonscribe/query/api"
	"tonscribe/webhooks/signature"
	"tonscribe/webhooks/store"
)

// maxURL is how long the URL of an endpoint is, in bytes.
const maxURL = 2048

var (
	errKeyWanted = badRequest("key_wanted", "key: webhooks that an API key signs need the key itself, which is kept sealed")
	errKeyNotOwn = badRequest("bad_key", "key: an API key in use of this merchant is wanted")
	errURL       = badRequest("bad_url", "url: <reason>")
	errNoURL     = conflict("no_url", errors.New("there is no URL: set one first"))
)

// endpointView is an endpoint as its merchant sees it.
type endpointView struct {
	store.Endpoint
	header string
}

var endpointForm = api.New("Webhook",
	api.Text("url", func(e endpointView) string { return e.URL }).Doc("empty until one is set"),
	api.Bool("enabled", func(e endpointView) bool { return e.Enabled }),
	api.Text("disabledReason", func(e endpointView) string { return e.DisabledReason }).Optional().Doc("where it was not the merchant who has disabled it"),
	api.Word("signing", api.Words{store.SignedBySecret, store.SignedByKey}, func(e endpointView) string { return e.Signing }),
	api.Text("header", func(e endpointView) string { return e.header }).Doc("name of the header with the signature"),
	api.Text("keyId", func(e endpointView) string { return store.Key{Hash: e.KeyHash}.ID() }).If(func(e endpointView) bool { return e.Signing == store.SignedByKey }).Doc("of the API key that signs"),
	api.Object("secret", api.New("MaskedSecret",
		api.Text("masked", func(e endpointView) string { return masked(e.Secret) }).Doc("empty until a URL is set"),
		keyID(func(e endpointView) string { return e.Secret }),
		api.Object("next", api.New("NextSecret",
			api.Text("masked", func(e endpointView) string { return masked(e.Next) }),
			keyID(func(e endpointView) string { return e.Next }),
			instant("switchAt", func(e endpointView) time.Time { return e.SwitchAt }).Doc("when it becomes the secret at the latest"),
		), api.Same[endpointView], nil).If(func(e endpointView) bool { return e.Next != "" }),
		api.Object("old", api.New("OldSecret",
			api.Text("masked", func(e endpointView) string { return masked(e.Old) }),
			keyID(func(e endpointView) string { return e.Old }),
			instant("undoUntil", func(e endpointView) time.Time { return e.UndoUntil }).Doc("until when it may come back"),
		), api.Same[endpointView], nil).If(func(e endpointView) bool { return e.Old != "" }),
	), api.Same[endpointView], nil),
)

// keyID is what attempts that a secret has signed are known by.
func keyID(secret func(endpointView) string) api.Member[endpointView] {
	return api.Text("keyId", func(e endpointView) string { return signature.KeyID(secret(e)) }).If(func(e endpointView) bool { return secret(e) != "" }).
		Doc("the keyId of attempts that it has signed")
}

// masked is how a secret ends.
func masked(secret string) string {
	const shown = 4
	if len(secret) < 4*shown {
		return ""
	}
	return "whsec_…" + secret[len(secret)-shown:]
}

func (c *call) view(e store.Endpoint, err error) (endpointView, error) {
	return endpointView{e, c.configuration.Header}, err
}

var getWebhook = &Endpoint{
	Method: http.MethodGet, Path: "/webhook", Name: "getWebhook", Tag: tagWebhook, Scope: store.ScopeManage,
	Summary: "Where webhooks go, and what signs them",
	Result: of(endpointForm, func(c *call) (endpointView, error) {
		return c.view(c.store.Endpoints.Newest(c, c.merchant.ID))
	}),
}

var putWebhook = &Endpoint{
	Method: http.MethodPut, Path: "/webhook", Name: "putWebhook", Tag: tagWebhook, Scope: store.ScopeManage,
	Summary:     "Set where webhooks go",
	Description: "What is not sent stays. The first time, a secret is made. Nothing is sent to the URL: webhook/test does.",
	InBody: []Param{
		{Name: "url", Kind: TextKind, MaxBytes: maxURL, Description: "https, without user and fragment"},
		{Name: "enabled", Kind: FlagKind, Description: "false keeps events, which can be replayed later"},
		{Name: "signing", Kind: WordKind, Words: []string{store.SignedBySecret, store.SignedByKey}, Description: "what signs: the secret, or an API key"},
		{Name: "key", Kind: TextKind, MaxBytes: maxSecret, Description: "the API key that signs; without it the one that the request has been sent with"},
	},
	Errors: []*Error{errURL, errNoURL, errKeyWanted, errKeyNotOwn},
	Result: of(endpointForm, (*call).putWebhook),
}

func (c *call) putWebhook() (endpointView, error) {
	sentURL, enabled, signing := maybe[string](c.values, "url"), maybe[bool](c.values, "enabled"), maybe[string](c.values, "signing")
	if sentURL != nil {
		checked, err := c.checkURL(*sentURL)
		if err != nil {
			return endpointView{}, badRequest(errURL.Code, "url: %s", err)
		}
		sentURL = &checked
	}
	var changes []string
	updated, err := c.store.Endpoints.Update(c, c.merchant.ID, func(e *store.Endpoint) error {
		changes = nil
		key, signer, err := c.signer(signing) // which is not revoked meanwhile
		if err != nil {
			return err
		}
		if sentURL != nil && *sentURL != e.URL {
			e.URL = *sentURL
			changes = append(changes, "url "+hostOf(e.URL))
		}
		if enabled != nil && *enabled != e.Enabled {
			if *enabled && e.URL == "" {
				return errNoURL
			}
			e.Enabled, e.DisabledReason = *enabled, ""
			changes = append(changes, fmt.Sprintf("enabled %t", e.Enabled))
		}
		switch {
		case signing == nil:
		case *signing == store.SignedBySecret:
			if e.Signing != *signing {
				changes = append(changes, "signed by the secret")
			}
			e.Signing, e.Key, e.KeyHash = *signing, "", store.Hash{}
		case signer != "":
			if e.KeyHash != key.Hash {
				changes = append(changes, "signed by key "+key.ID())
			}
			e.Signing, e.Key, e.KeyHash = *signing, signer, key.Hash
		case e.Signing != store.SignedByKey:
			return errKeyWanted
		}
		return nil
	})
	if err != nil {
		return endpointView{}, err
	}
	if len(changes) > 0 {
		err = c.audit("webhook_changed", strings.Join(changes, ", "))
	}
	return c.view(updated, err)
}

// signer is the API key that is to sign webhooks, empty where none is named.
func (c *call) signer(signing *string) (key store.Key, secret string, err error) {
	if signing == nil || *signing != store.SignedByKey {
		return key, "", nil
	}
	if secret = get[string](c.values, "key"); secret == "" && c.key != nil {
		secret = c.request.Header.Get(headerKey)
	}
	if secret == "" {
		return key, "", nil
	}
	key, err = c.store.Keys.Get(c, secret)
	if errors.Is(err, store.ErrNotFound) || err == nil && key.Merchant != c.merchant.ID {
		return key, "", errKeyNotOwn
	}
	return key, secret, err
}

// hostOf is what the audit has of a URL, whose path may be a secret.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// deniedPorts are those of services that are not HTTP, which a request must not reach.
var deniedPorts = map[string]bool{
	"19": true, "21": true, "22": true, "23": true, "25": true, "53": true, "110": true, "119": true, "135": true, "139": true, "143": true, "389": true, "445": true,
	"465": true, "514": true, "587": true, "636": true, "993": true, "995": true, "1433": true, "1521": true, "2049": true, "3306": true, "3389": true, "5432": true,
	"5672": true, "6379": true, "9000": true, "9092": true, "11211": true, "27017": true,
}

// checkURL returns the URL of an endpoint with its host in ASCII, or an error for what
// cannot be one. No request is made: what the name of its host means is seen at each
// attempt.
func (a *API) checkURL(text string) (string, error) {
	if text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", errURLForm
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("this is no URL")
	}
	if text, err = hostInASCII(text, u); err != nil {
		return "", err
	}
	return text, a.checkParts(text, u)
}

var errURLForm = fmt.Errorf("an URL of 1 to %d bytes without spaces is wanted", maxURL)

// hostInASCII puts a name in other letters into the form that resolvers take (RFC 5891).
func hostInASCII(text string, u *url.URL) (string, error) {
	if !strings.ContainsFunc(u.Host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return text, nil
	}
	name := u.Hostname()
	ascii, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errors.New("its host is no name")
	}
	u.Host = ascii + strings.TrimPrefix(u.Host, name)
	_, rest, _ := strings.Cut(text, "://")
	path := strings.TrimLeftFunc(rest, func(r rune) bool { return !strings.ContainsRune("/?#", r) })
	return u.Scheme + "://" + u.Host + path, nil
}

func (a *API) checkParts(text string, u *url.URL) error {
	host, port := u.Hostname(), u.Port()
	switch {
	case len(text) > maxURL:
		return errURLForm
	case u.Scheme != "https" && !(u.Scheme == "http" && a.configuration.AllowHTTP):
		return errors.New("it has to begin with https://")
	case host == "" || u.Opaque != "":
		return errors.New("it names no host")
	case u.User != nil:
		return errors.New("it must not have a user or a password")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return errors.New("it must not have a fragment")
	case strings.HasSuffix(u.Host, ":"), port != "" && !isPort(port), deniedPorts[port]:
		return errors.New("its port is not one of a web server")
	}
	address, err := netip.ParseAddr(host)
	switch {
	case err != nil && looksLikeNumber(host):
		return errors.New("its host is a number that is no address")
	case err == nil && a.reaches != nil && !a.reaches(address):
		return errors.New("its address is not globally reachable")
	}
	return nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == text
}

// looksLikeNumber reports whether a host is an address in a form that some resolvers take
// and others do not: octal, hexadecimal, with fewer than four parts.
func looksLikeNumber(host string) bool {
	last := host[strings.LastIndexByte(strings.TrimSuffix(host, "."), '.')+1:]
	last = strings.TrimSuffix(last, ".")
	return last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(strings.ToLower(last), "0x")
}

// revealed are secrets in clear.
type revealed struct{ secret, next, old string }

var revealSecret = &Endpoint{
	Method: http.MethodPost, Path: "/webhook/secret/reveal", Name: "revealSecret", Tag: tagWebhook, Scope: store.ScopeManage,
	Summary:     "Show the secrets",
	Description: "It is noted in the audit.",
	Errors:      []*Error{errNoSecret},
	Result: of(api.New("Secrets",
		api.Text("secret", func(r revealed) string { return r.secret }),
		api.Text("next", func(r revealed) string { return r.next }).Optional(),
		api.Text("old", func(r revealed) string { return r.old }).Optional(),
	), func(c *call) (r revealed, err error) {
		e, err := c.store.Endpoints.Newest(c, c.merchant.ID)
		if err != nil {
			return r, err
		}
		if e.Locked != nil {
			return r, e.Locked
		}
		if e.Secret == "" {
			return r, errNoSecret
		}
		return revealed{e.Secret, e.Next, e.Old}, c.audit("secret_revealed", "")
	}),
}

var errNoSecret = conflict("no_secret", errors.New("there is no secret yet: set a URL first"))

// step is the endpoint of a step of a rotation.
func step(word, name, summary, what string, take func(*store.Endpoints, context.Context, store.ID) (store.Endpoint, error), refused *Error) *Endpoint {
	return &Endpoint{
		Method: http.MethodPost, Path: "/webhook/secret/" + word, Name: name, Tag: tagWebhook, Scope: store.ScopeManage, Summary: summary, Errors: []*Error{refused},
		Result: of(endpointForm, func(c *call) (endpointView, error) {
			e, err := take(c.store.Endpoints, c, c.merchant.ID)
			if err != nil {
				return endpointView{}, err
			}
			return c.view(e, c.audit(what, ""))
		}),
	}
}

var (
	rotateSecret = step("rotate", "rotateSecret", "Make the next secret", "secret_rotated", (*store.Endpoints).Rotate, conflict("rotation_open", store.ErrRotating))
	switchSecret = step("switch", "switchSecret", "Make the next secret the current one", "secret_switched", (*store.Endpoints).Switch, conflict("no_next_secret", store.ErrNotRotating))
	undoSecret   = step("undo", "undoSecret", "Take back the last step of a rotation", "secret_undone", (*store.Endpoints).Undo, conflict("nothing_to_undo", store.ErrNoUndo))
)
