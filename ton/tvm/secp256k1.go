package tvm

import (
	"math/big"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/xssnick/tonutils-go/tvm/vm"
)

// tonutils-go calculates on secp256k1 with an inversion for each bit of a number, which
// takes some hundred times as long as other gas. Here are the two instructions in the time
// that their gas stands for; tonutils-go has only operands to refuse.

// usesSecp256k1 reports whether an instruction multiplies points of that curve.
func usesSecp256k1(name string) bool {
	return name == "ECRECOVER" || name == "SECP256K1_XONLY_PUBKEY_TWEAK_ADD"
}

// onSecp256k1 is such an instruction.
func onSecp256k1(name string) func(action) action {
	calculate, operands, gas := recovered, []int{256, 256, 8, 256}, int64(vm.EcrecoverGasPrice)
	if name != "ECRECOVER" {
		calculate, operands, gas = tweaked, []int{256, 256}, vm.Secp256k1XonlyPubkeyTweakAddGasPrice
	}
	return func(act action) action {
		return func(state *vm.State) error {
			numbers := make([]*big.Int, len(operands)) // the top of the stack first
			for i, size := range operands {
				value, err := state.Stack.Get(i)
				number, is := value.(*big.Int)
				if err != nil || !is || number.Sign() < 0 || number.BitLen() > size {
					return act(state)
				}
				numbers[i] = number
			}
			for range numbers {
				if _, err := state.Stack.PopAny(); err != nil {
					return err
				}
			}
			if err := state.ConsumeGas(gas); err != nil {
				return err
			}
			x, y, ok := calculate(numbers, state.GlobalVersion)
			if !ok {
				return state.Stack.PushBool(false)
			}
			for _, number := range []*big.Int{big.NewInt(uncompressed), x, y} {
				if err := state.Stack.PushInt(number); err != nil {
					return err
				}
			}
			return state.Stack.PushBool(true)
		}
	}
}

// uncompressed is the first byte of a key that is not compressed (SEC 1, 2.3.3).
const uncompressed = 4

// recovered is the key that has signed (SEC 1, 4.1.6), of s, r, v and the hash.
func recovered(numbers []*big.Int, version int) (x, y *big.Int, ok bool) {
	v := numbers[2].Uint64()
	if version >= 14 && (v == 27 || v == 28) {
		v -= 27
	}
	s, knownS := scalarOf(numbers[0])
	r, knownR := scalarOf(numbers[1])
	if v > 3 || !knownS || !knownR || s.IsZero() || r.IsZero() {
		return nil, nil, false
	}
	at := numbers[1]
	if v > 1 {
		at = new(big.Int).Add(at, secp256k1.Params().N)
	}
	from, ok := lifted(at, v&1 == 1)
	if !ok {
		return nil, nil, false
	}
	hash, _ := scalarOf(numbers[3]) // whatever it is
	inverse := r.InverseNonConst()
	hash.Mul(inverse).Negate()
	s.Mul(inverse)
	var ofBase, ofFrom, sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(hash, &ofBase)
	secp256k1.ScalarMultNonConst(s, from, &ofFrom)
	secp256k1.AddNonConst(&ofBase, &ofFrom, &sum)
	return affine(&sum)
}

// tweaked is a key of which x is known plus a multiple of the base point, of the multiple
// and x (BIP 340, BIP 341).
func tweaked(numbers []*big.Int, _ int) (x, y *big.Int, ok bool) {
	tweak, known := scalarOf(numbers[0])
	key, ok := lifted(numbers[1], false)
	if !known || !ok {
		return nil, nil, false
	}
	var ofBase, sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(tweak, &ofBase)
	secp256k1.AddNonConst(&ofBase, key, &sum)
	return affine(&sum)
}

// scalarOf is a number of up to 256 bits modulo the order of the curve; less says that it
// is below the order.
func scalarOf(n *big.Int) (scalar *secp256k1.ModNScalar, less bool) {
	scalar = new(secp256k1.ModNScalar)
	return scalar, !scalar.SetByteSlice(n.Bytes())
}

// lifted is the point with an x, and with an odd or even y.
func lifted(x *big.Int, odd bool) (*secp256k1.JacobianPoint, bool) {
	p := new(secp256k1.JacobianPoint)
	if x.BitLen() > 256 || p.X.SetByteSlice(x.Bytes()) || !secp256k1.DecompressY(&p.X, odd, &p.Y) {
		return nil, false
	}
	p.Y.Normalize()
	p.Z.SetInt(1)
	return p, true
}

// affine is where a point is; false for infinity.
func affine(p *secp256k1.JacobianPoint) (x, y *big.Int, ok bool) {
	p.ToAffine()
	if p.X.IsZero() && p.Y.IsZero() {
		return nil, nil, false
	}
	return new(big.Int).SetBytes(p.X.Bytes()[:]), new(big.Int).SetBytes(p.Y.Bytes()[:]), true
}
