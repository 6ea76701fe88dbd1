package tvm_test

import (
	"math/big"
	"reflect"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

// makeTuple leaves a tuple that is 2^60 values as a tree: NULL, 60 times { DUP, PAIR }.
const makeTuple = "6D" + "803C" + "93206F02" + "E4"

// running is code that drops the method and then has the code of a machine in its first
// reference.
func running(t testing.TB, text, inner string) *cell.Cell {
	t.Helper()
	return assembly(t, "30"+text).ToBuilder().MustStoreRef(assembly(t, inner)).EndCell()
}

func TestTuplesThatGoToAnotherMachineAndBackCostNoMoreThanTheirGas(t *testing.T) {
	for name, code := range map[string]*cell.Cell{
		// 1, code, RUNVM 0
		"on the stack": running(t, makeTuple+"7189DB4000", ""),
		// 0, code, the tuple, RUNVM 16
		"as c7": running(t, makeTuple+"70"+"89"+"58"+"DB4010", ""),
		// the same with RUNVMX
		"on the stack, RUNVMX": running(t, makeTuple+"718970DB50", ""),
		// 0, code, RUNVM 0
		"back": running(t, "7089DB4000", makeTuple),
		// { DUP, 0, SWAP, RUNVM 0, 2DROP } 1,000 times, each of which leaves 2^10 values
		"back, again and again": running(t, "89"+"8103E8"+"97"+"207001DB40005B"+"E4", "6D"+"7A"+"93206F02"+"E4"),
	} {
		ends(t, name, func() {
			result, err := tvm.Run(t.Context(), hostileInput(t, code, 1_000_000))
			if err != nil || result.ExitCode != -14 {
				t.Errorf("%s: exit code %d after %d gas, %v; want -14", name, result.ExitCode, result.GasUsed, err)
			}
		})
	}
}

func TestMachinesOverADeepStackCostNoMoreThanTheirGas(t *testing.T) {
	// DROP; 0, 30000, { DUP } REPEAT; { 0, {}, RUNVM 0, DROP } AGAIN
	code := assembly(t, "30"+"70"+"817530"+"9120"+"E4"+"97"+"708B08DB400030"+"EA")
	costtest.Check(t, func() {
		result, err := tvm.Run(t.Context(), hostileInput(t, code, 1_000_000))
		if err != nil || result.ExitCode != -14 {
			t.Errorf("exit code %d after %d gas, %v; want -14", result.ExitCode, result.GasUsed, err)
		}
	})
}

// The code of each machine is that of the next: DUP, 1, SWAP, RUNVM 0.
func TestMachinesRunInEachOtherOnlySoDeep(t *testing.T) {
	const again = "207101DB4000"
	code := running(t, "89"+again, again)
	costtest.Check(t, func() {
		result, err := tvm.Run(t.Context(), hostileInput(t, code, 4_000_000))
		if err != nil || !result.OK() {
			t.Errorf("exit code %d after %d gas and %d steps, %v; want 0", result.ExitCode, result.GasUsed, result.Steps, err)
		}
	})
}

// Stack and gas are those of tonutils-go without a price for tuples.
func TestMachinesInTheMachineGiveBackWhatTheyDid(t *testing.T) {
	number := func(list ...int64) (stack tvm.Tuple) {
		for _, n := range list {
			stack = append(stack, big.NewInt(n))
		}
		return stack
	}
	pair := number(1, 2)
	for name, c := range map[string]struct {
		code *cell.Cell
		want tvm.Tuple
		gas  int64
	}{
		"numbers":                {running(t, "7089DB4000", "7172"), number(1, 2, 0), 274},
		"what was given":         {running(t, "757189DB4000", "A4"), number(6, 0), 274},
		"a tuple there and back": {running(t, "71726F02"+"7189DB4000", "206F02"), append(tvm.Tuple{tvm.Tuple{pair, pair}}, number(0)...), 348},
		"an exception":           {running(t, "7089DB4000", "F228"), number(0, 40), 309},
		"exception 13":           {running(t, "7089DB4000", "F20D"), number(0, -14), 309},
		"no more gas":            {running(t, "7089"+"8103E8"+"DB4008", "90EA"), number(1001, -14, 1001), 1268},
		"a gas count of its own": {running(t, "7089DB4080", "7172"), number(1, 2, 0), 274},
	} {
		result, err := tvm.Run(t.Context(), hostileInput(t, c.code, 1_000_000))
		if err != nil || !result.OK() || !reflect.DeepEqual(result.Stack, c.want) || result.GasUsed != c.gas {
			t.Errorf("%s: exit code %d, stack %v, %d gas, %v; want %v and %d", name, result.ExitCode, result.Stack, result.GasUsed, err, c.want, c.gas)
		}
	}
}
