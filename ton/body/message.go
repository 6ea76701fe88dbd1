package body

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// Message is what an order or a wallet sends: the part of an internal Message
// (TL-B) that says where what goes.
type Message struct {
	Destination Address
	Value       *big.Int
	Body        *cell.Cell
}

// ReadMessage reads a Message with int_msg_info, whose StateInit is passed.
func ReadMessage(c *cell.Cell) (m Message, err error) {
	r := toncell.NewReader(c)
	if r.Bit() {
		r.Fail(toncell.ErrFormat) // an external one
	}
	r.Skip(3) // ihr_disabled, bounce, bounced
	r.Account()
	m.Destination = r.Account()
	m.Value = r.Coins()
	r.MaybeRef() // extra currencies
	r.Coins()    // ihr_fee
	r.Coins()    // fwd_fee
	r.Skip(64 + 32)
	if r.Bit() { // Maybe (Either StateInit ^StateInit)
		if r.Bit() {
			r.Ref()
		} else {
			passStateInit(r)
		}
	}
	m.Body = r.Either()
	return m, r.Err()
}

func passStateInit(r *toncell.Reader) {
	if r.Bit() {
		r.Skip(5) // fixed_prefix_length
	}
	if r.Bit() {
		r.Skip(2) // special: tick, tock
	}
	for range 3 { // code, data, library
		r.MaybeRef()
	}
}
