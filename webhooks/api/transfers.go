package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/ton/address"
	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

const (
	// maxAsset is how long the name of an asset is.
	maxAsset = 100
	// maxSymbol is how long the symbol of a jetton is that is told, in bytes.
	maxSymbol = 100
)

// Errors of registering a payment.
var (
	errNoRecipient  = badRequest("missing_recipient_addr", "recipientAddr is missing, and the merchant has no wallet of its own: send it")
	errWorkchain    = badRequest("bad_address", "an address of workchain 0 or -1 is wanted")
	errTestAddress  = badRequest("bad_address", "this is an address of the test network")
	errAsset        = badRequest("bad_asset", "asset: the ticker of the native coin or the address of a jetton master is wanted")
	errAssetRefused = badRequest("asset_refused", "asset: payments in this jetton are not taken")
	errAssetWaits   = &Error{Status: http.StatusServiceUnavailable, Code: "asset_waits", Message: "asset: the document that tells the decimals of this jetton was not read yet: try again", retry: 5 * time.Second}
	errOrder        = badRequest("bad_transfer", "this cannot be paid")
	errAmount       = badRequest("bad_amount", "amount: %s", errTooFine)
)

var createTransfer = &Endpoint{
	Method: http.MethodPost, Path: "/create-transfer", Name: "createTransfer", Tag: tagTransfers, Scope: store.ScopeTransfers, Transfers: true,
	Summary:     "Register a payment",
	Description: "Returns the message that the payer's wallet is asked to send (TON Connect), and the reference that webhooks will name. The amount counts as it is written, number or text.",
	OpenBody:    true,
	InBody: []Param{
		{Name: "amount", Kind: AmountKind, Required: true, Description: "in units of the asset, with as many decimals as the asset has at most"},
		{Name: "asset", Kind: TextKind, MaxBytes: maxAsset, Required: true, Description: "ticker of the native coin, or address of the jetton's master"},
		{Name: "recipientAddr", Kind: AddressKind, Description: "wallet that is paid; without it the merchant's own"},
		{Name: "senderAddr", Kind: AddressKind, Required: true, Description: "wallet that pays"},
		{Name: "queryId", Kind: Uint64Kind, Description: "of a jetton transfer; without it one is made. Payments in the native coin have none"},
		{Name: "commentToSender", Kind: TextKind, MaxBytes: payment.MaxComment, Description: "shown to the payer while signing"},
		{Name: "commentToRecipient", Kind: TextKind, MaxBytes: payment.MaxComment, Description: "written into the transfer, for everybody to read"},
	},
	Errors: []*Error{errNoRecipient, errWorkchain, errTestAddress, errAsset, errAssetRefused, errAssetWaits, errOrder, errAmount},
	Result: of(builtForm, (*call).createTransfer),
}

// built is a registered payment and its message.
type built struct {
	store.Payment
	payment.Message
	to string // address of the message
}

var builtForm = api.New("CreatedTransfer",
	api.Object("message", api.New("Message",
		api.Text("address", func(b *built) string { return b.to }).Doc("destination"),
		api.Text("amount", func(b *built) string { return b.Message.Amount.String() }).Doc("nanotons"),
		api.Cell("payload", func(b *built) *cell.Cell { return b.Body }).Doc("body, a bag of cells"),
	), api.Same[*built], nil).Doc("for the payer's wallet"),
	api.Text("bodyBase64Hash", func(b *built) string { return base64.StdEncoding.EncodeToString(b.BodyHash[:]) }).Doc("hash of the body's root cell"),
	api.Text("reference", func(b *built) string { return uuid.UUID(b.Reference).String() }).Doc("names the payment in webhooks"),
)

func (c *call) createTransfer() (*built, error) {
	if c.build == nil {
		return nil, errNotConfigured
	}
	p, recipient, err := c.order()
	if err != nil {
		return nil, err
	}
	message, err := c.build(p)
	if err != nil {
		return nil, badRequest(errOrder.Code, "%s", err)
	}
	p.BodyHash = store.Hash(message.Body.Hash())
	if err := c.store.Payments.Put(c, p); err != nil {
		return nil, err
	}
	b := &built{Payment: p, Message: message}
	if p.Master == nil && recipient.Friendly { // as the merchant wrote it: whether it may bounce is his word
		b.to = recipient.text
	} else {
		b.to = c.friendly(message.To)
	}
	return b, nil
}

