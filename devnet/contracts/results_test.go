package contracts_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/tuple"
	"github.com/xssnick/tonutils-go/tvm/vm"
)

// get runs a get-method and returns its results, bottom first.
func (w *world) get(of *address.Address, method string, arguments ...any) []any {
	w.t.Helper()
	exit, _, stack := w.tryGet(of, 1_000_000, method, arguments...)
	if exit != 0 && exit != 1 {
		w.t.Fatalf("%s of %s ends with exit code %d", method, of, exit)
	}
	return stack
}

func (w *world) tryGet(of *address.Address, gas int64, method string, arguments ...any) (exit, used int64, results []any) {
	w.t.Helper()
	stack := vm.NewStack()
	for _, argument := range arguments {
		if n, ok := argument.(int); ok {
			argument = big.NewInt(int64(n))
		}
		if err := stack.PushAny(argument); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := stack.PushInt(new(big.Int).SetUint64(tlb.MethodNameHash(method))); err != nil {
		w.t.Fatal(err)
	}
	state := w.account(of).State()
	if state.StateInit == nil {
		w.t.Fatalf("%s of %s: no contract", method, of)
	}
	res, err := tvm.NewTVM().ExecuteGetMethod(state.StateInit.Code, state.StateInit.Data, w.c7(of, state),
		vm.GasWithLimit(gas), stack, tvm.ExecutionConfig{Config: w.config})
	if err != nil {
		w.t.Fatalf("%s of %s: %v", method, of, err)
	}
	for res.Stack.Len() > 0 {
		value, err := res.Stack.PopAny()
		if err != nil {
			w.t.Fatal(err)
		}
		results = append([]any{value}, results...)
	}
	return res.ExitCode, res.GasUsed, results
}

func (w *world) c7(of *address.Address, state *tlb.AccountState) tuple.Tuple {
	unpacked, _ := w.block().UnpackedConfig()
	return tuple.NewTupleValue(tuple.NewTupleValue(
		big.NewInt(0x076ef1ea), big.NewInt(0), big.NewInt(0), big.NewInt(int64(w.now)),
		big.NewInt(int64(w.lt)), big.NewInt(int64(w.lt)), big.NewInt(1),
		tuple.NewTupleValue(state.Balance.Nano(), nil),
		cell.BeginCell().MustStoreAddr(of).ToSlice(), testConfig(), state.StateInit.Code,
		tuple.NewTupleValue(big.NewInt(0), nil), big.NewInt(0), nil, unpacked, big.NewInt(0), nil, nil,
	))
}

func slice(of *address.Address) *cell.Slice { return cell.BeginCell().MustStoreAddr(of).ToSlice() }

func intIn(t testing.TB, value any) *big.Int {
	t.Helper()
	number, ok := value.(*big.Int)
	if !ok {
		t.Fatalf("a number is %T", value)
	}
	return number
}

// show prints results of a get-method in one form: addresses raw, cells by
// their hash, other slices in hex.
func show(values ...any) (all []string) {
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			all = append(all, "null")
		case bool:
			if v {
				all = append(all, "-1")
			} else {
				all = append(all, "0")
			}
		case *address.Address:
			all = append(all, "address "+v.StringRaw())
		case *cell.Slice:
			if found, err := v.Copy().LoadAddr(); err == nil && (v.BitsLeft() == 267 || v.BitsLeft() == 2) {
				all = append(all, "address "+found.StringRaw())
			} else {
				all = append(all, fmt.Sprintf("bits %x", v.Copy().MustLoadSlice(v.BitsLeft())))
			}
		case *cell.Cell:
			if v == nil {
				all = append(all, "null")
				continue
			}
			all = append(all, fmt.Sprintf("cell %x", v.Hash()))
		case []byte:
			all = append(all, fmt.Sprintf("bits %x", v))
		default:
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

func expectValues(t testing.TB, what string, got []any, want ...any) {
	t.Helper()
	if g, w := fmt.Sprint(show(got...)), fmt.Sprint(show(want...)); g != w {
		t.Errorf("%s is\n  %s\nwant\n  %s", what, g, w)
	}
}

func seed(n uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 24), n)
}

func refOf(from *cell.Slice) *cell.Cell {
	ref, err := from.LoadRefCell()
	if err != nil {
		panic(err)
	}
	return ref
}

// list is a list of TVM as a slice, and its tuples as slices.
func list(t testing.TB, from any) (all []any) {
	t.Helper()
	for from != nil {
		link := from.(tuple.Tuple)
		head, err := link.Index(0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, flat(head))
		if from, err = link.Index(1); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func flat(value any) any {
	from, ok := value.(tuple.Tuple)
	if !ok {
		return value
	}
	var all []any
	for i := range from.Len() {
		one, err := from.Index(i)
		if err != nil {
			panic(err)
		}
		all = append(all, flat(one))
	}
	return all
}

func account(of *address.Address) *big.Int { return new(big.Int).SetBytes(of.Data()) }

func pair(workchain int64, of *address.Address) []any {
	return []any{big.NewInt(workchain), account(of)}
}
