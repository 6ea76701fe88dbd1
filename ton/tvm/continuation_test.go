package tvm_test

import (
	"math/big"
	"reflect"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

// Continuations that hold others cost what their instructions cost, however large they
// are as a tree.
func TestContinuationsInContinuationsCostNoMoreThanTheirGas(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		exit int
	}{
		// {}, 200 times { DUP, {}, SETCONTCTR c0, SETCONTCTR c1 }: 2^200 as a tree
		"doubled by register": {"3090" + "80C8" + "96" + "2090ED60ED61" + "E4", 0},
		// {}, 200 times { DUP, BOOLAND }: it is its own c0
		"doubled by composition": {"3090" + "80C8" + "93" + "20EDF0" + "E4", 0},
		// {}, 200 times { DUP, DUP, {}, SETCONTARGS 2 }: it holds itself twice
		"doubled by captured values": {"3090" + "80C8" + "95" + "2090EC2F" + "E4", 0},
		// { PUSHCTR c0, DROP, DUP, EXECUTE }, DUP, EXECUTE: the way back is copied at each step
		"recursion that copies the way back": {"3095" + "ED403020D8" + "20D8", -14},
		// { SAMEALT, DUP, EXECUTE }, DUP, EXECUTE
		"recursion with the same alternative": {"3094" + "EDFA20D8" + "20D8", -14},
		// { SAVEBOTH c1, DUP, EXECUTE }, DUP, EXECUTE
		"recursion that saves": {"3094" + "EDC120D8" + "20D8", -14},
	} {
		costtest.Check(t, func() {
			result, err := tvm.Run(t.Context(), hostileInput(t, assembly(t, c.code), 1_000_000))
			if err != nil || result.ExitCode != c.exit {
				t.Errorf("%s: exit code %d after %d gas, %v; want %d", name, result.ExitCode, result.GasUsed, err, c.exit)
			}
		})
	}
}

// What is done to a copy of a continuation is not done to the continuation.
func TestCopiesOfContinuationsAreTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		want tvm.Tuple
	}{
		// {ADD} with 5 captured; a copy of it captures 7 too; then 1 to the first: 5 + 1
		"captured values": {"30" + "91A0" + "7501EC1F" + "20" + "7701EC1F" + "30" + "7101D8", tvm.Tuple{big.NewInt(6)}},
		// {RETALT}; a copy of it has {2} in c1; the first one is executed
		"registers": {"30" + "92DB31" + "20" + "917201ED61" + "30" + "D9", tvm.Tuple{}},
		// {RETALT} with {2} in c1, DUP: the copy has it too
		"what is held by both": {"30" + "92DB31" + "917201ED61" + "20" + "30" + "D9", tvm.Tuple{big.NewInt(2)}},
	} {
		result, err := tvm.Run(t.Context(), hostileInput(t, assembly(t, c.code), 1_000_000))
		if err != nil || !result.OK() || !reflect.DeepEqual(result.Stack, c.want) {
			t.Errorf("%s: exit code %d, stack %v, %v; want %v", name, result.ExitCode, result.Stack, err, c.want)
		}
	}
}

// A continuation with more values than instructions name is not copied.
func TestContinuationsHoldNoMoreThanInstructionsName(t *testing.T) {
	for name, c := range map[string]struct {
		code string
		exit int
	}{
		// 255 times 1, {}, 255, -1, SETCONTVARARGS
		"as many as are named": {"30" + "8100FF" + "9171" + "E4" + "90" + "8100FF" + "7F" + "ED11", 0},
		// the same, with one value more captured by SETCONTARGS 1 afterwards
		"one more": {"30" + "8100FF" + "9171" + "E4" + "90" + "8100FF" + "7F" + "ED11" + "7101EC1F", 3},
		// 300 times 1, {}, {}, TRYARGS 0, 0
		"a stack that is copied": {"30" + "81012C" + "9171" + "E4" + "9090F300", 3},
	} {
		result, err := tvm.Run(t.Context(), hostileInput(t, assembly(t, c.code), 1_000_000))
		if err != nil || result.ExitCode != c.exit {
			t.Errorf("%s: exit code %d, %v; want %d", name, result.ExitCode, err, c.exit)
		}
	}
}

