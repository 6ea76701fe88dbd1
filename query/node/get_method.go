package node

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// Run is a run of a get-method.
type Run struct {
	Account  address.Address
	Seqno    *uint32 // of the masterchain block after which it runs, nil for the newest
	Method   int64
	Stack    []any // values of package ton/tvm, the first at the bottom
	MaxDepth int   // how deep the values that it leaves may be nested
}

// Ran is what a run left. Every exit code is one.
type Ran struct {
	Account  *Account
	ExitCode int
	GasUsed  int64
	Stack    []Entry
}

// Entry is a value that a get-method left, the bottom of the stack first.
type Entry struct {
	Kind     EntryKind
	Number   *big.Int
	Cell     *cell.Cell // of a slice, too
	Elements []Entry    // of a tuple and of a list
}

// EntryKind says what an Entry is.
type EntryKind uint8

// The kinds of entries. A list is null, or a pair of an element and a list.
const (
	UnsupportedEntry EntryKind = iota
	NumberEntry
	CellEntry
	SliceEntry
	TupleEntry
	ListEntry
)

// exitNoCode is the exit code of get-methods of accounts without code.
const exitNoCode = -13

// RunGetMethod runs a get-method here, on the proven state of an account.
func (n *Node) RunGetMethod(ctx context.Context, r Run) (*Ran, error) {
	s, err := n.Account(ctx, r.Account, r.Seqno)
	if err != nil {
		return nil, err
	}
	result, err := n.run(ctx, s, r.Method, r.Stack)
	if errors.Is(err, tvm.ErrStackTooDeep) {
		err = ErrTooDeep(r.MaxDepth)
	}
	if err != nil {
		return nil, err
	}
	stack, err := EntriesOf(result.Stack, r.MaxDepth)
	return &Ran{Account: s, ExitCode: result.ExitCode, GasUsed: result.GasUsed, Stack: stack}, err
}

// maxEntries is how many values a get-method may leave.
const maxEntries = 8000

var errTooManyEntries = failed("Result stack has more than %d entries", maxEntries)

// EntriesOf reads a stack whose values are nested no deeper than maxDepth.
func EntriesOf(stack tvm.Tuple, maxDepth int) ([]Entry, error) {
	r := entryReader{left: maxEntries, maxDepth: maxDepth}
	return r.entries(stack, 0)
}

type entryReader struct{ left, maxDepth int }

