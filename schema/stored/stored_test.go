package stored_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/decode"
	"tonscribe/internal/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/test/realdata"
)

// pack checks that a transaction comes back as it was, and that statements find
// its account and hash; it returns both sizes.
func pack(t *testing.T, tx *record.Transaction) (before, after int) {
	t.Helper()
	raw, err := tx.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := stored.Pack([]byte("before"), raw)
	if err != nil {
		t.Fatalf("transaction %x: %v", tx.Hash, err)
	}
	packed, ok := bytes.CutPrefix(packed, []byte("before"))
	if !ok {
		t.Fatalf("transaction %x: what was there before is not", tx.Hash)
	}
	if !bytes.Equal(packed[6:38], schema.AccountID(tx.Account)) || !bytes.Equal(packed[40:72], tx.Hash) {
		t.Fatalf("transaction %x of %x: its stored form begins %x", tx.Hash, tx.Account, packed[:72])
	}
	back := new(record.Transaction)
	if err := stored.Unpack(back, packed); err != nil {
		t.Fatal(err)
	}
	if !back.EqualVT(tx) {
		t.Fatalf("transaction %x came back as\n%v\nand was\n%v", tx.Hash, back, tx)
	}
	return len(raw), len(packed)
}

func TestEveryRealTransactionComesBackAsItWas(t *testing.T) {
	dir := realdata.Path(t)
	var d decode.Decoder
	n, bodies, before, after := 0, 0, 0, 0
	err := filepath.WalkDir(filepath.Join(dir, "blocks"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".boc") && !strings.HasSuffix(path, ".bin") {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		r, err := d.Block(boc, 7)
		if err != nil {
			return nil // not a block of its own
		}
		for _, tx := range r.Transactions {
			b, a := pack(t, tx)
			n, before, after = n+1, before+b, after+a
			for _, m := range append(tx.OutMsgs, tx.InMsg) {
				if len(m.GetBody()) > 0 {
					bodies++
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 3000 || after > before-36*bodies {
		t.Fatalf("%d transactions with %d bodies: %d bytes became %d", n, bodies, before, after)
	}
}

func TestBodiesThatAreNoBagsStayAsTheyAre(t *testing.T) {
	chain := synthetic.NewRows(synthetic.RowOptions{Transactions: 200, Seed: 1})
	for range 5 {
		for _, tx := range chain.Next().Transactions {
			pack(t, tx)
			for _, change := range []func(*record.Message){
				func(m *record.Message) { m.Body = nil },
				func(m *record.Message) { m.Body = []byte{1, 2, 3, 4, 5} },
				func(m *record.Message) { m.Body = bytes.Clone(m.Body); m.Body[len(m.Body)-1] ^= 1 },
				func(m *record.Message) { m.Body = bytes.Clone(m.Body[:len(m.Body)-4]); m.Body[4] &^= 0x40 },
			} {
				other := tx.CloneVT()
				change(other.InMsg)
				pack(t, other)
			}
		}
	}
}

func TestDamagedFormsAreErrors(t *testing.T) {
	tx := synthetic.NewRows(synthetic.RowOptions{Transactions: 20, Seed: 1}).Next().Transactions[0]
	raw, err := tx.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		if _, err := stored.Pack(nil, raw[:n]); err == nil && n < 80 {
			t.Fatalf("%d of %d bytes were packed", n, len(raw))
		}
	}
	packed, err := stored.Pack(nil, raw)
	if err != nil {
		t.Fatal(err)
	}
	body := tx.InMsg.Body[:len(tx.InMsg.Body)-4]
	at := bytes.Index(packed, body)
	if at < 0 {
		t.Fatalf("body %x is not in %x", body, packed)
	}
	packed[at] ^= 1 // the magic of the bag
	if err := stored.Unpack(new(record.Transaction), packed); err == nil {
		t.Fatal("a body that is no bag of cells was read")
	}
}

func BenchmarkPack(b *testing.B) {
	raw, err := synthetic.NewRows(synthetic.RowOptions{Transactions: 20, Seed: 1}).Next().Transactions[3].MarshalVT()
	if err != nil {
		b.Fatal(err)
	}
	var dst []byte
	for b.Loop() {
		if dst, err = stored.Pack(dst[:0], raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	raw, err := synthetic.NewRows(synthetic.RowOptions{Transactions: 20, Seed: 1}).Next().Transactions[3].MarshalVT()
	if err != nil {
		b.Fatal(err)
	}
	packed, err := stored.Pack(nil, raw)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := stored.Unpack(new(record.Transaction), packed); err != nil {
			b.Fatal(err)
		}
	}
}
