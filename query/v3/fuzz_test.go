package v3

import (
	"encoding/json"
	"testing"

	"tonscribe/query/params"
	"tonscribe/query/stack"
	v2 "tonscribe/query/v2"
	"tonscribe/test/support/costtest"
)

func FuzzArguments(f *testing.F) {
	for _, stack := range []string{
		`[]`, `null`, `[{"type":"num","value":"0x1f"}]`, `[{"type":"cell","value":"te6cckEBAQEAAgAAAEysuc0="},{"type":"slice","value":""}]`,
		`[{"type":"num","value":[[[]]]}]`, `[{},{}]`, `[{"type":"tuple","value":[]}]`, `{"type":"num"}`,
	} {
		f.Add([]byte(stack))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var object map[string]json.RawMessage
		costtest.Check(t, func() {
			if json.Unmarshal(body, &object) == nil {
				q := &request{sent: object}
				_, _, _ = q.run()
			}
		})
		costtest.Check(t, func() {
			list, err := argumentsOf(body)
			if err != nil {
				return
			}
			for _, e := range list {
				if _, err := stack.Plain(e.Type, e.Value); err != nil && v2.Known(err) == nil {
					t.Errorf("%q: %v", body, err)
				}
			}
		})
	})
}

func FuzzCursor(f *testing.F) {
	values, err := params.Parse(params.PageParams("desc", "lt"), "")
	if err != nil {
		f.Fatal(err)
	}
	q := &request{values: values}
	type key struct {
		LT   uint64
		Hash [32]byte
	}
	f.Add(q.cursorOf(params.Descending, &key{LT: 5}))
	f.Add(q.cursorOf(params.Ascending, &key{LT: 5}))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		costtest.Check(t, func() {
			var read key
			there, err := q.after(params.Page{Sort: params.Descending, Cursor: cursor}, &read)
			if err == nil && there && q.cursorOf(params.Descending, &read) != cursor {
				t.Errorf("%q is read as %+v, whose cursor is %q", cursor, read, q.cursorOf(params.Descending, &read))
			}
		})
	})
}
