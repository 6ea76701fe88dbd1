package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tonscribe/query/api"
	"tonscribe/webhooks/store"
)

const (
	// maxKeys is how many keys in use a merchant has.
	maxKeys = 50
	// maxNewKeys is how many a merchant makes in keysPeriod: revoked ones stay in the table.
	maxNewKeys = maxKeys
	keysPeriod = 24 * time.Hour
)

var (
	errManyKeys = conflict("too_many_keys", fmt.Errorf("there are %d keys in use, or as many were made in a day: revoke one, or wait", maxKeys))
	errSigning  = conflict("key_signs", errors.New("webhooks are signed with this key: choose another signing first"))
	errName     = badRequest("bad_name", "name: a name of 1 to %d printable characters is wanted", store.MaxName)
)

var keyMembers = []api.Member[store.Key]{
	api.Text("id", store.Key.ID),
	api.Text("prefix", func(k store.Key) string { return k.Prefix }).Doc("how the key begins"),
	api.Text("name", func(k store.Key) string { return k.Name }),
	api.Texts("scopes", func(k store.Key) []string { return append([]string{}, k.Scopes...) }),
	instant("created", func(k store.Key) time.Time { return k.Created }),
	instant("lastUsed", func(k store.Key) time.Time { return k.Used }).Null().Doc("some minutes late; null for never"),
	instant("revoked", store.Key.RevokedAt).Null().Doc("when, null for a key in use"),
}

var keyForm = api.New("Key", keyMembers...)

var listKeys = &Endpoint{
	Method: http.MethodGet, Path: "/keys", Name: "listKeys", Tag: tagKeys, Scope: store.ScopeManage,
	Summary: "List the API keys, revoked ones too",
	Result: of(api.New("Keys", api.List("keys", keyForm, api.Same[[]store.Key], api.Same[store.Key])), func(c *call) ([]store.Key, error) {
		return c.store.Keys.List(c, c.merchant.ID)
	}),
}

// madeKey is a key and its text, which is shown once.
type madeKey struct {
	store.Key
	secret string
}

var makeKey = &Endpoint{
	Method: http.MethodPost, Path: "/keys", Name: "makeKey", Tag: tagKeys, Scope: store.ScopeManage,
	Summary:     "Make an API key",
	Description: "The key is in this answer only: nobody can read it later.",
	InBody: []Param{
		{Name: "name", Kind: TextKind, MaxBytes: store.MaxName, Required: true, Description: "for you only"},
		{Name: "scopes", Kind: WordsKind, Words: store.Scopes, Required: true, Description: "what the key may do: transfers registers payments and looks them up, deliveries reads the log of webhooks and sends them again, manage does all the rest"},
	},
	Errors: []*Error{errName, errManyKeys},
	Result: of(api.New("MadeKey",
		api.Text("key", func(k madeKey) string { return k.secret }).Doc("the key itself"),
		api.Text("id", func(k madeKey) string { return k.ID() }),
		api.Text("prefix", func(k madeKey) string { return k.Prefix }),
		api.Text("name", func(k madeKey) string { return k.Name }),
		api.Texts("scopes", func(k madeKey) []string { return k.Scopes }),
		instant("created", func(k madeKey) time.Time { return k.Created }),
	), (*call).makeKey),
}

func (c *call) makeKey() (made madeKey, err error) {
	name, scopes := get[string](c.values, "name"), get[[]string](c.values, "scopes")
	if store.CheckName(name) != nil {
		return made, errName
	}
	if c.key != nil { // a key makes none that may more than itself
		for _, scope := range scopes {
			if !slices.Contains(c.key.Scopes, scope) {
				return made, &Error{Status: errScope.Status, Code: errScope.Code, Message: strings.ReplaceAll(errScope.Message, "<scope>", scope)}
			}
		}
	}
	made.Key, err = c.store.Keys.Add(c, c.merchant.ID, func(keys []store.Key) (k store.Key, err error) {
		if !oneMore(keys) {
			return k, errManyKeys
		}
		k, made.secret = store.NewKey(c.merchant.ID, name, scopes)
		return k, nil
	})
	if err != nil {
		return made, err
	}
	return made, c.audit("key_made", made.ID()+" "+name+": "+strings.Join(scopes, ", "))
}

// oneMore reports whether a merchant who has some keys makes another one.
func oneMore(keys []store.Key) bool {
	inUse, fresh := 0, 0
	for _, k := range keys {
		if !k.Revoked {
			inUse++
		}
		if time.Since(k.Created) < keysPeriod {
			fresh++
		}
	}
	return inUse < maxKeys && fresh < maxNewKeys
}

var revokeKey = &Endpoint{
	Method: http.MethodDelete, Path: "/keys/{id}", Name: "revokeKey", Tag: tagKeys, Scope: store.ScopeManage,
	Summary: "Revoke an API key, for ever",
	InPath:  []Param{{Name: "id", Kind: KeyIDKind, Required: true, Description: "of the key"}},
	Errors:  []*Error{errSigning},
	Result: of(keyForm, func(c *call) (store.Key, error) {
		which, err := id[string](c.values, "id")
		if err != nil {
			return store.Key{}, err
		}
		var key store.Key
		err = c.store.Endpoints.Hold(c, c.merchant.ID, func(e store.Endpoint) (err error) {
			if e.Signing == store.SignedByKey && (store.Key{Hash: e.KeyHash}).ID() == which {
				return errSigning
			}
			key, err = c.store.Keys.Revoke(c, c.merchant.ID, which)
			return err
		})
		if err != nil {
			return key, err
		}
		return key, c.audit("key_revoked", key.ID()+" "+key.Name)
	}),
}

var listAudit = &Endpoint{
	Method: http.MethodGet, Path: "/audit", Name: "listAudit", Tag: tagKeys, Scope: store.ScopeManage,
	Summary: "What was done, and by whom, the newest first",
	InQuery: []Param{cursorParam, limitParam},
	Errors:  []*Error{errCursor},
	Result: of(pageForm("Audit", "audit", api.Form[store.Entry](api.New("AuditEntry",
		instant("at", func(e store.Entry) time.Time { return e.At }),
		api.Text("what", func(e store.Entry) string { return e.What }),
		api.Text("who", func(e store.Entry) string { return e.Who }).Doc("a key, a session or the operator"),
		api.Text("detail", func(e store.Entry) string { return e.Detail }),
	))), (*call).listAudit),
}

func (c *call) listAudit() (p page[store.Entry], err error) {
	end, err := readCursor[[8]byte](c.values)
	if err != nil {
		return p, err
	}
	var before time.Time
	if end != nil {
		before = momentOf(*end)
	}
	limit := int(get[int64](c.values, "limit"))
	if p.rows, err = c.store.Audit.List(c, c.merchant.ID, before, limit); err == nil && len(p.rows) == limit {
		p.next = writeCursor(cursorOf(p.rows[limit-1].At))
	}
	return p, err
}
