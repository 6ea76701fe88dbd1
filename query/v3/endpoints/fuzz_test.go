package endpoints

import (
	"encoding/json"
	"testing"

	"tonscribe/query/stack"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
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
				q := &v3.Request{Sent: object}
				_, _, _ = runOf(q)
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