// A message that is large is counted once, whether it is sent, refused or sent anew in
// another one.
func TestLargeMessagesAreCountedOnce(t *testing.T) {
	large := wideTree(40_000)
	for name, code := range map[string]string{
		// SETGLOB 1; { { GETGLOB 1, 1, SENDRAWMSG } { 2DROP } TRY } AGAIN
		"refused again and again": "30F861" + "9A" + "95F84171FB00" + "915B" + "F2FF" + "EA",
		// { NEWC, ENDC, POPCTR c5, GETGLOB 1, 1, SENDRAWMSG } AGAIN
		"sent again and again": "30F861" + "99" + "C8C9ED55F84171FB00" + "EA",
		// SETGLOB 1; 0; { NEWC, ENDC, POPCTR c5, INC, DUP, NEWC, STU 32, GETGLOB 1, SWAP, STREF, ENDC, 1, SENDRAWMSG } AGAIN
		"in a new message each time": "30F86170" + "8E11" + "C8C9ED55A420C8CB1FF84101CCC971FB00" + "EA",
	} {
		in := hostileInput(t, assembly(t, code), 1_000_000)
		in.Stack = []any{large}
		costtest.Check(t, func() {
			result, err := tvm.Run(t.Context(), in)
			if err != nil || result.ExitCode != -14 {
				t.Errorf("%s: exit code %d after %d gas, %v; want -14", name, result.ExitCode, result.GasUsed, err)
			}
		})
	}
}

// What is too much to be remembered is not counted again and again.
func TestLargeListsInTurnCostNoMoreThanTheirGas(t *testing.T) {
	lists := []any{chains(1, 16, 1000), chains(2, 16, 1000)}
	for name, code := range map[string]string{
		// { PUSH s1, POPCTR c5, PUSH s0, POPCTR c5 } AGAIN
		"set": "30" + "96" + "21ED5520ED55" + "EA",
		// { PUSH s1, NEWC, STREF, ENDC, POPCTR c5, PUSH s0, NEWC, STREF, ENDC, POPCTR c5 } AGAIN
		"set in a new cell each time": "30" + "9C" + "21C8CCC9ED5520C8CCC9ED55" + "EA",
		// { PUSH s1, c0 PUSH, SETCONTCTR c5, DROP, PUSH s1, … } AGAIN
		"laid into continuations": "30" + "9E" + "21ED40ED653020ED40ED6530" + "0000" + "EA",
		// { PUSH s1, PUSH s1, 2, { POPCTR c5, POPCTR c5 }, RUNVM 0, DROP } AGAIN
		"set in machines of their own": "30" + "9D" + "2121728B4ED55ED558DB400030" + "EA",
	} {
		in := hostileInput(t, assembly(t, code), 1_000_000)
		in.Stack = lists
		costtest.Check(t, func() {
			result, err := tvm.Run(t.Context(), in)
			if err != nil || result.ExitCode != -14 {
				t.Errorf("%s: exit code %d after %d gas, %v; want -14", name, result.ExitCode, result.GasUsed, err)
			}
		})
	}
}

// chains is a tree of n chains, whose cells are so many trees of their own.
func chains(seed, n, length int) *cell.Cell {
	ends := make([]*cell.Cell, n)
	for i := range ends {
		ends[i] = cell.BeginCell().MustStoreUInt(uint64(seed), 32).MustStoreUInt(uint64(i), 32).EndCell()
		for range length {
			ends[i] = cell.BeginCell().MustStoreRef(ends[i]).EndCell()
		}
	}
	return treeOf(ends)
}

// wideTree has n leaves and about a third as many cells above them.
func wideTree(n int) *cell.Cell {
	level := make([]*cell.Cell, n)
	for i := range level {
		level[i] = cell.BeginCell().MustStoreUInt(uint64(i), 64).EndCell()
	}
	return treeOf(level)
}

// treeOf is a cell above the cells of a level.
func treeOf(level []*cell.Cell) *cell.Cell {
	for len(level) > 1 {
		var next []*cell.Cell
		for i := 0; i < len(level); i += 4 {
			b := cell.BeginCell()
			for _, c := range level[i:min(i+4, len(level))] {
				b.MustStoreRef(c)
			}
			next = append(next, b.EndCell())
		}
		level = next
	}
	return level[0]
}
