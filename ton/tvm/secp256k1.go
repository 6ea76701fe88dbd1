package tvm

import (
	"math/big"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/vm"
)

// tonutils-go calculates on secp256k1 with an inversion for each bit of a number, which
// takes some hundred times as long as other gas. Here are the two instructions in the time
// that their gas stands for; what they refuse tonutils-go refuses at once.

// usesSecp256k1 reports whether an instruction multiplies points of that curve.
func usesSecp256k1(name string) bool {
	return name == "ECRECOVER" || name == "SECP256K1_XONLY_PUBKEY_TWEAK_ADD"
}

// onSecp256k1 is such an instruction.
func onSecp256k1(name string) func(action) action {
	calculate, operands, gas := recovered, 4, int64(vm.EcrecoverGasPrice)
	if name != "ECRECOVER" {
		calculate, operands, gas = tweaked, 2, vm.Secp256k1XonlyPubkeyTweakAddGasPrice
	}
	return func(act action) action {
		return func(state *vm.State) error {
			numbers := make([]*big.Int, operands) // the top of the stack first
			for i := range numbers {
				value, err := state.Stack.Get(i)
				number, is := value.(*big.Int)
				if err != nil || !is || number.Sign() < 0 || number.BitLen() > 256 {
					return act(state)
				}
				numbers[i] = number
			}
			if state.Gas.Remaining < gas {
				return act(state)
			}
			x, y, ok := calculate(numbers, state.GlobalVersion)
			if !ok {
				return act(state)
			}
			if err := state.ConsumeGas(gas); err != nil {
				return err
			}
			for range numbers {
				if _, err := state.Stack.PopAny(); err != nil {
					return err
				}
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
	s, r, hash := numbers[0], numbers[1], numbers[3]
	if numbers[2].BitLen() > 8 {
		return nil, nil, false
	}
	v := numbers[2].Uint64()
	if version >= 14 && (v == 27 || v == 28) {
		v -= 27
	}
	if v > 3 || r.Sign() == 0 || s.Sign() == 0 || r.Cmp(curveOrder) >= 0 || s.Cmp(curveOrder) >= 0 {
		return nil, nil, false
	}
	at := new(big.Int).Set(r)
	if v > 1 {
		at.Add(at, curveOrder)
	}
	from, ok := lifted(at, uint(v&1))
	if !ok {
		return nil, nil, false
	}
	inverse := new(big.Int).ModInverse(r, curveOrder)
	ofBase := new(big.Int).Neg(hash)
	ofBase.Mod(ofBase.Mul(ofBase, inverse), curveOrder)
	ofFrom := new(big.Int).Mul(s, inverse)
	return sumOf(ofBase, ofFrom.Mod(ofFrom, curveOrder), from).affine()
}

// tweaked is a key of which x is known plus a multiple of the base point, of the multiple
// and x (BIP 340, BIP 341).
func tweaked(numbers []*big.Int, _ int) (x, y *big.Int, ok bool) {
	key, ok := lifted(numbers[1], 0)
	if !ok || numbers[0].Cmp(curveOrder) >= 0 {
		return nil, nil, false
	}
	return sumOf(numbers[0], big.NewInt(1), key).affine()
}

// The curve is y² = x³ + 7 over the integers modulo the prime 2^256 - primeRest (SEC 2, 2.4.1).
const primeRest = 1<<32 + 977

var (
	prime       = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(primeRest))
	rootOf      = new(big.Int).Rsh(new(big.Int).Add(prime, big.NewInt(1)), 2) // a number to this power is its root, if it has one
	curveOrder  = fromHex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	curveBase   = curvePoint{elementOf(fromHex("79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")), elementOf(fromHex("483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8")), element{1}}
	primeDigits = elementDigits(prime)
)

func fromHex(digits string) *big.Int {
	n, _ := new(big.Int).SetString(digits, 16)
	return n
}

// lifted is the point with an x, and with an odd or even y.
func lifted(x *big.Int, odd uint) (p curvePoint, ok bool) {
	if x.Cmp(prime) >= 0 {
		return p, false
	}
	p = curvePoint{x: elementOf(x), z: element{1}}
	square := p.x.times(p.x).times(p.x).plus(element{7})
	root := element{1}
	for i := rootOf.BitLen() - 1; i >= 0; i-- {
		if root = root.times(root); rootOf.Bit(i) == 1 {
			root = root.times(square)
		}
	}
	if p.y = root; root.times(root) != square {
		return p, false
	}
	if root[0]&1 != uint64(odd) {
		p.y = element{}.minus(root)
	}
	return p, true
}

// element is an integer modulo the prime, the lowest digits first.
type element [4]uint64

func elementDigits(n *big.Int) (e element) {
	var raw [32]byte
	n.FillBytes(raw[:])
	for i, b := range raw {
		e[3-i/8] = e[3-i/8]<<8 | uint64(b)
	}
	return e
}

// elementOf is a number below the prime.
func elementOf(n *big.Int) element { return elementDigits(n) }

func (e element) big() *big.Int {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(e[i]))
	}
	return n
}

