package tvm_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/op/funcs"
	"github.com/xssnick/tonutils-go/tvm/tuple"
	"github.com/xssnick/tonutils-go/tvm/vm"

	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

// generator is the x of the base point, whose y is even.
var generator, _ = new(big.Int).SetString("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", 16)

// nowhere are operands that lead to the point at infinity: nobody's key.
var nowhere = map[int][]*big.Int{
	4: {big.NewInt(5), big.NewInt(0), generator, big.NewInt(5)}, // hash, v, r, s
	2: {generator, new(big.Int).Sub(order, big.NewInt(1))},      // key, tweak
}

var order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// curveOperands are numbers at the ends of their ranges, and any.
func curveOperands(random *rand.Rand) *big.Int {
	prime, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)
	switch n := new(big.Int); random.IntN(8) {
	case 0:
		return n.SetInt64(random.Int64N(4))
	case 1:
		return n.Sub(order, big.NewInt(random.Int64N(3)))
	case 2:
		return n.Sub(prime, big.NewInt(random.Int64N(3)))
	case 3:
		return n.Lsh(big.NewInt(1), uint(random.IntN(256)))
	default:
		for range 4 {
			n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(random.Uint64()))
		}
		return n
	}
}

func TestKeysOfSecp256k1AreThoseOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		op       *vm.OP
		code     string
		operands int
	}{{new(vm.OP(funcs.ECRECOVER())), "30 F912", 4}, {new(vm.OP(funcs.SECP256K1_XONLY_PUBKEY_TWEAK_ADD())), "30 F913", 2}} {
		found := 0
		for try := range 60 {
			state := vm.NewExecutionState(12, vm.GasWithLimit(1_000_000, 1_000_000), nil, tuple.NewTupleValue(), vm.NewStack())
			in := hostileInput(t, assembly(t, strings.ReplaceAll(c.code, " ", "")), 1_000_000)
			for i := range c.operands {
				n := curveOperands(random)
				if c.operands == 4 && i == 1 {
					n = big.NewInt(random.Int64N(5)) // v
				}
				if try == 0 {
					n = nowhere[c.operands][i]
				}
				in.Stack = append(in.Stack, n)
				if err := state.Stack.PushInt(n); err != nil {
					t.Fatal(err)
				}
			}
			_ = (*c.op).Interpret(state)
			if top, _ := state.Stack.Get(0); try == 0 && (state.Stack.Len() != 1 || top.(*big.Int).Sign() != 0) {
				t.Fatalf("%s of %v leaves %d values; the test proves nothing of infinity", c.code, in.Stack, state.Stack.Len())
			}
			result, err := tvm.Run(t.Context(), in)
			if err != nil || len(result.Stack) != state.Stack.Len() {
				t.Fatalf("%s of %v: %v, %v", c.code, in.Stack, result, err)
			}
			for i, value := range result.Stack {
				want, _ := state.Stack.Get(len(result.Stack) - 1 - i)
				if value.(*big.Int).Cmp(want.(*big.Int)) != 0 {
					t.Fatalf("%s of %v: value %d is %v, want %v", c.code, in.Stack, i, value, want)
				}
			}
			if len(result.Stack) == 4 {
				found++
			}
		}
		if found < 10 {
			t.Errorf("%s: %d keys", c.code, found)
		}
	}
}

func TestKeysOfSecp256k1TakeTheTimeOfTheirGas(t *testing.T) {
	for name, c := range map[string]struct {
		code     string
		operands []any
	}{
		// { 4 times PUSH s3, ECRECOVER, BLKDROP 4 } AGAIN
		"recovered": {"30 98 23232323F9125F04" + "EA", []any{new(big.Int).Sub(order, big.NewInt(5)), 0, 1, new(big.Int).Sub(order, big.NewInt(7))}},
		// { 4 times PUSH s3, ECRECOVER, DROP } AGAIN
		"recovered to infinity": {"30 97 23232323F91230" + "EA", []any{nowhere[4][0], nowhere[4][1], nowhere[4][2], nowhere[4][3]}},
		// { 2 times PUSH s1, SECP256K1_XONLY_PUBKEY_TWEAK_ADD, BLKDROP 4 } AGAIN
		"tweaked": {"30 96 2121F9135F04" + "EA", []any{1, new(big.Int).Sub(order, big.NewInt(7))}},
	} {
		in := hostileInput(t, assembly(t, strings.ReplaceAll(c.code, " ", "")), 500_000)
		in.Stack = c.operands
		costtest.Check(t, func() {
			result, err := tvm.Run(t.Context(), in)
			if err != nil || result.ExitCode != -14 {
				t.Errorf("%s: exit code %d after %d gas, %v; want -14", name, result.ExitCode, result.GasUsed, err)
			}
		})
	}
}
