package strangers

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// nobody has no account; get-methods there give the arguments back.
const nobody = "0:00000000000000000000000000000000000000000000000000000000000000aa"

// refused sends a body and expects an answer of this status.
func refused(at *target, path, body string, status int) shot {
	return func(ctx context.Context) error {
		got, text, err := at.post(ctx, path, body)
		if err != nil {
			return err
		}
		if got != status && got != http.StatusServiceUnavailable { // large bodies take turns
			return fmt.Errorf("%s: %d %.200s, want %d", path, got, text, status)
		}
		return nil
	}
}

// tuples is an entry of a stack: tuples, each in the next.
func tuples(depth int, inner string) string {
	return strings.Repeat(`{"@type":"tvm.stackEntryTuple","tuple":{"@type":"tvm.tuple","elements":[`, depth) + inner + strings.Repeat("]}}", depth)
}

// nestedArguments are 600 tuples around a text of 850 kB.
var nestedArguments = attack{"nested arguments", 2, func(_ *testing.T, at *target) shot {
	entry := tuples(600, `{"@type":"tvm.stackEntryCell","cell":{"@type":"tvm.cell","bytes":"`+strings.Repeat("A", 850_000)+`"}}`)
	return refused(at, "/api/v2/runGetMethodStd", `{"address":"`+nobody+`","method":"seqno","stack":[`+entry+`]}`, http.StatusInternalServerError)
}}

// nestedPairs are the same in the older form, through JSON-RPC.
var nestedPairs = attack{"nested arguments through JSON-RPC", 1, func(_ *testing.T, at *target) shot {
	entry := tuples(600, `{"@type":"tvm.stackEntryNumber","number":{"number":"`+strings.Repeat("9", 850_000)+`"}}`)
	return refused(at, "/api/v2/jsonRPC", `{"id":1,"method":"runGetMethod","params":{"address":"`+nobody+`","method":"seqno","stack":[["tuple",{"@type":"tvm.tuple","elements":[`+entry+`]}]]}}`,
		http.StatusUnprocessableEntity)
}}

// unfolded gives cells back that are 2^60 as a tree, with each of them spelt out.
var unfolded = attack{"cells that unfold when they are spelt out", 1, func(_ *testing.T, at *target) shot {
	c := cell.BeginCell().EndCell()
	for i := range 60 {
		c = cell.BeginCell().MustStoreUInt(uint64(i), 8).MustStoreRef(c).MustStoreRef(c).EndCell()
	}
	entry := `["tvm.Cell","` + base64.StdEncoding.EncodeToString(c.ToBOC()) + `"]`
	stack := strings.Repeat(entry+",", 999) + entry
	return refused(at, "/api/v2/runGetMethod", `{"address":"`+nobody+`","method":"seqno","stack":[`+stack+`]}`, http.StatusOK)
}}
