package chain

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// fee is a value of ShardFees.
func fee(n int64) *cell.Builder {
	return storeCurrency(cell.BeginCell(), big.NewInt(n), big.NewInt(n/2))
}

func TestMapsEqualThoseOfTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	ours := augmented{bits: 96, aug: tlb.AugShardFees{}}
	theirs, err := tlb.NewShardFeesAugDict()
	must(t, err)
	held := map[string]bool{}
	for round := range 60 {
		changed := map[string]bool{}
		var changes []change
		for range r.IntN(40) {
			// few different first bytes: deep forks; long runs of zeros and ones
			key := bytes.Repeat([]byte{byte(r.IntN(2)) * 0xff}, 12)
			for i := range r.IntN(3) {
				key[i*4] = byte(r.IntN(5))
			}
			key[11] = byte(r.IntN(64))
			if changed[string(key)] {
				continue
			}
			changed[string(key)] = true
			k := cell.BeginCell().MustStoreSlice(key, 96).EndCell()
			if held[string(key)] && r.IntN(2) == 0 {
				delete(held, string(key))
				changes = append(changes, change{key, nil})
				must(t, theirs.Delete(k))
				continue
			}
			held[string(key)] = true
			value := fee(r.Int64N(1e12))
			changes = append(changes, change{key, value})
			must(t, theirs.Set(k, value.EndCell()))
		}
		ours, err = ours.update(changes)
		must(t, err)
		got := ours.toCell()
		want, err := theirs.ToCell()
		must(t, err)
		if got.HashKey() != want.HashKey() {
			t.Fatalf("round %d: map %x with %d keys, the library's is %x", round, got.Hash(), len(held), want.Hash())
		}
		sameKeysHeld(t, ours, held)
	}
}

func sameKeysHeld(t *testing.T, m augmented, held map[string]bool) {
	t.Helper()
	n := 0
	must(t, m.walk(func(key []byte, _ *cell.Slice) error {
		n++
		if !held[string(key)] {
			t.Fatalf("key %x is there", key)
		}
		_, err := m.get(key)
		return err
	}))
	if n != len(held) {
		t.Fatalf("%d keys, want %d", n, len(held))
	}
	if _, err := m.get(bytes.Repeat([]byte{0xab}, 12)); !errors.Is(err, errAbsent) {
		t.Fatalf("a key that was never set: %v", err)
	}
}

func TestPartsOfAMapMakeTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	m := augmented{bits: 96, aug: tlb.AugShardFees{}}
	var changes []change
	for range 200 {
		key := make([]byte, 12)
		for i := range key {
			key[i] = byte(r.IntN(256))
		}
		changes = append(changes, change{key, fee(r.Int64N(1e12))})
	}
	m, err := m.update(changes)
	must(t, err)
	left, right := m.part([]byte{0x00}, 1), m.part([]byte{0x80}, 1)
	for _, c := range changes {
		_, inLeft := left.get(c.key)
		_, inRight := right.get(c.key)
		if (inLeft == nil) == (inRight == nil) || (inLeft == nil) != (bitOf(c.key, 0) == 0) {
			t.Fatalf("key %x: left %v, right %v", c.key, inLeft, inRight)
		}
	}
	if whole := left.with(right); whole.root.HashKey() != m.root.HashKey() {
		t.Fatalf("both parts make %x, want %x", whole.root.Hash(), m.root.Hash())
	}
	if none := m.part(append(bytes.Repeat([]byte{0xab}, 11), 0), 88); none.root != nil {
		t.Fatalf("a part without keys has %v", none.root)
	}
}

func TestDeletingWhatIsNotThereFails(t *testing.T) {
	m := augmented{bits: 96, aug: tlb.AugShardFees{}}
	m, err := m.update([]change{{make([]byte, 12), fee(5)}})
	must(t, err)
	if _, err := m.update([]change{{bytes.Repeat([]byte{1}, 12), nil}}); !errors.Is(err, errAbsent) {
		t.Fatalf("error is %v", err)
	}
}