// order is the payment that a request asks for, without the hash of its body.
func (c *call) order() (p store.Payment, recipient account, err error) {
	p = store.Payment{
		Reference: store.Reference(uuid.Must(uuid.NewV7())), Merchant: c.merchant.ID, Created: time.Now().UTC().Truncate(time.Microsecond),
		CommentToSender: get[string](c.values, "commentToSender"), CommentToRecipient: get[string](c.values, "commentToRecipient"),
		QueryID: maybe[uint64](c.values, "queryId"), Ticker: c.configuration.Ticker, Decimals: payment.NativeDecimals,
	}
	if recipient, err = c.recipient(); err != nil {
		return p, recipient, err
	}
	sender := get[account](c.values, "senderAddr")
	for _, a := range []account{sender, recipient} {
		if err := CheckAddress(a.Address, a.Form, c.configuration.Network); err != nil {
			return p, recipient, err
		}
	}
	p.Sender, p.Recipient, p.SenderText, p.RecipientText = sender.Address, recipient.Address, sender.text, recipient.text
	if asset := get[string](c.values, "asset"); asset != c.configuration.Ticker {
		err = c.inJettons(&p, asset)
	} else {
		p.QueryID = nil // it has no place in a native payment
	}
	if err != nil {
		return p, recipient, err
	}
	if p.Amount, err = get[amount](c.values, "amount").base(p.Decimals); err != nil {
		return p, recipient, badRequest(errAmount.Code, "amount: %s", err)
	}
	return p, recipient, nil
}

func (c *call) recipient() (account, error) {
	if sent := maybe[account](c.values, "recipientAddr"); sent != nil {
		return *sent, nil
	}
	if c.merchant.NativeWallet == "" {
		return account{}, errNoRecipient
	}
	a, form, err := address.Parse(c.merchant.NativeWallet)
	return account{a, form, c.merchant.NativeWallet}, err
}

// CheckAddress refuses an address that nobody can pay, or that is another network's.
func CheckAddress(a address.Address, form address.Form, network string) error {
	switch workchain := a.Workchain(); {
	case workchain != 0 && workchain != -1:
		return errWorkchain
	case form.TestOnly && network == "mainnet":
		return errTestAddress
	}
	return nil
}

// inJettons fills in what a payment in a jetton needs to know.
func (c *call) inJettons(p *store.Payment, asset string) error {
	master, _, err := address.Parse(asset)
	if err != nil {
		return errAsset
	}
	if len(c.masters) > 0 && !c.masters[master] {
		return errAssetRefused
	}
	if c.tokens == nil {
		return errNotConfigured
	}
	token, err := c.tokens.Token(c, master)
	if errors.Is(err, store.ErrNotFound) {
		return errAsset
	}
	if err != nil {
		return fmt.Errorf("jetton %s: %w", master, err)
	}
	if token.Waits { // an amount would be another one by orders of magnitude
		return errAssetWaits
	}
	if token.Assumed {
		c.report.Log.Warn().Stringer("jetton", master).Stringer("reference", uuid.UUID(p.Reference)).Uint8("decimals", token.Decimals).
			Msg("the document that tells the decimals of a jetton cannot be had: a payment is registered with those that are usual")
	}
	wallets, err := c.tokens.WalletsOf(c, master, p.Sender, p.Recipient)
	if err != nil {
		return fmt.Errorf("jetton %s: %w", master, err)
	}
	p.SenderWallet, p.RecipientWallet = wallets[0], wallets[1]
	p.Master, p.Ticker, p.Decimals = &master, "", token.Decimals
	if len(token.Symbol) <= maxSymbol {
		p.Ticker = token.Symbol
	}
	return nil
}

// friendly is an address in the form of answers: user-friendly, bounceable, url-safe.
func (a *API) friendly(of address.Address) string {
	form := address.Form{Friendly: true, TestOnly: a.configuration.Network == "testnet"}
	return string(address.AppendFriendly(nil, of[:], form, base64.URLEncoding))
}

// assetOf is a payment's asset in answers: the ticker, or the master.
func (a *API) assetOf(p *store.Payment) string {
	if p.Master == nil {
		return a.configuration.Ticker
	}
	return string(address.AppendFriendly(nil, p.Master[:], address.Form{Friendly: true}, base64.URLEncoding))
}

var getTransfer = &Endpoint{
	Method: http.MethodGet, Path: "/transfer", Name: "getTransfer", Tag: tagTransfers, Scope: store.ScopeTransfers,
	Summary:     "Look a payment up",
	Description: "By the reference, with a key; or by the hash of the body, without one: who knows the hash knows the payment. A hash may arrive as base64 in either alphabet, with spaces for +, or as hex.",
	Open: func(query []pair) bool {
		return slices.ContainsFunc(query, func(p pair) bool { return p.name == "bodyHash" && p.value != "" })
	},
	InQuery: []Param{
		{Name: "reference", Kind: ReferenceKind, Description: "of the payment"},
		{Name: "bodyHash", Kind: HashKind, Description: "of the body that the payer signs"},
	},
	Errors: []*Error{errNotFound, errOneOf},
	Result: of(transferForm, (*call).getTransfer),
}

