package v3

import (
	"bytes"
	"errors"
	"net/http"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	"tonscribe/schema/record"
)

// One transaction may be of many actions, of which each has all of it.
func TestAnAnswerThatIsTooLongIsRefused(t *testing.T) {
	tx := &record.Transaction{}
	for range 255 {
		tx.OutMsgs = append(tx.OutMsgs, &record.Message{Hash: make([]byte, 32), Body: bytes.Repeat([]byte{1}, 4000)})
	}
	typ := action.TypeNamed("ton_transfer")
	row := render.ActionRow{
		Action: &action.Action{Type: typ, Details: make([]action.Value, len(typ.Details))}, Trace: &record.Trace{},
		Full: []render.TransactionRow{render.TransactionOf(tx)},
	}
	list := ListOf("Answer", "actions", render.Action, HasBook|HasMetadata)
	for n, status := range map[int]int{10: 0, 1000: http.StatusUnprocessableEntity} {
		q := &Request{Context: t.Context(), Reader: rows.Reader{NoAddressBook: true, NoMetadata: true}}
		err := ServeRows(q, list, render.ActionTransactions, make([]struct{}, n), nil, func(struct{}) render.ActionRow { return row })
		var refusal *params.Error
		if errors.As(err, &refusal) != (status != 0) || status != 0 && refusal.Status != status {
			t.Errorf("%d actions: %v", n, err)
		}
		if len(q.Body) > 66<<20 {
			t.Errorf("the answer with %d actions has %d bytes", n, len(q.Body))
		}
	}
}
