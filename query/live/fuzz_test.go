package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"tonscribe/query/live/events"
)

func rawAddress(n byte) string { return fmt.Sprintf("0:%064X", n) }

// Whatever texts a client sends, each is answered by one object of the contract that
// repeats the id, a refused one changes nothing, and nothing is left of the stream.
func FuzzFrames(f *testing.F) {
	for _, text := range []string{
		`{"operation":"ping","id":"1"}`, `{"operation":"ping"}`, `{"operation":"dance","id":"2"}`, `{`, ``, `[]`, `null`, `{"operation":7}`,
		`{"operation":"subscribe","id":"3","types":["transactions","actions","trace_invalidated"],"addresses":["` + rawAddress(1) + `"],"opcodes":["0x0f8a7ea5"],"min_finality":"pending"}`,
		`{"operation":"subscribe","types":["jettons_change","gap"],"jettons":["` + rawAddress(2) + `"],"from":"12-3"}`,
		`{"operation":"subscribe","types":["trace"],"trace_external_hash_norms":["k2vT5BkqNUzVJ/ErkO5bT2ytJ+xA5dHbXxK0BlkzGgI="],"replay_existing":true}`,
		`{"operation":"unsubscribe","id":"4","addresses":["` + rawAddress(1) + `"]}`,
		`{"operation":"subscribe","types":["actions"],"addresses":["EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c"],"supported_action_types":["v1","nft"],"action_types":["ton_transfer"]}`,
		"{\"operation\":\"subscribe\",\"id\":\"\xff\"}",
	} {
		f.Add([]byte(text), []byte(`{"operation":"unsubscribe","jettons":["`+rawAddress(2)+`"]}`))
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		l := newComponent(t, nil)
		c := newConn(t.Context(), l, nil, events.Limits{Addresses: 5})
		s := &session{c: l, conn: c}
		for _, raw := range [][]byte{first, second} {
			before := c.wanted
			if !c.answerTo(s, raw) {
				t.Fatalf("%q ends the stream", raw)
			}
			answers := c.take().answers
			if len(answers) != 1 {
				t.Fatalf("%q has %d answers", raw, len(answers))
			}
			checkAnswer(t, raw, answers[0], before == c.wanted)
			if c.wanted != nil && c.wanted.Size() != c.reserved || c.reserved > 10 {
				t.Fatalf("%q: %d names are counted", raw, c.reserved)
			}
		}
		c.close()
		if _, n := l.clients.count(); n != 0 || len(l.hub.by) != 0 {
			t.Fatalf("%d addresses and %d keys are left", n, len(l.hub.by))
		}
	})
}

func checkAnswer(t *testing.T, sent, answer []byte, unchanged bool) {
	t.Helper()
	var a struct {
		ID                      *string
		Status, Error, Position string
	}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&a); err != nil || (a.Status == "") == (a.Error == "") {
		t.Fatalf("%q is answered by %q, %v", sent, answer, err)
	}
	if a.Error != "" && !unchanged {
		t.Fatalf("%q is refused by %q and changes the subscription", sent, answer)
	}
	if _, err := events.ParsePosition(a.Position); a.Status != "" && err != nil {
		t.Fatalf("%q is answered by %q: %v", sent, answer, err)
	}
	var envelope struct {
		Operation string
		ID        *string
	}
	if json.Unmarshal(sent, &envelope) == nil && (envelope.ID == nil) != (a.ID == nil) || a.ID != nil && *a.ID != *envelope.ID {
		t.Fatalf("%q is answered by %q", sent, answer)
	}
}