var errOneOf = badRequest("one_wanted", "either reference or bodyHash is wanted")

// transfer is a payment and how it ended.
type transfer struct {
	store.Payment
	api   *API
	ended bool
	data  event.Data // of an ended one
	twice bool
}

func (t *transfer) text(of func(*event.Data) string, before string) string {
	if t.ended {
		return of(&t.data)
	}
	return before
}

func (t *transfer) amount() string {
	return t.text(func(d *event.Data) string { return d.Amount }, payment.Text(t.Amount, t.Decimals))
}

func (t *transfer) rawAmount() string {
	return t.text(func(d *event.Data) string { return d.RawAmount }, t.Amount.String())
}

// statusWords are those of a look-up, which differ from those of webhooks.
var statusWords = api.Words{"pending", "success", "error"}

var transferForm = api.New("Transfer",
	api.Text("amount", (*transfer).amount).Doc("in units of the asset: what was paid, or is to be"),
	api.Text("rawAmount", (*transfer).rawAmount).Doc("in base units"),
	api.Text("senderAddr", func(t *transfer) string {
		return t.text(func(d *event.Data) string { return d.SenderAddr }, t.SenderText)
	}),
	api.Text("recipientAddr", func(t *transfer) string {
		return t.text(func(d *event.Data) string { return d.RecipientAddr }, t.RecipientText)
	}),
	api.Text("asset", func(t *transfer) string {
		return t.text(func(d *event.Data) string { return d.Asset }, t.api.assetOf(&t.Payment))
	}).Doc("ticker of the native coin, or the jetton's master"),
	api.Text("assetTicker", func(t *transfer) string { return t.Ticker }).Optional(),
	api.Word("status", statusWords, (*transfer).status),
	api.Text("reference", func(t *transfer) string { return uuid.UUID(t.Reference).String() }),
	api.Text("bodyBase64Hash", func(t *transfer) string { return base64.StdEncoding.EncodeToString(t.BodyHash[:]) }),
	api.Text("txHash", func(t *transfer) string { return t.data.TxHash }).Doc("hex; empty while pending"),
	api.Text("traceId", func(t *transfer) string { return t.data.TraceID }).Doc("hex; empty while pending"),
	api.Text("commentToSender", func(t *transfer) string { return t.CommentToSender }).Optional(),
	api.Text("commentToRecipient", func(t *transfer) string { return t.CommentToRecipient }).Optional(),
	instant("date", func(t *transfer) time.Time {
		if t.ended {
			return t.data.Date.Time
		}
		return t.Created
	}).Doc("of the transaction that decided; while pending, when the payment was registered"),
	api.Written("errorCode", plainSchema("type", "integer"), func(w *api.Writer, t *transfer) bool {
		if t.data.ErrorCode == nil {
			return false
		}
		w.JSON = fmt.Append(w.JSON, *t.data.ErrorCode)
		return true
	}).Optional(),
	api.Text("errorMessage", func(t *transfer) string { return t.data.ErrorMessage }).Optional(),
)

func (t *transfer) status() string {
	switch {
	case !t.ended:
		return "pending"
	case t.data.Status == event.Success:
		return "success"
	}
	return "error"
}

