package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/ratelimit"
	"tonscribe/webhooks/store"
)

// caller is in whose name a request is made, and by what: a key or a session; by neither
// where anybody may.
type caller struct {
	merchant store.Merchant
	key      *store.Key
	session  *store.Session
	cookie   string // of the session
}

// who names the key or the session without giving it away.
func (c *caller) who() string {
	switch {
	case c.key != nil:
		return "key " + c.key.ID()
	case c.session != nil:
		return "session " + hex.EncodeToString(c.session.Hash[:6])
	}
	return ""
}

const (
	headerKey  = "X-API-Key"
	headerCSRF = "X-CSRF-Token"
	cookieName = "tonscribe_session"
	// maxSecret is how long a key, a token or a cookie may be to be looked for.
	maxSecret = 256
)

// admit finds who calls an endpoint that is for merchants, and whether they may. A key
// goes before a cookie, which browsers send by themselves.
func (c *call) admit(e *Endpoint) error {
	if secret := c.request.Header.Get(headerKey); secret != "" {
		if err := c.byKey(secret, e); err != nil {
			return err
		}
	} else if err := c.bySession(e); err != nil {
		return err
	}
	if err := c.byMerchant(); err != nil {
		return err
	}
	switch {
	case e.Transfers:
		return c.take(c.transfers, c.transferRule, c.merchant.ID)
	case e.changes():
		return c.take(c.changes, c.changeRule, c.merchant.ID)
	}
	return nil
}

func (c *call) byKey(secret string, e *Endpoint) error {
	if len(secret) > maxSecret || !strings.HasPrefix(secret, store.KeyPrefix) {
		return errBadKey
	}
	key, err := c.store.Keys.Get(c, secret)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errBadKey
	case err != nil:
		return err
	case e.Access == sessions:
		return errWantsSession
	case !slices.Contains(key.Scopes, e.Scope):
		return &Error{Status: errScope.Status, Code: errScope.Code, Message: strings.ReplaceAll(errScope.Message, "<scope>", e.Scope)}
	}
	c.key, c.merchant.ID = &key, key.Merchant
	return nil
}

func (c *call) bySession(e *Endpoint) error {
	cookie, err := c.request.Cookie(cookieName)
	if err != nil || cookie.Value == "" {
		return errNoKey
	}
	if len(cookie.Value) > maxSecret {
		return errNoSession
	}
	session, err := c.store.Sessions.Get(c, cookie.Value)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errNoSession
	case err != nil:
		return err
	case e.Method != http.MethodGet && !hmac.Equal([]byte(c.request.Header.Get(headerCSRF)), []byte(csrf(cookie.Value))):
		return errCSRF
	}
	c.session, c.cookie, c.merchant.ID = &session, cookie.Value, session.Merchant
	return nil
}

// csrf is what a page of ours sends with what changes something, and a page of another
// site cannot know: it follows from the cookie, which no page reads.
func csrf(cookie string) string {
	h := hmac.New(sha256.New, []byte(cookie))
	h.Write([]byte("tonscribe csrf"))
	return hex.EncodeToString(h.Sum(nil))
}

// byMerchant fills in the merchant whose id is known.
func (c *call) byMerchant() (err error) {
	if c.merchant, err = c.store.Merchants.Get(c, c.merchant.ID); err != nil {
		return err
	}
	if c.merchant.Disabled {
		return errDisabled
	}
	return c.take(c.requests, c.requestRule, c.merchant.ID)
}

func (c *call) take(of *ratelimit.Clients[store.ID], rule ratelimit.Rule, merchant store.ID) error {
	if rule.Unlimited() {
		return nil
	}
	return c.tooMany(of.Take(merchant, rule, time.Since(c.began)))
}

// admitAnybody counts a request against the limit of its client address.
func (c *call) admitAnybody() error {
	if c.lookupRule.Unlimited() {
		return nil
	}
	return c.tooMany(c.lookups.Take(c.client(c), c.lookupRule, time.Since(c.began)))
}

const (
	// refusalPause is how long the refusal of a request beyond a limit waits: whoever asks
	// at once again and again has less of the processor.
	refusalPause = 200 * time.Millisecond
	// maxRefusals is how many wait; others come at once.
	maxRefusals = 1 << 10
)

// tooMany refuses a request that would have to wait.
func (c *call) tooMany(wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	select {
	case c.refusals <- struct{}{}:
		_ = lifetime.Sleep(c, refusalPause) // the refusal comes anyway
		<-c.refusals
	default:
	}
	e := *errTooMany
	e.retry = wait
	return &e
}

// nobody stands for the client of a request where nobody says it.
func nobody(context.Context) string { return "" }
