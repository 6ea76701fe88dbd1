package render_test

import (
	"strings"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/query/api"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

func TestAnActionOfAnotherVersionOfTheProgramIsWrittenWithoutDetails(t *testing.T) {
	a, err := action.FromRecord(&record.Action{Id: make([]byte, 32), Type: "of_another_version", Success: true, StartLt: 5,
		Details: []*record.ActionDetail{{Name: "amount", Value: &record.ActionDetail_Unsigned{Unsigned: 7}}}})
	if err != nil {
		t.Fatal(err)
	}
	w := &api.Writer{Book: api.Book{}}
	render.Action.Write(w, render.ActionRow{Action: a, Trace: &record.Trace{Id: make([]byte, 32)}})
	const want = `"success":true,"type":"of_another_version","details":{"error":"unsupported action type: 'of_another_version'"},`
	if !strings.Contains(string(w.JSON), want) {
		t.Errorf("%s, want %s in it", w.JSON, want)
	}
}

// A comment of zero bytes only is there, though nothing is left of it to be written.
func TestATextThatIsEmptyIsNotNull(t *testing.T) {
	for want, details := range map[string][]*record.ActionDetail{
		`"comment":""`:   {{Name: "comment", Value: &record.ActionDetail_Text{}}},
		`"comment":null`: nil,
	} {
		a, err := action.FromRecord(&record.Action{Id: make([]byte, 32), Type: "ton_transfer", Details: details})
		if err != nil {
			t.Fatal(err)
		}
		w := &api.Writer{Book: api.Book{}}
		render.Action.Write(w, render.ActionRow{Action: a, Trace: &record.Trace{Id: make([]byte, 32)}})
		if !strings.Contains(string(w.JSON), want) {
			t.Errorf("%s, want %s in it", w.JSON, want)
		}
	}
}
