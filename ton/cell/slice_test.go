package cell

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"
)

func TestSliceReadsWhatWasStored(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		b := tcell.BeginCell()
		type field struct {
			bits  uint
			value *big.Int
		}
		var fields []field
		for total := uint(0); ; {
			f := field{bits: uint(1 + r.IntN(256))}
			if total += f.bits; total > 1023 {
				break
			}
			f.value = new(big.Int)
			for range 4 {
				f.value.Lsh(f.value, 64).Or(f.value, new(big.Int).SetUint64(r.Uint64()))
			}
			f.value.Rsh(f.value, 256-f.bits)
			b.MustStoreBigUInt(f.value, f.bits)
			fields = append(fields, f)
		}
		bag, err := Parse(b.EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		for _, f := range fields {
			var got *big.Int
			switch {
			case f.bits == 1:
				got = big.NewInt(0)
				if s.Bool() {
					got = big.NewInt(1)
				}
			case f.bits <= 64:
				got = new(big.Int).SetUint64(s.Uint(f.bits))
			default:
				buf := make([]byte, (f.bits+7)/8)
				s.ReadBits(buf, int(f.bits))
				got = new(big.Int).SetBytes(buf)
				got.Rsh(got, uint(len(buf))*8-f.bits)
			}
			if got.Cmp(f.value) != 0 {
				t.Fatalf("%d bits: got %x, want %x", f.bits, got, f.value)
			}
		}
		if s.BitsLeft() != 0 || s.Err() != nil {
			t.Fatalf("%d bits left, %v", s.BitsLeft(), s.Err())
		}
		if s.Uint(1); !errors.Is(s.Err(), ErrUnderflow) {
			t.Fatalf("read past the end: %v", s.Err())
		}
	}
}

func TestAmountsOver64BitsFail(t *testing.T) {
	for _, c := range []struct {
		amount string
		want   error
	}{{"0", nil}, {"255", nil}, {"18446744073709551615", nil}, {"18446744073709551616", ErrAmount}} {
		amount, _ := new(big.Int).SetString(c.amount, 10)
		bag, err := Parse(tcell.BeginCell().MustStoreBigCoins(amount).EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		got := s.VarUint(4)
		if !errors.Is(s.Err(), c.want) || c.want == nil && got != amount.Uint64() {
			t.Errorf("%s: got %d, %v", c.amount, got, s.Err())
		}
	}
}

func TestAFailedSliceGivesZeros(t *testing.T) {
	if _, err := Parse(raw(true, "0946 03"+zeros+"0000 01", leafAB)); err == nil {
		t.Fatal("a wrong merkle proof was read")
	}
	bag, err := Parse(raw(true, "0842 02"+zeros))
	if err != nil {
		t.Fatal(err)
	}
	library := bag.Root(0).Slice()
	if !errors.Is(library.Err(), ErrPruned) {
		t.Errorf("exotic cell: %v", library.Err())
	}
	var empty Slice
	for _, s := range []Slice{library, empty} {
		buf := []byte{1, 2}
		s.ReadBits(nil, 0)
		s.Read(buf)
		label, n := s.Label(256)
		next := s.Next()
		if s.Uint(64) != 0 || s.Int(8) != 0 || s.Bool() || s.Unary() != 0 || s.VarUint(4) != 0 || s.Ref().Valid() ||
			buf[0] != 0 || buf[1] != 0 || label != [4]uint64{} || n != 0 || !next.Failed() || s.Err() == nil {
			t.Errorf("failed slice %+v gives something", s)
		}
		s.Skip(1)
		s.Skip(-1)
		s.FailTag()
	}
}

func TestLabelsOfAllFormsAreRead(t *testing.T) {
	for _, c := range []struct {
		bits string
		m    int
		want string
	}{
		{"00", 64, ""},
		{"01110" + "101", 64, "101"},
		{"10" + "0000011" + "110", 64, "110"},
		{"11" + "1" + "1000000", 64, strings.Repeat("1", 64)},
		{"11" + "0" + "000101", 33, "00000"},
		{"11" + "1" + "100000000", 256, strings.Repeat("1", 256)},
		{"10" + "001000001" + strings.Repeat("01", 32) + "1", 256, strings.Repeat("01", 32) + "1"},
	} {
		b := tcell.BeginCell()
		for _, bit := range c.bits {
			b.MustStoreBoolBit(bit == '1')
		}
		bag, err := Parse(b.EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		label, n := s.Label(c.m)
		var got strings.Builder
		for i := range n {
			got.WriteByte('0' + byte(label[i/64]>>(63-i%64)&1))
		}
		if got.String() != c.want || s.Err() != nil || s.BitsLeft() != 0 {
			t.Errorf("%s: got %s, %v", c.bits, got.String(), s.Err())
		}
		for _, r := range []labelReader{new(bag.Root(0).Slice()), NewReader(b.EndCell())} {
			key := bytes.Repeat([]byte{0xff, 0}, 18)
			length, err := ReadLabel(r, key, 5, uint(5+c.m))
			got.Reset()
			for i := range 8 * len(key) {
				got.WriteByte('0' + key[i/8]>>(7-i%8)&1)
			}
			around := strings.Repeat(strings.Repeat("1", 8)+strings.Repeat("0", 8), 18)
			if want := around[:5] + c.want + around[5+len(c.want):]; got.String() != want || err != nil || length != uint(len(c.want)) {
				t.Errorf("%s: %T: got %s, %v, want %s", c.bits, r, got.String(), err, want)
			}
		}
	}
}

func TestLabelsLongerThanTheirKeyAreRefused(t *testing.T) {
	for _, c := range []struct {
		bits string
		m    int
	}{
		{"01110" + "101", 2},
		{"10" + "11" + "110", 2},
		{"11" + "1" + "11", 2},
		{"11" + "1" + "100000001", 267},                      // longer than the keys of Label
		{"10" + "100000001" + strings.Repeat("1", 257), 267}, // the same
		{"0" + strings.Repeat("1", 257) + "0" + strings.Repeat("1", 257), 267}, // the same
	} {
		b := tcell.BeginCell()
		for _, bit := range c.bits {
			b.MustStoreBoolBit(bit == '1')
		}
		bag, err := Parse(b.EndCell().ToBOC())
		if err != nil {
			t.Fatal(err)
		}
		s := bag.Root(0).Slice()
		if label, n := s.Label(c.m); !errors.Is(s.Err(), ErrFormat) || n != 0 || label != [4]uint64{} {
			t.Errorf("%s of %d: got a label of %d bits, %v", c.bits, c.m, n, s.Err())
		}
		if c.m > 256 {
			continue
		}
		for _, r := range []labelReader{new(bag.Root(0).Slice()), NewReader(b.EndCell())} {
			if n, err := ReadLabel(r, make([]byte, 32), 0, uint(c.m)); err == nil {
				t.Errorf("%s of %d: %T: got a label of %d bits, %v", c.bits, c.m, r, n, err)
			}
		}
	}
}
