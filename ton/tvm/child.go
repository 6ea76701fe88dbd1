package tvm

import (
	"strings"
	"weak"

	"github.com/xssnick/tonutils-go/tvm/tuple"
	"github.com/xssnick/tonutils-go/tvm/vm"
	"github.com/xssnick/tonutils-go/tvm/vmerr"
)

// tonutils-go copies the values that code gives to a machine of its own, and those that
// it gets back, with all that lies in their tuples, each value as often as it is referred
// to. A few instructions make a tuple that is 2^n values as a tree, so that these copies
// have a price here, by the time that they take. So has the search for tuples in a stack
// that is deep.
const (
	freeValues = 64
	valueGas   = 10 // of each other value in a tuple
	freeDepth  = 256
)

// maxMachines is how many machines run in each other. Each takes some kilobytes of the
// stack that they share, whose end would be that of the process.
const maxMachines = 256

var errMachines = vmerr.Error(vmerr.CodeStackOverflow, "too many machines run in each other")

// runsMachine reports whether an instruction runs a machine inside of the machine.
func runsMachine(name string) bool { return strings.HasPrefix(name, "RUNVM") }

// boundedMachine is an instruction that runs a machine, not too deep, and pays for the
// values in the tuples of the stack, before it, and of the stack that the machine leaves.
func boundedMachine(act action) action {
	return func(state *vm.State) error {
		above := runningOf(state)
		if above.depth >= maxMachines {
			return errMachines
		}
		if err := chargeTuples(state, state.Stack); err != nil {
			return err
		}
		// Only a copy of the state can have another runner for the time being.
		outer, parent := *state, *state
		parent.SetChildRunner(func(child *vm.State) (int64, error) {
			key := weak.Make(child)
			machines.Store(key, &running{depth: above.depth + 1, sizes: above.sizes})
			defer machines.Delete(key)
			exit, err := outer.RunChild(child)
			if err == nil && exit == vmerr.CodeOutOfGas { // which RunChild keeps to itself
				err = vmerr.Error(vmerr.CodeOutOfGas)
			}
			_ = chargeTuples(&parent, child.Stack) // what is missing then is found before the values are copied
			return exit, err
		})
		err := act(&parent)
		state.Stack, state.Gas, state.Steps = parent.Stack, parent.Gas, parent.Steps
		state.SignatureCheckCounter, state.GetExtraBalanceCounter = parent.SignatureCheckCounter, parent.GetExtraBalanceCounter
		return err
	}
}

func chargeTuples(state *vm.State, stack *vm.Stack) error {
	if err := state.ConsumeGas(int64(max(stack.Len()-freeDepth, 0))); err != nil {
		return err
	}
	limit := freeValues + max(state.Gas.Remaining, 0)/valueGas + 1
	n := int64(0)
	for i := range stack.Len() {
		value, err := stack.Get(i)
		if err != nil {
			return err
		}
		if n += valuesIn(value, limit-n); n >= limit {
			break
		}
	}
	return state.ConsumeGas(max(n-freeValues, 0) * valueGas)
}

// valuesIn returns how many values lie in a tuple, counted as a tree, or at least limit.
func valuesIn(value any, limit int64) int64 {
	t, is := value.(tuple.Tuple)
	if !is {
		return 0
	}
	n := int64(t.Len())
	for i := range t.Len() {
		if n >= limit {
			break
		}
		if inner, err := t.RawIndex(i); err == nil {
			n += valuesIn(inner, limit-n)
		}
	}
	return n
}
