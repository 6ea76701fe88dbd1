package multisig

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/ton/body"
)

var null = []byte("null")

// writer writes the objects of an answer; address gets every address in it.
type writer struct{ address func([]byte) }

func (w *writer) open() *object { return &object{writer: w, dst: []byte{'{'}} }

// account appends an address.
func (w *writer) account(dst, account []byte) []byte {
	if len(account) > 0 {
		w.address(account)
	}
	return api.AppendAddress(dst, account)
}

// object is a JSON object that is being written.
type object struct {
	*writer
	dst []byte
}

func (o *object) key(name string) {
	if len(o.dst) > 1 {
		o.dst = append(o.dst, ',')
	}
	o.dst = append(append(append(o.dst, '"'), name...), '"', ':')
}

func (o *object) raw(name string, value []byte) {
	o.key(name)
	o.dst = append(o.dst, value...)
}

func (o *object) text(name, value string) { o.raw(name, api.AppendText(nil, value)) }

func (o *object) uint(name string, n uint64) { o.raw(name, strconv.AppendUint(nil, n, 10)) }

func (o *object) bool(name string, b bool) { o.raw(name, strconv.AppendBool(nil, b)) }

func (o *object) boc(name string, c *cell.Cell) {
	o.key(name)
	if c == nil {
		o.dst = append(o.dst, null...)
		return
	}
	o.dst = append(base64.StdEncoding.AppendEncode(append(o.dst, '"'), c.ToBOC()), '"')
}

// field writes a value of a body.
func (o *object) field(name string, value any) {
	switch v := value.(type) {
	case uint64:
		o.uint(name, v)
	case *big.Int:
		o.raw(name, api.AppendAmount(nil, v.Bytes()))
	case body.Address:
		o.key(name)
		o.dst = o.account(o.dst, v)
	case *cell.Cell:
		o.boc(name, v)
	case body.Payload:
		o.boc(name, v.Cell)
	case string:
		o.text(name, v)
	default:
		panic(fmt.Sprintf("%s is a %T", name, value))
	}
}

func (o *object) fields(list body.Fields) {
	for i := range list {
		o.field(list[i].Name, list[i].Value)
	}
}

func (o *object) close() []byte { return append(o.dst, '}') }