func (c *call) getTransfer() (*transfer, error) {
	reference, hash := maybe[store.Reference](c.values, "reference"), maybe[store.Hash](c.values, "bodyHash")
	if (reference == nil) == (hash == nil) {
		return nil, errOneOf
	}
	found, err := c.payment(reference, hash)
	if err != nil {
		return nil, err
	}
	all, err := c.ends(c, found.Merchant, []store.Payment{found})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// payment is the merchant's with a reference, or anybody's whose body has a hash.
func (c *call) payment(reference *store.Reference, hash *store.Hash) (store.Payment, error) {
	if reference != nil {
		return c.store.Payments.Get(c, c.merchant.ID, *reference)
	}
	some, err := c.store.Payments.ByBody(c, []store.Hash{*hash})
	found, known := some[*hash]
	if err == nil && !known {
		err = store.ErrNotFound
	}
	return found, err
}

// ends adds how payments of a merchant ended.
func (a *API) ends(ctx context.Context, merchant store.ID, payments []store.Payment) ([]*transfer, error) {
	references := make([]store.Reference, len(payments))
	for i := range payments {
		references[i] = payments[i].Reference
	}
	var outcomes map[store.Reference]Outcome
	if a.outcomes != nil && len(references) > 0 {
		var err error
		if outcomes, err = a.outcomes.Of(ctx, merchant, references); err != nil {
			return nil, err
		}
	}
	all := make([]*transfer, len(payments))
	for i, p := range payments {
		t := &transfer{Payment: p, api: a}
		if outcome, ok := outcomes[p.Reference]; ok {
			var e event.Event
			if err := json.Unmarshal(outcome.Body, &e); err != nil {
				return nil, fmt.Errorf("the event of %s: %w", uuid.UUID(p.Reference), err)
			}
			t.ended, t.data, t.twice = true, e.Data, outcome.Duplicate
		}
		all[i] = t
	}
	return all, nil
}

// transferStates are those of a list.
var transferStates = []string{"pending", "success", "failed", "duplicate"}

var listTransfers = &Endpoint{
	Method: http.MethodGet, Path: "/transfers", Name: "listTransfers", Tag: tagTransfers, Scope: store.ScopeTransfers,
	Summary:     "List payments",
	Description: "The newest first. With a state, a page may have fewer than asked for although more follow: nextCursor says.",
	InQuery: []Param{
		{Name: "state", Kind: WordKind, Words: transferStates, Description: "only those; a duplicate was paid more than once"},
		cursorParam, limitParam,
	},
	Errors: []*Error{errCursor},
	Result: of(pageForm("Transfers", "transfers", api.Form[*transfer](listedForm)), (*call).listTransfers),
}

// listed is a payment in a list.
var listedForm = api.New("ListedTransfer",
	api.Text("reference", func(t *transfer) string { return uuid.UUID(t.Reference).String() }),
	api.Word("state", transferStates, (*transfer).state),
	api.Text("asset", func(t *transfer) string { return t.api.assetOf(&t.Payment) }),
	api.Text("ticker", func(t *transfer) string { return t.Ticker }).Doc("empty where unknown"),
	api.Text("amount", (*transfer).amount).Doc("in units of the asset: what was paid, or is to be"),
	api.Text("rawAmount", (*transfer).rawAmount).Doc("in base units"),
	api.Text("senderAddr", func(t *transfer) string { return t.SenderText }),
	api.Text("recipientAddr", func(t *transfer) string { return t.RecipientText }),
	api.Text("bodyBase64Hash", func(t *transfer) string { return base64.StdEncoding.EncodeToString(t.BodyHash[:]) }),
	api.Text("txHash", func(t *transfer) string { return t.data.TxHash }).Optional(),
	api.Text("traceId", func(t *transfer) string { return t.data.TraceID }).Optional(),
	instant("created", func(t *transfer) time.Time { return t.Created }),
)

func (t *transfer) state() string {
	switch {
	case !t.ended:
		return "pending"
	case t.twice:
		return "duplicate"
	}
	return string(t.data.Status)
}

// page is a page of a list.
type page[R any] struct {
	rows []R
	next string // cursor, empty at the end
}

// pageForm is the form of a page.
func pageForm[R any](name, rows string, of api.Form[R]) *api.Shape[page[R]] {
	return api.New(name,
		api.List(rows, of, func(p page[R]) []R { return p.rows }, api.Same[R]),
		api.Text("nextCursor", func(p page[R]) string { return p.next }).Null().Doc("cursor of the next page, null at the end"),
	)
}

// maxLooked is how many payments are looked at for a page of those in a state.
const maxLooked = 1000

func (c *call) listTransfers() (p page[*transfer], err error) {
	before, err := readCursor[store.Reference](c.values)
	if err != nil {
		return p, err
	}
	limit, state := int(get[int64](c.values, "limit")), get[string](c.values, "state")
	for looked := 0; looked < maxLooked; looked += maxLimit {
		ask := limit
		if state != "" {
			ask = maxLimit
		}
		payments, err := c.store.Payments.List(c, c.merchant.ID, before, ask)
		if err != nil {
			return p, err
		}
		all, err := c.ends(c, c.merchant.ID, payments)
		if err != nil {
			return p, err
		}
		for _, t := range all {
			before = &t.Reference
			if state == "" || t.state() == state {
				p.rows = append(p.rows, t)
			}
			if len(p.rows) == limit {
				break
			}
		}
		switch {
		case len(p.rows) == limit:
			p.next = writeCursor(*before)
			return p, nil
		case len(payments) < ask:
			return p, nil
		}
	}
	p.next = writeCursor(*before)
	return p, nil
}