func (r *entryReader) entries(values []any, depth int) ([]Entry, error) {
	list := make([]Entry, 0, len(values))
	for _, value := range values {
		e, err := r.entry(value, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (r *entryReader) entry(value any, depth int) (e Entry, err error) {
	if depth >= r.maxDepth {
		return e, ErrTooDeep(r.maxDepth)
	}
	if r.left--; r.left < 0 {
		return e, errTooManyEntries
	}
	switch v := value.(type) {
	case *big.Int:
		return Entry{Kind: NumberEntry, Number: v}, nil
	case *cell.Cell:
		return Entry{Kind: CellEntry, Cell: v}, nil
	case *cell.Slice:
		c, err := v.ToCell()
		if err != nil {
			return Entry{}, nil //nolint:nilerr // it has no form
		}
		return Entry{Kind: SliceEntry, Cell: c}, nil
	case nil, tvm.Tuple:
		elements, isList := linked(v)
		if e.Kind = ListEntry; !isList {
			e.Kind, elements = TupleEntry, v.(tvm.Tuple)
		}
		e.Elements, err = r.entries(elements, depth+1)
	}
	return e, err
}

// linked takes a list apart.
func linked(value any) (elements []any, ok bool) {
	for {
		if value == nil {
			return elements, true
		}
		pair, ok := value.(tvm.Tuple)
		if !ok || len(pair) != 2 {
			return nil, false
		}
		elements, value = append(elements, pair[0]), pair[1]
	}
}

// runsOfGas is how many runs that use up the limit may be for one question: contracts
// are asked again with each library that they want, and name others that are asked.
const runsOfGas = 4

type gasKey struct{}

// withGas gives a question the gas that all its runs together may take.
func (n *Node) withGas(ctx context.Context) context.Context {
	left := new(atomic.Int64)
	left.Store(runsOfGas * n.configuration.GasLimit)
	return context.WithValue(ctx, gasKey{}, left)
}

// runWithin runs a get-method with the gas that its question has left, at least with some
// to run out of.
func runWithin(ctx context.Context, in tvm.Input) (tvm.Result, error) {
	left, ok := ctx.Value(gasKey{}).(*atomic.Int64)
	if ok {
		in.GasLimit = max(min(in.GasLimit, left.Load()), 1)
	}
	result, err := tvm.Run(ctx, in)
	if ok {
		left.Add(-result.GasUsed)
	}
	return result, err
}

// run runs a get-method on a state. Libraries that the code asks for are fetched.
func (n *Node) run(ctx context.Context, s *Account, method int64, arguments []any) (tvm.Result, error) {
	if s.Code() == nil {
		return tvm.Result{ExitCode: exitNoCode, Stack: append(append(tvm.Tuple{}, arguments...), big.NewInt(method))}, nil
	}
	config, err := n.configAt(ctx, s.Master)
	if err != nil {
		return tvm.Result{}, err
	}
	in := tvm.Input{
		Context: tvm.Context{Config: config, Now: s.Utime},
		Address: ofTonutils(s.Address), Account: s.account.State,
		MethodID: method, Stack: arguments, GasLimit: n.configuration.GasLimit,
	}
	var libraries tvm.Libraries
	for {
		in.Libraries = libraries.Roots()
		result, err := runWithin(ctx, in)
		if err != nil || result.MissingLibrary == nil || libraries.Full() {
			return result, err
		}
		found, err := n.CodeLibraries(ctx, [][32]byte{*result.MissingLibrary})
		if err != nil || found[0] == nil {
			return result, err
		}
		if err := libraries.Add(*result.MissingLibrary, found[0]); err != nil {
			return tvm.Result{}, err
		}
	}
}

// ask runs a get-method; nil when it fails or leaves less than wanted.
func (n *Node) ask(ctx context.Context, s *Account, method string, wanted int, arguments ...any) (*values, error) {
	result, err := n.run(ctx, s, int64(code.MethodID(method)), arguments)
	if err != nil || result.ExitCode != 0 || len(result.Stack) < wanted {
		return nil, err
	}
	return &values{stack: result.Stack}, nil
}

// values reads a result; bad says that some value was of another kind.
type values struct {
	stack tvm.Tuple
	bad   bool
}

func (v *values) number(i int) *big.Int {
	n, ok := v.stack[i].(*big.Int)
	if !ok {
		v.bad = true
		return new(big.Int)
	}
	return n
}

func (v *values) cell(i int) *cell.Cell {
	c, ok := v.stack[i].(*cell.Cell)
	v.bad = v.bad || !ok
	return c
}

// sliceOf is a slice, or a cell as one; nil for any other value.
func sliceOf(value any) *cell.Slice {
	switch v := value.(type) {
	case *cell.Slice:
		return v.Copy()
	case *cell.Cell:
		if s, err := v.BeginParse(); err == nil {
			return s
		}
	}
	return nil
}

func (v *values) address(i int) (a address.Address) {
	if read := v.party(i); read != nil {
		return *read
	}
	v.bad = true
	return a
}

// party reads addr_std without anycast, nil for addr_none; all others are bad.
func (v *values) party(i int) *address.Address {
	s := sliceOf(v.stack[i])
	if s == nil {
		v.bad = true
		return nil
	}
	r := readerOf(s)
	account := r.Account()
	v.bad = v.bad || r.Err() != nil
	if account == nil {
		return nil
	}
	a := address.Address(account)
	return &a
}
