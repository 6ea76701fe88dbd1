package stored_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/test/support/realdata"
)

// pack checks that a transaction comes back as it was, and that statements find
// its account and hash; it returns both sizes.
func pack(t *testing.T, tx *record.Transaction) (before, after int) {
	t.Helper()
	raw, err := tx.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := stored.Pack([]byte("before"), raw, tx)
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

// realTransactions hands out those of every block of the test data, of its archive
// packages, and those that lie there alone. folder is where they were found.
func realTransactions(t testing.TB, each func(folder string, tx *record.Transaction)) {
	t.Helper()
	dir := realdata.Path(t)
	var d decode.Decoder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		if err != nil || entry.IsDir() || !slices.Contains([]string{".boc", ".bin", ".pack"}, extension) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := [][]byte{content}
		if extension == ".pack" {
			files = packed(content)
		}
		folder, _ := filepath.Rel(dir, filepath.Dir(path))
		for _, boc := range files {
			if r, err := d.Block(boc, 7); err == nil {
				for _, tx := range r.Transactions {
					each(folder, tx)
				}
			} else if tx, err := d.Transaction(boc, 0); err == nil {
				each(folder, tx)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// packed are the files of an archive package.
func packed(content []byte) (files [][]byte) {
	const header = 2 + 2 + 4 // magic, length of the name, length of the data
	for at := 4; at < len(content); {
		name := int(binary.LittleEndian.Uint16(content[at+2:]))
		size := int(binary.LittleEndian.Uint32(content[at+4:]))
		at += header + name + size
		files = append(files, content[at-size:at])
	}
	return files
}

func TestEveryRealTransactionComesBackAsItWas(t *testing.T) {
	n, bodies, before, after := 0, 0, 0, 0
	realTransactions(t, func(_ string, tx *record.Transaction) {
		b, a := pack(t, tx)
		n, before, after = n+1, before+b, after+a
		bodies += len(messagesOf(tx))
	})
	if n < 3000 || after > before-(36+30)*bodies {
		t.Fatalf("%d transactions with %d bodies: %d bytes became %d", n, bodies, before, after)
	}
}

func messagesOf(tx *record.Transaction) []*record.Message {
	if tx.InMsg == nil {
		return tx.OutMsgs
	}
	return append(tx.OutMsgs[:len(tx.OutMsgs):len(tx.OutMsgs)], tx.InMsg)
}

// kept are the messages of a transaction as they are in its stored form.
func kept(t *testing.T, tx *record.Transaction) []*record.Message {
	t.Helper()
	raw, err := tx.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := stored.Pack(nil, raw, tx)
	if err != nil {
		t.Fatal(err)
	}
	form := new(record.Transaction)
	if err := form.UnmarshalVT(packed); err != nil {
		t.Fatal(err)
	}
	return messagesOf(form)
}

func TestHashesOfRealMessagesAreMadeAgain(t *testing.T) {
	type count struct{ messages, hashes, norms int } // hashes and norms are those that were kept
	networks := map[string]*count{}
	realTransactions(t, func(folder string, tx *record.Transaction) {
		network, _, _ := strings.Cut(folder, "_")
		c := networks[network]
		if c == nil {
			c = &count{}
			networks[network] = c
		}
		for _, m := range kept(t, tx) {
			c.messages++
			if len(m.Hash) != 1 {
				c.hashes++
			}
			if len(m.HashNorm) > 0 {
				c.norms++
			}
		}
	})
	all := 0
	for network, c := range networks {
		t.Logf("%s: of %d messages %d keep their hash, %d their hash_norm", network, c.messages, c.hashes, c.norms)
		// The first message of a chain has extra currencies.
		if c.hashes > 1+c.messages/1000 || c.norms > 0 {
			t.Errorf("%s: of %d messages %d keep their hash, %d their hash_norm", network, c.messages, c.hashes, c.norms)
		}
		all += c.messages
	}
	if len(networks) < 4 || all < 5000 {
		t.Errorf("only %d messages of %d networks", all, len(networks))
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

type encoded struct {
	raw []byte
	tx  *record.Transaction
}

// benchmarked are encoded transactions: synthetic ones and those of real blocks.
func benchmarked(b *testing.B, each func(b *testing.B, list []encoded)) {
	var list []encoded
	add := func(tx *record.Transaction) {
		raw, err := tx.MarshalVT()
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, encoded{raw, tx})
	}
	b.Run("synthetic", func(b *testing.B) {
		list = nil
		chain := synthetic.NewRows(synthetic.RowOptions{Transactions: 5000, Seed: 1})
		for bundle := chain.Next(); bundle != nil; bundle = chain.Next() {
			for _, tx := range bundle.Transactions {
				add(tx)
			}
		}
		each(b, list)
	})
	b.Run("real", func(b *testing.B) {
		list = nil
		realTransactions(b, func(_ string, tx *record.Transaction) { add(tx) })
		each(b, list)
	})
}

func packAll(b *testing.B, list []encoded) (packed [][]byte, bytes int) {
	for _, e := range list {
		p, err := stored.Pack(nil, e.raw, e.tx)
		if err != nil {
			b.Fatal(err)
		}
		packed, bytes = append(packed, p), bytes+len(p)
	}
	return packed, bytes
}

func BenchmarkPack(b *testing.B) {
	benchmarked(b, func(b *testing.B, list []encoded) {
		_, bytes := packAll(b, list)
		var dst []byte
		var err error
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			if dst, err = stored.Pack(dst[:0], list[i%len(list)].raw, list[i%len(list)].tx); err != nil {
				b.Fatal(err)
			}
			i++
		}
		b.ReportMetric(float64(bytes)/float64(len(list)), "bytes/tx")
	})
}

func BenchmarkUnpack(b *testing.B) {
	benchmarked(b, func(b *testing.B, list []encoded) {
		packed, _ := packAll(b, list)
		i := 0
		b.ReportAllocs()
		for b.Loop() {
			if err := stored.Unpack(new(record.Transaction), packed[i%len(packed)]); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}
