package api

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// testPrefix is how references of tests begin, which no order has.
const testPrefix = "test_"

var errFields = badRequest("bad_fields", "fields: members of the event's data are wanted: %s", strings.Join(testFields, ", "))

// testFields are those of an event that a test may choose.
var testFields = []string{"amount", "rawAmount", "senderAddr", "recipientAddr", "asset", "assetTicker", "commentToSender", "commentToRecipient", "errorCode", "errorMessage"}

var testWebhook = &Endpoint{
	Method: http.MethodPost, Path: "/webhook/test", Name: "testWebhook", Tag: tagWebhook, Scope: store.ScopeManage,
	Summary:     "Send a made-up event",
	Description: "One attempt, through what sends real ones. Its reference begins with test_. It goes to endpoints that are disabled too.",
	InBody: []Param{
		{Name: "status", Kind: WordKind, Words: []string{string(event.Success), string(event.Failed)}, Default: string(event.Success), Description: "how the transfer ends"},
		{Name: "asset", Kind: WordKind, Words: []string{"native", "token"}, Default: "native", Description: "what is paid"},
		{Name: "fields", Kind: FieldsKind, Description: "members of data that are to be others: " + strings.Join(testFields, ", ")},
	},
	Errors: []*Error{errFields, errRefused, errBusy},
	Result: of(attemptForm, func(c *call) (Attempt, error) {
		s, err := c.sending()
		if err != nil {
			return Attempt{}, err
		}
		e, err := c.testEvent()
		if err != nil {
			return Attempt{}, err
		}
		a, err := s.Test(c, c.merchant.ID, e)
		if err != nil {
			return a, refusal(err)
		}
		return a, c.audit("test_sent", string(e.Data.Status))
	}),
}

// testEvent is the event of a test.
func (c *call) testEvent() (e event.Event, err error) {
	now := event.Time{Time: time.Now().UTC()}
	reference := uuid.Must(uuid.NewV7())
	hash := sha256.Sum256(reference[:])
	account := func(last byte) string { return payment.Address(append(make([]byte, 35), last)) }
	e = event.Event{Type: event.TransferCompleted, Timestamp: now, Data: event.Data{
		Amount: "10.5", RawAmount: "10500000000", SenderAddr: account(1), RecipientAddr: account(2),
		Asset: c.configuration.Ticker, AssetTicker: c.configuration.Ticker, Status: event.Status(get[string](c.values, "status")),
		Reference: testPrefix + reference.String(), BodyBase64Hash: base64.StdEncoding.EncodeToString(hash[:]), TxHash: hex.EncodeToString(hash[:]), TraceID: hex.EncodeToString(hash[:]),
		CommentToRecipient: "test", Date: now,
	}}
	if get[string](c.values, "asset") == "token" {
		e.Data.Asset, e.Data.AssetTicker, e.Data.RawAmount = account(3), "TEST", "10500000"
	}
	if e.Data.Status == event.Failed {
		why := *payment.NoFunds
		e.Data.ErrorCode, e.Data.ErrorMessage = &why.Code, why.Text
	}
	return e, setFields(&e.Data, get[map[string]json.RawMessage](c.values, "fields"))
}

// setFields puts values of the merchant's into the data of a test.
func setFields(data *event.Data, fields map[string]json.RawMessage) error {
	failed := data.ErrorCode != nil
	for name := range fields {
		if !slices.Contains(testFields, name) || !failed && strings.HasPrefix(name, "error") {
			return errFields
		}
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return errFields
	}
	if err := json.Unmarshal(text, data); err != nil {
		return errFields
	}
	for _, text := range []string{
		data.Amount, data.RawAmount, data.SenderAddr, data.RecipientAddr, data.Asset, data.AssetTicker, data.CommentToSender, data.CommentToRecipient, data.ErrorMessage,
	} {
		if len(text) > payment.MaxComment {
			return errFields
		}
	}
	if failed && (data.ErrorCode == nil || data.ErrorMessage == "") {
		return errFields
	}
	return nil
}
