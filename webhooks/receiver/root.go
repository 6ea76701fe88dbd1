// Package receiver takes webhooks for a shop.
//
// In: requests, and the orders of the shop. Out: orders that are paid or failed, each
// once. It decides in the order of the eight rules of a receiver; what is in doubt is
// asked for again by its answer: everything but 2xx is sent once more.
package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"sync"

	"github.com/rs/zerolog"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/signature"
)

// Order is what a shop expects to be paid.
type Order struct {
	Reference string `json:"reference"` // of the transfer as it was built
	Amount    string `json:"amount"`    // in units of the asset, a decimal
	Asset     string `json:"asset"`     // DefaultAsset when empty
	Recipient string `json:"recipient"` // wallet of the shop; any when empty
	// Paid orders are never paid again.
	Paid bool `json:"-"`
}

// DefaultAsset is the native coin.
const DefaultAsset = "TON"

// Orders is where a shop keeps them. What a method has changed is on the disk when it
// returns.
type Orders interface {
	// Find returns the order with a reference, nil for none.
	Find(ctx context.Context, reference string) (*Order, error)
	// Pay marks the order of an event paid, and reports whether it was not before.
	Pay(ctx context.Context, e *event.Event) (first bool, err error)
	// Fail marks the order of an event failed unless it is paid.
	Fail(ctx context.Context, e *event.Event) error
}

// Receiver is an HTTP handler for the webhook URL.
type Receiver struct {
	// Secrets are those that may have signed: two while one is replaced.
	Secrets []string
	// Header has the signature, signature.Header when empty.
	Header string
	Orders Orders
	// Process ships what was paid. It runs when the sender has its answer, once for
	// each order; who stops in between finds the order paid.
	Process func(context.Context, *event.Event)
	Log     zerolog.Logger

	processing sync.WaitGroup
}

// maxBody is how long a body may be: a webhook has about 1 KiB.
const maxBody = 64 << 10

// verdict is an answer, and what is logged of it.
type verdict struct {
	status int
	why    string
	paid   bool // now, for the first time
}

// ServeHTTP answers a webhook.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "webhooks are sent by POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err != nil {
		http.Error(w, "the body could not be read", http.StatusBadRequest)
		return
	}
	var e event.Event
	v := r.judge(request.Context(), body, request.Header.Get(r.header()), &e)
	r.Log.Info().Int("status", v.status).Str("reference", e.Data.Reference).Str("tx_hash", e.Data.TxHash).Str("transfer", string(e.Data.Status)).Msg(v.why)
	http.Error(w, v.why, v.status)
	if v.paid && r.Process != nil {
		ctx := context.WithoutCancel(request.Context())
		r.processing.Go(func() { r.Process(ctx, &e) })
	}
}

// Wait waits until what was paid is processed.
func (r *Receiver) Wait() { r.processing.Wait() }

func (r *Receiver) header() string {
	if r.Header == "" {
		return signature.Header
	}
	return r.Header
}

// judge follows the rules of a receiver, in their order.
func (r *Receiver) judge(ctx context.Context, body []byte, signed string, e *event.Event) verdict {
	if !signature.Verify(body, signed, r.Secrets...) { // 1
		return verdict{status: http.StatusUnauthorized, why: "the signature is not right"}
	}
	if err := json.Unmarshal(body, e); err != nil || e.Type != event.TransferCompleted { // 2
		return verdict{status: http.StatusBadRequest, why: "not an event of a completed transfer"}
	}
	order, err := r.Orders.Find(ctx, e.Data.Reference)
	switch {
	case err != nil: // 8
		return r.failure(err)
	case order == nil: // 3
		return verdict{status: http.StatusOK, why: "no order has this reference"}
	case order.Paid: // 4
		return verdict{status: http.StatusOK, why: "the order is paid already"}
	case e.Data.Status != event.Success: // 5
		if err := r.Orders.Fail(ctx, e); err != nil {
			return r.failure(err)
		}
		return verdict{status: http.StatusOK, why: "the transfer failed"}
	}
	if why := order.differs(&e.Data); why != "" { // 6
		return verdict{status: http.StatusOK, why: why}
	}
	first, err := r.Orders.Pay(ctx, e)
	switch {
	case err != nil:
		return r.failure(err)
	case !first: // by a request at the same time
		return verdict{status: http.StatusOK, why: "the order is paid already"}
	}
	return verdict{status: http.StatusOK, why: "the order is paid", paid: true} // 7
}

// failure asks for the webhook again.
func (r *Receiver) failure(err error) verdict {
	r.Log.Error().Err(err).Msg("orders cannot be read or written")
	return verdict{status: http.StatusInternalServerError, why: "try again"}
}

// differs says in what a transfer is not what the order expects, nothing when it is.
func (o *Order) differs(d *event.Data) string {
	asset := o.Asset
	if asset == "" {
		asset = DefaultAsset
	}
	wanted, errWanted := decimal(o.Amount)
	got, errGot := decimal(d.Amount)
	switch {
	case errors.Join(errWanted, errGot) != nil || wanted.Cmp(got) != 0:
		return "the amount is not that of the order"
	case d.Asset != asset:
		return "the asset is not that of the order"
	case o.Recipient != "" && d.RecipientAddr != o.Recipient:
		return "the wallet is not that of the shop"
	}
	return ""
}

var (
	decimals    = regexp.MustCompile(`^[0-9]{1,80}(\.[0-9]{1,80})?$`)
	errDecimals = errors.New("not a decimal")
)

// decimal reads an exact amount: 10.5 is 10.50.
func decimal(text string) (*big.Rat, error) {
	if !decimals.MatchString(text) {
		return nil, errDecimals
	}
	amount, _ := new(big.Rat).SetString(text)
	return amount, nil
}