// reduced is a number of 256 bits and a carry, which is below twice the prime.
func (e element) reduced(carry uint64) element {
	var less element
	var borrow uint64
	for i := range e {
		less[i], borrow = bits.Sub64(e[i], primeDigits[i], borrow)
	}
	if carry == 0 && borrow == 1 {
		return e
	}
	return less
}

func (e element) plus(other element) element {
	var carry uint64
	for i := range e {
		e[i], carry = bits.Add64(e[i], other[i], carry)
	}
	return e.reduced(carry)
}

func (e element) minus(other element) element {
	var borrow, carry uint64
	for i := range e {
		e[i], borrow = bits.Sub64(e[i], other[i], borrow)
	}
	if borrow == 1 {
		for i := range e {
			e[i], carry = bits.Add64(e[i], primeDigits[i], carry)
		}
	}
	return e
}

func (e element) times(other element) element {
	var product [8]uint64
	for i := range e {
		var above uint64
		for j := range other {
			high, low := bits.Mul64(e[i], other[j])
			var carry uint64
			low, carry = bits.Add64(low, product[i+j], 0)
			high += carry
			low, carry = bits.Add64(low, above, 0)
			product[i+j], above = low, high+carry
		}
		product[i+4] = above
	}
	// 2^256 is primeRest: the upper half is added that often, and what that has above again.
	var e2 element
	var above, carry uint64
	for i := range e2 {
		high, low := bits.Mul64(product[i+4], primeRest)
		low, carry = bits.Add64(low, product[i], 0)
		high += carry
		e2[i], carry = bits.Add64(low, above, 0)
		above = high + carry
	}
	high, low := bits.Mul64(above, primeRest)
	e2[0], carry = bits.Add64(e2[0], low, 0)
	e2[1], carry = bits.Add64(e2[1], high, carry)
	e2[2], carry = bits.Add64(e2[2], 0, carry)
	e2[3], carry = bits.Add64(e2[3], 0, carry)
	return e2.reduced(carry)
}

func (e element) twice() element { return e.plus(e) }

// curvePoint is a point x/z², y/z³; z is 0 at infinity.
type curvePoint struct{ x, y, z element }

func (p curvePoint) doubled() curvePoint {
	a, b := p.x.times(p.x), p.y.times(p.y)
	c := b.times(b)
	d := p.x.plus(b)
	d = d.times(d).minus(a).minus(c).twice()
	e := a.twice().plus(a)
	x := e.times(e).minus(d.twice())
	return curvePoint{x, e.times(d.minus(x)).minus(c.twice().twice().twice()), p.y.times(p.z).twice()}
}

func (p curvePoint) plus(q curvePoint) curvePoint {
	switch (element{}) {
	case p.z:
		return q
	case q.z:
		return p
	}
	pp, qq := p.z.times(p.z), q.z.times(q.z)
	u, s := p.x.times(qq), p.y.times(qq).times(q.z)
	h, r := q.x.times(pp).minus(u), q.y.times(pp).times(p.z).minus(s)
	if h == (element{}) {
		if r == (element{}) {
			return p.doubled()
		}
		return curvePoint{}
	}
	hh := h.times(h)
	hhh, v := hh.times(h), u.times(hh)
	x := r.times(r).minus(hhh).minus(v.twice())
	return curvePoint{x, r.times(v.minus(x)).minus(s.times(hhh)), p.z.times(q.z).times(h)}
}

// sumOf is a multiple of the base point plus one of another point.
func sumOf(ofBase, ofOther *big.Int, other curvePoint) (sum curvePoint) {
	var parts [16]curvePoint // by two bits of each multiple
	for i := 1; i < len(parts); i++ {
		if i < 4 {
			parts[i] = parts[i-1].plus(curveBase)
		} else {
			parts[i] = parts[i-4].plus(other)
		}
	}
	for i := (max(ofBase.BitLen(), ofOther.BitLen()) + 1) &^ 1; i > 0; i -= 2 {
		sum = sum.doubled().doubled()
		if which := ofBase.Bit(i-1)<<1 | ofBase.Bit(i-2) | ofOther.Bit(i-1)<<3 | ofOther.Bit(i-2)<<2; which != 0 {
			sum = sum.plus(parts[which])
		}
	}
	return sum
}

// affine is where a point is; false for infinity.
func (p curvePoint) affine() (x, y *big.Int, ok bool) {
	if p.z == (element{}) {
		return nil, nil, false
	}
	inverse := elementOf(new(big.Int).ModInverse(p.z.big(), prime))
	square := inverse.times(inverse)
	return p.x.times(square).big(), p.y.times(square).times(inverse).big(), true
}
