package v3

import (
	"testing"

	"tonscribe/query/params"
	"tonscribe/test/support/costtest"
)

func FuzzCursor(f *testing.F) {
	values, err := params.Parse(params.PageParams("desc", "lt"), "")
	if err != nil {
		f.Fatal(err)
	}
	q := &Request{Values: values}
	type key struct {
		LT   uint64
		Hash [32]byte
	}
	f.Add(q.CursorOf(params.Descending, &key{LT: 5}))
	f.Add(q.CursorOf(params.Ascending, &key{LT: 5}))
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		costtest.Check(t, func() {
			var read key
			there, err := q.after(params.Page{Sort: params.Descending, Cursor: cursor}, &read)
			if err == nil && there && q.CursorOf(params.Descending, &read) != cursor {
				t.Errorf("%q is read as %+v, whose cursor is %q", cursor, read, q.CursorOf(params.Descending, &read))
			}
		})
	})
}
