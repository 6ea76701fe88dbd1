package api

import (
	"encoding/hex"
	"errors"
	"net/http"
	"strings"

	"tonscribe/query/api"
	"tonscribe/webhooks/store"
)

var signIn = &Endpoint{
	Method: http.MethodPost, Path: "/session", Name: "signIn", Tag: tagSession, Access: anybody,
	Summary:     "Sign in",
	Description: "With the token that the operator has given. The answer sets the cookie of the session.",
	InBody:      []Param{{Name: "token", Kind: TextKind, MaxBytes: maxSecret, Required: true, Description: "of the merchant's dashboard"}},
	Errors:      []*Error{errBadToken},
	Result:      of(sessionForm, (*call).signIn),
}

// signedIn is a session as its page knows it.
type signedIn struct {
	merchant store.Merchant
	csrf     string
}

var merchantForm = api.New("Merchant",
	api.Text("id", func(m store.Merchant) string { return hex.EncodeToString(m.ID[:]) }),
	api.Text("name", func(m store.Merchant) string { return m.Name }),
)

var sessionForm = api.New("Session",
	api.Object("merchant", api.Form[store.Merchant](merchantForm), func(s signedIn) store.Merchant { return s.merchant }, nil),
	api.Text("csrf", func(s signedIn) string { return s.csrf }).Doc("to be sent in the header "+headerCSRF+" with what is no GET"),
)

func (c *call) signIn() (s signedIn, err error) {
	token := get[string](c.values, "token")
	if !strings.HasPrefix(token, store.TokenPrefix) {
		return s, errBadToken
	}
	merchant, err := c.byToken(token)
	if err != nil {
		return s, err
	}
	c.merchant.ID = merchant.ID
	if err := c.byMerchant(); err != nil {
		return s, err
	}
	cookie, session, err := c.store.Sessions.Open(c, merchant.ID)
	if err != nil {
		return s, err
	}
	// Whoever replaces a token ends the sessions that there are then: this one may have begun
	// later, by what memory had of the merchant.
	if err := c.store.Merchants.Refresh(c); err != nil {
		return s, err
	}
	if _, err := c.byToken(token); err != nil {
		return s, err
	}
	c.session = &session
	c.setCookie(cookie, int(session.Expires.Sub(session.Created).Seconds()))
	return signedIn{merchant, csrf(cookie)}, c.audit("signed_in", "")
}

func (c *call) byToken(token string) (store.Merchant, error) {
	merchant, err := c.store.Merchants.ByToken(c, token)
	if errors.Is(err, store.ErrNotFound) {
		err = errBadToken
	}
	return merchant, err
}

// setCookie gives the browser a cookie; an age below 0 takes it away. Browsers do not take
// secure ones from a server that they reach by plain http.
func (c *call) setCookie(value string, age int) {
	secure := c.request.TLS != nil || strings.EqualFold(c.request.Header.Get("X-Forwarded-Proto"), "https")
	cookie := http.Cookie{Name: cookieName, Value: value, Path: Prefix, MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
	c.header.Add("Set-Cookie", cookie.String())
}

var getSession = &Endpoint{
	Method: http.MethodGet, Path: "/session", Name: "getSession", Tag: tagSession, Access: sessions,
	Summary: "Who is signed in",
	Result: of(sessionForm, func(c *call) (signedIn, error) {
		return signedIn{c.merchant, csrf(c.cookie)}, nil
	}),
}

var signOut = &Endpoint{
	Method: http.MethodDelete, Path: "/session", Name: "signOut", Tag: tagSession, Access: sessions,
	Summary: "Sign out",
	Result: nothing(func(c *call) error {
		if err := c.store.Sessions.End(c, *c.session); err != nil {
			return err
		}
		c.setCookie("", -1)
		return c.audit("signed_out", "")
	}),
}
