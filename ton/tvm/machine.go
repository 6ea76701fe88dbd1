package tvm

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"weak"

	machine "github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/op/helpers"
	"github.com/xssnick/tonutils-go/tvm/vm"
	"github.com/xssnick/tonutils-go/tvm/vmerr"
)

// Gas bounds what instructions do, with these exceptions of tonutils-go: it
// walks the messages that a contract sends as a tree, writes cells out as text
// for debug instructions and for opcodes that do not exist, both whether anybody
// reads the text or not, and copies continuations, and the tuples that go from one
// machine to another, with all that they hold. Contracts make cells, continuations and
// tuples that are 2^500 as a tree for little gas.
// Machine closes these ways for every machine of the process.

// MaxActionCells bounds the list of a transaction's actions, with the messages
// that it sends, counted as a tree. TON allows 255 messages of 2^13 cells; no
// contract that is in use comes near either.
const MaxActionCells = 1 << 16

// Machine is the machine of the process, whose work is bounded by its gas, for many
// goroutines at once. This program has no other. The first call makes it: to find
// instructions takes tables that are twice as long in the making as all else that a
// process of this program begins with, and few processes execute anything.
var Machine = sync.OnceValue(func() *machine.TVM {
	for i, getter := range vm.List {
		vm.List[i] = bounded(getter)
	}
	vm.List = append(vm.List, func() vm.OP { return unknownOpcode{} })
	return machine.NewTVM()
})

// bounded is the same instruction with its work bounded.
func bounded(getter vm.OPGetter) vm.OPGetter {
	name := nameOf(getter())
	if name == "DUMPSTK" || name == "STRDUMP" || strings.HasPrefix(name, "DUMP s") {
		return acting(getter, func(func(*vm.State) error) func(*vm.State) error {
			return func(*vm.State) error { return nil }
		})
	}
	for _, way := range []struct {
		taken   bool
		replace func(action) action
	}{
		{setsActions(name), checkedAfter},
		{savesRegister(name), checkedBefore},
		{holdsContinuations(name), sharing},
		{copiesTheRest(name), withShallowStack},
		{runsMachine(name), boundedMachine},
		{name == "HASHSU", raising},
		{usesSecp256k1(name), onSecp256k1(name)},
	} {
		if way.taken {
			getter = acting(getter, way.replace)
		}
	}
	return getter
}

// raising is an instruction that raises what it panics with where that is an exception:
// tonutils-go makes the cell of HASHSU so that it panics where the gas is not enough.
func raising(act action) action {
	return func(state *vm.State) (err error) {
		defer func() {
			if broken := recover(); broken != nil {
				raised, is := broken.(error)
				if _, isException := vmerr.AsVMError(raised); !is || !isException {
					panic(broken)
				}
				err = raised
			}
		}()
		return act(state)
	}
}

// setsActions reports whether an instruction may change register c5.
func setsActions(name string) bool {
	switch name {
	case "SENDRAWMSG", "SENDMSG", "RAWRESERVE", "RAWRESERVEX", "SETCODE", "SETLIBCODE", "CHANGELIB", "POPCTRX":
		return true
	}
	return strings.HasSuffix(name, " POP") || strings.HasSuffix(name, " POPSAVE")
}

// savesRegister reports whether an instruction may lay a cell of the stack into
// a continuation, from where it becomes c5 without an instruction.
func savesRegister(name string) bool {
	return name == "SETCONTCTRX" || strings.HasSuffix(name, " SETCONTCTR") || strings.HasSuffix(name, " SETRETCTR") || strings.HasSuffix(name, " SETALTCTR")
}

// nameOf is the text of an instruction without arguments; some have none.
func nameOf(op vm.OP) (name string) {
	defer func() { _ = recover() }()
	return op.SerializeText()
}

type action = func(*vm.State) error

// acting replaces what an instruction does.
func acting(getter vm.OPGetter, replace func(action) action) vm.OPGetter {
	return func() vm.OP {
		switch op := getter().(type) {
		case *helpers.SimpleOP:
			op.Action = replace(op.Action)
			return op
		case *helpers.AdvancedOP:
			op.Action = replace(op.Action)
			return op
		case pricedOp:
			return replacedOp{op, replace(op.Interpret)}
		default:
			panic(fmt.Sprintf("instruction %s is of a kind that is not known", nameOf(op)))
		}
	}
}

type pricedOp interface {
	vm.OP
	vm.GasPricedOp
}

