package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

// The limits of external messages, as nodes have them (configuration parameter
// 43 by default).
const (
	maxMessageBytes = 65535
	maxMessageDepth = 512
	maxMessageCells = 1 << 13
)

// The limits of what callers send as bags of cells.
const (
	MaxCells = 1 << 14
	MaxDepth = 1024
	// MaxPartDepth is how deep a part of a Body is: a StateInit and the message are
	// above it.
	MaxPartDepth = MaxDepth - 2
)

// ParseBoC reads a caller's bag of cells with one root; name is what the contract's
// text calls it.
func ParseBoC(data []byte, name string) (*cell.Cell, error) {
	root, err := cell.FromBOCWithOptions(data, cell.BOCParseOptions{MaxCells: MaxCells})
	if err != nil || root == nil {
		return nil, failed("INVALID_BAG_OF_CELLS: %s", name)
	}
	if root.Depth() > MaxDepth {
		return nil, failed("INVALID_BAG_OF_CELLS: %s is deeper than %d", name, MaxDepth)
	}
	return root, nil
}

// Sent is a message that a lite server took: its hash, and that of its normalized
// form (TEP-467).
type Sent struct{ Hash, Normal [32]byte }

// Accepted is a message that a lite server took.
type Accepted struct {
	Sent
	To  address.Address
	BoC []byte // of the message: its cells may take twenty times as much
}

// ErrNotExternal is the answer to a message of another kind.
var ErrNotExternal = failed("CommonMsgInfo tag is not ext_in_msg_info")

// SendBoC is Send for a message in a bag of cells.
func (n *Node) SendBoC(ctx context.Context, boc []byte) (*Sent, error) {
	if len(boc) > maxMessageBytes {
		return nil, rejected("external message too large, rejecting")
	}
	message, err := ParseBoC(boc, "body")
	if err != nil {
		return nil, err
	}
	return n.Send(ctx, message)
}

// Send checks an external message, tries it, and gives it to lite servers.
func (n *Node) Send(ctx context.Context, message *cell.Cell) (*Sent, error) {
	if message.Depth() >= maxMessageDepth {
		return nil, rejected("external message is too deep")
	}
	normal, to, err := normalized(message)
	if err != nil {
		return nil, err
	}
	if _, err := toncell.SizeOf(maxMessageCells, message); err != nil {
		return nil, rejected("external message has too many cells")
	}
	if n.configuration.Emulate && tvm.CheckMessage(message) == nil {
		if err := n.rehearse(ctx, message, to); err != nil {
			return nil, err
		}
	}
	sent := &Sent{message.HashKey(), normal.HashKey()}
	boc := message.ToBOCWithOptions(cell.BOCSerializeOptions{})
	if err := n.servers.Send(ctx, boc); err != nil {
		return sent, err
	}
	if n.accepted != nil {
		n.accepted(ctx, Accepted{*sent, to, boc})
	}
	return sent, nil
}

// rejected is how lite servers say that a message cannot be.
func rejected(reason string) *Error {
	return failed("LITE_SERVER_UNKNOWN: cannot apply external message to current state : %s", reason)
}

// normalized is the form of an external message that its variants share
// (TEP-467): no source, no import fee, no initial state, the body in a
// reference. It also tells the receiver.
func normalized(message *cell.Cell) (*cell.Cell, address.Address, error) {
	r := parse(message)
	if tag := r.Uint(2); r.Err() != nil || tag != 0b10 {
		return nil, address.Address{}, ErrNotExternal
	}
	r.address()
	to, ok := r.address()
	r.Coins()
	r.stateInit()
	body := r.either()
	if r.Err() != nil || !ok {
		return nil, to, failed("INVALID_BAG_OF_CELLS: body")
	}
	return externalHeader(to).MustStoreUInt(0b01, 2).MustStoreRef(body).EndCell(), to, nil
}

// unknowing are the exit codes, a type check error and a cell underflow, of code that asks
// for previous blocks, or opens a library that is no part of it: nodes know them.
var unknowing = []int{7, 9}

// rehearse delivers the message here. Its error is that of a lite server; what
// keeps us from trying does not keep the message from being sent.
func (n *Node) rehearse(ctx context.Context, message *cell.Cell, to address.Address) error {
	s, err := n.Account(ctx, to, nil)
	if err != nil {
		return err
	}
	if s.Code() == nil && !hasInit(message) {
		return rejected("Failed to unpack account state")
	}
	outcome, _, err := n.try(ctx, s, message, false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		n.seldom.Warn().Err(err).Stringer("account", to).Msg("a message could not be tried, it is sent untried")
		return nil
	}
	if outcome.Accepted || slices.Contains(unknowing, outcome.ExitCode) {
		return nil
	}
	return rejected(fmt.Sprintf("External message was not accepted\n"+
		"Cannot run message on account: inbound external message rejected by transaction %s:\n"+
		"exitcode=%d, steps=%d, gas_used=%d\nVM Log (truncated):\n",
		strings.Repeat("0", 64), outcome.ExitCode, 0, outcome.GasUsed))
}

func hasInit(message *cell.Cell) bool {
	r := parse(message)
	r.Skip(2)
	r.address()
	r.address()
	r.Coins()
	return r.Bit() && r.Err() == nil
}

// Body is what a caller wants to say to an account, to be wrapped into an external
// message. Code and data are those of a contract that is not deployed yet, or nil.
type Body struct {
	To               address.Address
	Body, Code, Data *cell.Cell
}

// externalHeader is ext_in_msg_info from addr_none to an account (TL-B
// CommonMsgInfo).
func externalHeader(to address.Address) *cell.Builder {
	return cell.BeginCell().
		MustStoreUInt(0b10_00, 4).
		MustStoreUInt(0b10_0, 3). // addr_std without anycast
		MustStoreInt(int64(to.Workchain()), 8).
		MustStoreSlice(to.ID(), 256).
		MustStoreUInt(0, 4) // import_fee
}

// Message is the body as an external message as clients make it: what fits stands in
// the message's own cell, the rest in references.
func (m Body) Message() *cell.Cell {
	b := externalHeader(m.To)
	if m.Code == nil && m.Data == nil {
		b.MustStoreBoolBit(false)
	} else {
		init := m.stateInit()
		b.MustStoreBoolBit(true)
		if inside := b.BitsLeft() >= 1+init.BitsSize()+m.Body.BitsSize(); inside {
			b.MustStoreBoolBit(false).MustStoreBuilder(init.ToBuilder())
		} else {
			b.MustStoreBoolBit(true).MustStoreRef(init)
		}
	}
	if m.Body.IsSpecial() || b.BitsLeft() < 1+m.Body.BitsSize() || b.RefsUsed()+int(m.Body.RefsNum()) > 4 {
		return b.MustStoreBoolBit(true).MustStoreRef(m.Body).EndCell()
	}
	return b.MustStoreBoolBit(false).MustStoreBuilder(m.Body.ToBuilder()).EndCell()
}

func (m Body) stateInit() *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(0b00, 2) // no fixed_prefix_length, not special
	for _, c := range []*cell.Cell{m.Code, m.Data} {
		b.MustStoreBoolBit(c != nil)
		if c != nil {
			b.MustStoreRef(c)
		}
	}
	return b.MustStoreBoolBit(false).EndCell()
}
