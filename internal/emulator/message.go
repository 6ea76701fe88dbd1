package emulator

import (
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// delivery is tvm.Delivery between two processes. Cells are bags.
type delivery struct {
	Config          part
	Libraries       []part
	Previous        []byte // TL-B VmStack of one tuple, nil for none
	Now             uint32
	LT, BlockLT     uint64
	Seed            [32]byte
	Address         []byte // 36 bytes, nil for none
	Account         []byte
	LastHash        [32]byte
	LastLT          uint64
	Message         []byte
	IgnoreSignature bool
}

// part is a cell that many deliveries have in common. It is sent once: Bag is
// nil when the worker keeps it from an earlier delivery.
type part struct {
	Hash [32]byte
	Bag  []byte
}

// taken is the first answer to a delivery. Without it nothing was executed: the
// process had been killed, which a pipe does not notice while threads still end.
type taken struct {
	Read bool // gob wants a field
}

// outcome is tvm.Outcome between two processes.
type outcome struct {
	Failure           string // why there is none, empty when there is one
	Accepted, Skipped bool
	ExitCode          int
	GasUsed           int64
	Fees              tvm.Fees
	Actions           []byte
	Transaction       []byte
	Account           []byte
	Messages          [][]byte
}

// keptParts is how many parts a worker keeps, the latest. Both ends count alike.
const keptParts = 16

// parts are those that a worker keeps, by hash, and their order.
type parts[V any] struct {
	byHash map[[32]byte]V
	order  [][32]byte
}

func (k *parts[V]) keep(hash [32]byte, v V) {
	if k.byHash == nil {
		k.byHash = map[[32]byte]V{}
	}
	if _, ok := k.byHash[hash]; ok {
		return
	}
	if len(k.order) == keptParts {
		delete(k.byHash, k.order[0])
		k.order = k.order[1:]
	}
	k.byHash[hash] = v
	k.order = append(k.order, hash)
}

func bag(c *cell.Cell) []byte {
	if c == nil {
		return nil
	}
	return c.WithoutTrace().ToBOCWithOptions(cell.BOCSerializeOptions{})
}

// opened is what went wrong with the bags of a message.
type opened struct{ problems []error }

func (o *opened) open(raw []byte) *cell.Cell {
	if len(raw) == 0 {
		return nil
	}
	c, err := cell.FromBOC(raw)
	o.problems = append(o.problems, err)
	return c
}

// maxLibraries is how many libraries one delivery may bring; what is beyond
// keptParts would drop its own config.
const maxLibraries = keptParts - 1

// pack makes the message for a worker that keeps known.
func pack(in tvm.Delivery, known *parts[struct{}]) (*delivery, error) {
	if len(in.Libraries) > maxLibraries {
		return nil, fmt.Errorf("%d dictionaries of libraries, %d are allowed", len(in.Libraries), maxLibraries)
	}
	share := func(c *cell.Cell) part {
		p := part{Hash: c.HashKey()}
		if _, ok := known.byHash[p.Hash]; !ok {
			p.Bag = bag(c)
			known.keep(p.Hash, struct{}{})
		}
		return p
	}
	d := &delivery{
		Now: in.Now, LT: in.LT, BlockLT: in.BlockLT, Seed: in.Seed, Account: bag(in.Account),
		LastHash: in.LastHash, LastLT: in.LastLT, Message: bag(in.Message), IgnoreSignature: in.IgnoreSignature,
		Config: share(in.Config.Root()),
	}
	for _, root := range in.Libraries {
		if root != nil {
			d.Libraries = append(d.Libraries, share(root))
		}
	}
	if in.Address != nil {
		d.Address = append([]byte{byte(in.Address.Workchain())}, in.Address.Data()...)
	}
	if in.PrevBlocks != nil {
		encoded, err := tvm.EncodeStack(tvm.Tuple{in.PrevBlocks})
		if err != nil {
			return nil, fmt.Errorf("previous blocks: %w", err)
		}
		d.Previous = bag(encoded)
	}
	return d, nil
}

// unpack is the delivery that a worker got.
func (d *delivery) unpack(kept *parts[*cell.Cell]) (tvm.Delivery, error) {
	var bags opened
	shared := func(p part) *cell.Cell {
		if p.Bag != nil {
			kept.keep(p.Hash, bags.open(p.Bag))
		}
		c := kept.byHash[p.Hash]
		if c == nil {
			bags.problems = append(bags.problems, fmt.Errorf("cell %x is not known", p.Hash))
		}
		return c
	}
	out := tvm.Delivery{
		Context: tvm.Context{Now: d.Now, LT: d.LT, BlockLT: d.BlockLT, Seed: d.Seed},
		Account: bags.open(d.Account), LastHash: d.LastHash, LastLT: d.LastLT, Message: bags.open(d.Message), IgnoreSignature: d.IgnoreSignature,
	}
	config := shared(d.Config)
	for _, p := range d.Libraries {
		out.Libraries = append(out.Libraries, shared(p))
	}
	if len(d.Address) > 0 {
		out.Address = address.NewAddress(0, d.Address[0], d.Address[1:])
	}
	if previous := bags.open(d.Previous); previous != nil {
		stack, err := tvm.DecodeStack(previous)
		if len(stack) == 1 {
			out.PrevBlocks, _ = stack[0].(tvm.Tuple)
		}
		bags.problems = append(bags.problems, err)
	}
	if err := errors.Join(bags.problems...); err != nil {
		return tvm.Delivery{}, err
	}
	var err error
	out.Config, err = tvm.Prepare(config)
	return out, err
}

func packOutcome(done tvm.Outcome) *outcome {
	o := &outcome{
		Accepted: done.Accepted, Skipped: done.Skipped, ExitCode: done.ExitCode, GasUsed: done.GasUsed,
		Fees: done.Fees, Actions: bag(done.Actions), Transaction: bag(done.Transaction), Account: bag(done.Account),
	}
	for _, m := range done.Messages {
		o.Messages = append(o.Messages, bag(m))
	}
	return o
}

// errExecution is a failure that the worker reports, and survives.
var errExecution = errors.New("the message cannot be executed")

func (o *outcome) unpack() (tvm.Outcome, error) {
	if o.Failure != "" {
		return tvm.Outcome{}, fmt.Errorf("%w: %s", errExecution, o.Failure)
	}
	var bags opened
	out := tvm.Outcome{
		Accepted: o.Accepted, Skipped: o.Skipped, ExitCode: o.ExitCode, GasUsed: o.GasUsed,
		Fees: o.Fees, Actions: bags.open(o.Actions), Transaction: bags.open(o.Transaction), Account: bags.open(o.Account),
	}
	for _, raw := range o.Messages {
		out.Messages = append(out.Messages, bags.open(raw))
	}
	if err := errors.Join(bags.problems...); err != nil {
		return tvm.Outcome{}, err
	}
	return out, nil
}
