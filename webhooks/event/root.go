// Package event is what a webhook says.
//
// In: a transfer that is final. Out: the bytes of the request's body, the same for every
// attempt. The package knows nothing of who is told and how.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The types of events. TransferRefunded is announced only: nothing sends it.
const (
	TransferCompleted = "transfer.completed"
	TransferRefunded  = "transfer.refunded"
)

// Status is how a transfer ended on the chain.
type Status string

// The ways in which a transfer ends.
const (
	Success Status = "success"
	Failed  Status = "failed"
)

// Event is the body of a webhook.
type Event struct {
	Type      string `json:"event"`
	Timestamp Time   `json:"timestamp"`
	Data      Data   `json:"data"`
}

// Data is the transfer. Optional members are left out when they are empty; ErrorCode and
// ErrorMessage are there if and only if it failed.
type Data struct {
	Amount             string `json:"amount"`        // in units of the asset, an exact decimal
	RawAmount          string `json:"rawAmount"`     // in base units, an integer
	SenderAddr         string `json:"senderAddr"`    // wallet, never its jetton wallet
	RecipientAddr      string `json:"recipientAddr"` // likewise
	Asset              string `json:"asset"`         // ticker of the native coin, or jetton master (EQ…)
	AssetTicker        string `json:"assetTicker,omitempty"`
	Status             Status `json:"status"`
	Reference          string `json:"reference"`      // of the transfer as it was built
	BodyBase64Hash     string `json:"bodyBase64Hash"` // base64 of the hash of the signed message's body
	TxHash             string `json:"txHash"`         // hex, of the transaction that decided
	TraceID            string `json:"traceId"`        // hex, of the root transaction
	CommentToSender    string `json:"commentToSender,omitempty"`
	CommentToRecipient string `json:"commentToRecipient,omitempty"`
	Date               Time   `json:"date"` // of the block of the transaction that decided
	ErrorCode          *int64 `json:"errorCode,omitempty"`
	ErrorMessage       string `json:"errorMessage,omitempty"`
}

// timeForm is ISO 8601 in UTC with milliseconds.
const timeForm = "2006-01-02T15:04:05.000Z"

// Time is a time of an event, written in UTC with milliseconds: 2024-01-15T14:30:00.000Z.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+timeForm+`"`), nil
}

// UnmarshalJSON implements json.Unmarshaler: any time of RFC 3339.
func (t *Time) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return err
	}
	var err error
	t.Time, err = time.Parse(time.RFC3339, text)
	return err
}

// ErrEvent is the error of an event that may not be sent.
var ErrEvent = errors.New("not an event")

// check says what keeps an event from being sent.
func (e *Event) check() error {
	failed := e.Data.Status == Failed
	switch {
	case e.Type != TransferCompleted && e.Type != TransferRefunded:
		return fmt.Errorf("%w: its type is %q", ErrEvent, e.Type)
	case !failed && e.Data.Status != Success:
		return fmt.Errorf("%w: its status is %q", ErrEvent, e.Data.Status)
	case failed != (e.Data.ErrorCode != nil) || failed != (e.Data.ErrorMessage != ""):
		return fmt.Errorf("%w: errorCode and errorMessage belong to failed transfers, and to all of them", ErrEvent)
	}
	return nil
}

// Encode returns the body: what JSON.stringify makes of it again after JSON.parse, so
// that a receiver who signs the parsed object gets the same signature. Bytes of comments
// that are no UTF-8 are replaced by U+FFFD.
func (e *Event) Encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	clean := *e
	for _, text := range []*string{&clean.Data.AssetTicker, &clean.Data.CommentToSender, &clean.Data.CommentToRecipient, &clean.Data.ErrorMessage} {
		*text = strings.ToValidUTF8(*text, "\uFFFD")
	}
	var b bytes.Buffer
	into := json.NewEncoder(&b)
	into.SetEscapeHTML(false)
	if err := into.Encode(&clean); err != nil {
		return nil, err
	}
	return separatorsAsTheyAre(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// separatorsAsTheyAre writes U+2028 and U+2029, which encoding/json escapes always and
// JSON.stringify never, as they are.
func separatorsAsTheyAre(body []byte) []byte {
	if !bytes.Contains(body, []byte(`\u202`)) {
		return body
	}
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' {
			out = append(out, body[i])
			continue
		}
		switch rest := body[i:]; {
		case bytes.HasPrefix(rest, []byte(`\u2028`)):
			out, i = append(out, "\u2028"...), i+5
		case bytes.HasPrefix(rest, []byte(`\u2029`)):
			out, i = append(out, "\u2029"...), i+5
		default: // an escape of another character, a backslash among them
			out, i = append(out, body[i], body[i+1]), i+1
		}
	}
	return out
}