// replacedOp is an instruction of a type of its own that does something else.
type replacedOp struct {
	pricedOp
	action action
}

func (op replacedOp) Interpret(state *vm.State) error { return op.action(state) }

// checkedAfter is an instruction that may change c5. What is too large raises a
// cell overflow, and c5 stays as it was.
func checkedAfter(act action) action {
	return func(state *vm.State) error {
		before := state.Reg.D[1]
		err := act(state)
		if state.Reg.D[1] == before {
			return err
		}
		if !runningOf(state).sizes.allowed(state.Reg.D[1]) {
			state.Reg.D[1] = before
			return errActions
		}
		return err
	}
}

// registerOperands is how far down the stack the cell for a register may be.
const registerOperands = 3

// checkedBefore is an instruction that lays a cell into a continuation. Only a
// cell that could be c5 passes; data of contracts is set otherwise.
func checkedBefore(act action) action {
	return func(state *vm.State) error {
		for i := range min(registerOperands, state.Stack.Len()) {
			value, err := state.Stack.Get(i)
			if c, ok := value.(*cell.Cell); err == nil && ok && !runningOf(state).sizes.allowed(c) {
				return errActions
			}
		}
		return act(state)
	}
}

var errActions = vmerr.Error(vmerr.CodeCellOverflow, "the actions are too large")

// unknownOpcode is what every instruction is that no longer prefix names.
type unknownOpcode struct{}

func (unknownOpcode) GetPrefixes() []*cell.Slice {
	return helpers.PrefixSlices(helpers.UIntPrefix(0, 1), helpers.UIntPrefix(1, 1))
}
func (unknownOpcode) Deserialize(*cell.Slice) error { return nil }
func (unknownOpcode) Serialize() *cell.Builder      { return cell.BeginCell() }
func (unknownOpcode) SerializeText() string         { return "UNKNOWN" }
func (unknownOpcode) Reusable() bool                { return true }
func (unknownOpcode) Interpret(state *vm.State) error {
	if err := state.ConsumeGas(vm.InstructionBaseGasPrice); err != nil {
		return err
	}
	return vmerr.Error(vmerr.CodeInvalidOpcode, "opcode not found")
}

const (
	// maxCounted is how many cells are counted in a run, those of its lists and of what
	// is laid into continuations: lists that a contract makes one after the other.
	maxCounted = 2 * MaxActionCells
	// smallTree is the size in cells up to which trees are walked through each time.
	smallTree = 64
)

// actionSizes counts cells of trees in a run and keeps the sizes: a tree is walked
// through once, however often it is sent, alone or in others. What one run has counted
// is nothing to others, which end the same whatever ran before them.
type actionSizes struct {
	cells map[cell.Hash]uint64
	left  int // cells that may still be walked through
}

// tooManyCells is the size of everything that is too large.
const tooManyCells = MaxActionCells + 1

// allowed reports whether a list is within MaxActionCells.
func (s *actionSizes) allowed(list *cell.Cell) bool {
	return list == nil || s.count(list.WithoutTrace()) <= MaxActionCells
}

// count returns the number of cells of a tree.
func (s *actionSizes) count(tree *cell.Cell) uint64 {
	key := tree.HashKey()
	if cells, is := s.cells[key]; is {
		return cells
	}
	if s.left--; s.left < 0 {
		return tooManyCells
	}
	cells := uint64(1)
	for i := range int(tree.RefsNum()) {
		child, err := tree.PeekRef(i)
		if err != nil {
			return tooManyCells
		}
		if cells += s.count(child); cells > MaxActionCells {
			cells = tooManyCells
			break
		}
	}
	if cells > smallTree {
		s.cells[key] = cells
	}
	return cells
}

// running is what there is besides the state of a machine that runs.
type running struct {
	depth int // of machines in which it runs
	sizes *actionSizes
}

// machines are those that run, by their state.
var machines sync.Map // weak.Pointer[vm.State] to *running

// runningOf returns what belongs to a state, for as long as somebody has the state.
func runningOf(state *vm.State) *running {
	key := weak.Make(state)
	if known, is := machines.Load(key); is {
		return known.(*running)
	}
	r := &running{sizes: &actionSizes{cells: map[cell.Hash]uint64{}, left: maxCounted}}
	machines.Store(key, r)
	runtime.AddCleanup(state, func(key weak.Pointer[vm.State]) { machines.Delete(key) }, key)
	return r
}
