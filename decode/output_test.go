package decode

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// large is a tree of about so many bytes, no two cells of it alike.
func large(size int, seed byte) *tcell.Cell {
	chunk := make([]byte, 127)
	chunk[0] = seed
	leaf := func(n int) *tcell.Cell {
		binary.BigEndian.PutUint32(chunk[1:], uint32(n))
		return begin().MustStoreSlice(chunk, 127*8).EndCell()
	}
	var level []*tcell.Cell
	for n := range max(1, size/129) {
		level = append(level, leaf(n))
	}
	for len(level) > 1 {
		var above []*tcell.Cell
		for len(level) > 0 {
			b := begin()
			for range min(4, len(level)) {
				b.MustStoreRef(level[0])
				level = level[1:]
			}
			above = append(above, b.EndCell())
		}
		level = above
	}
	return level[0]
}

// carrying is a message of lt whose body is a cell.
func carrying(lt uint64, body *tcell.Cell) *tcell.Cell {
	return internal(lt, "1", plain, func(b *tcell.Builder) *tcell.Builder { return b.MustStoreUInt(0b01, 2).MustStoreRef(body) })
}

// sending is a transaction whose out_msgs are a tree of 14 forks above a leaf
// that is one message: 16,384 of them in 15 cells.
func sending(message *tcell.Cell) *tcell.Cell {
	node := begin().MustStoreUInt(0b0, 1).MustStoreUInt(0b10, 2).MustStoreBoolBit(false).MustStoreRef(message).EndCell() // hml_short, one bit
	for range 14 {
		node = begin().MustStoreUInt(0, 2).MustStoreRef(node).MustStoreRef(node).EndCell()
	}
	messages := begin().MustStoreMaybeRef(nil).MustStoreMaybeRef(node).EndCell()
	update := begin().MustStoreUInt(0x72, 8).MustStoreSlice(account(0xaa), 256).MustStoreSlice(account(0xbb), 256).EndCell()
	b := begin().MustStoreUInt(7, 4).MustStoreSlice(account(0x11), 256).MustStoreUInt(100, 64).MustStoreSlice(account(0xcc), 256).
		MustStoreUInt(99, 64).MustStoreUInt(1700000000, 32).MustStoreUInt(1<<14, 15).MustStoreUInt(0b1110, 4)
	return currency(b.MustStoreRef(messages), "5000", nil).MustStoreRef(update).MustStoreRef(descriptions()[1]).EndCell()
}

func blockOf(t *testing.T, txs map[uint64]*tcell.Cell) []byte {
	t.Helper()
	b := sample()
	b.txs = map[byte]map[uint64]*tcell.Cell{0x11: txs}
	return b.boc(t)
}

func TestAMessageIsSentAndReceivedOnce(t *testing.T) {
	message := carrying(7, large(1<<10, 0))
	tx := func(lt uint64, in *tcell.Cell, out ...*tcell.Cell) *tcell.Cell {
		return transactionCell(0x11, lt, in, out, descriptions()[1])
	}
	for name, c := range map[string]struct {
		txs  map[uint64]*tcell.Cell
		says string
	}{
		"sent and received":     {map[uint64]*tcell.Cell{101: tx(101, nil, message), 102: tx(102, message)}, ""},
		"sent by two":           {map[uint64]*tcell.Cell{101: tx(101, nil, message), 102: tx(102, nil, message)}, "twice"},
		"received by two":       {map[uint64]*tcell.Cell{101: tx(101, message), 102: tx(102, message)}, "twice"},
		"two of one lt":         {map[uint64]*tcell.Cell{101: tx(101, nil, carrying(7, large(9, 1)), carrying(7, large(9, 2)))}, "of lt 7"},
		"sent 16,384 times":     {map[uint64]*tcell.Cell{100: sending(carrying(7, large(1<<20, 0)))}, "twice"},
		"small and many a time": {map[uint64]*tcell.Cell{100: sending(carrying(7, large(9, 0)))}, "twice"},
	} {
		boc := blockOf(t, c.txs)
		_, err := Block(boc, 1)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "block (0,8000000000000000,42)") {
			t.Errorf("%s: error %v, want one with the block's id and %q", name, err, c.says)
		}
	}
}

// A body that several hundred messages share is written for each of them, as long as
// there is room. Whoever pays for so many stops nobody, and hides nothing small.
func TestABlockThatSharesTooMuchIsTakenWithoutWhatIsLarge(t *testing.T) {
	const messages = 250
	for size, cut := range map[int]bool{100 << 10: false, 1 << 20: true} {
		body, small := large(size, 0), large(3<<10, 1)
		var out []*tcell.Cell
		for n := range messages {
			out = append(out, carrying(uint64(n+1), body))
		}
		out = append(out, carrying(messages+1, small))
		txs := map[uint64]*tcell.Cell{300: transactionCell(0x11, 300, nil, out, descriptions()[1])}
		for i, m := range out {
			txs[uint64(1000+i)] = transactionCell(0x11, uint64(1000+i), m, nil, descriptions()[1])
		}
		boc := blockOf(t, txs)
		if _, err := Header(boc); err != nil {
			t.Errorf("header of a block with bodies of %d bytes: %v", size, err)
		}
		r, err := Block(boc, 1)
		if err != nil {
			t.Errorf("block with bodies of %d bytes: %v", size, err)
			continue
		}
		written, whole := 0, 0
		for _, tx := range r.Transactions[1:] {
			if written += len(tx.InMsg.Body); tx.InMsg.Body != nil {
				whole++
			}
		}
		if limit := outputLimit(len(boc)) + alwaysOutput; written > limit || whole == messages+1 == cut {
			t.Errorf("%d of %d bodies of %d bytes are written, %d bytes; at most %d may be, and some should be left out: %t", whole, messages+1, size, written, limit, cut)
		}
		last := r.Transactions[messages+1].InMsg
		if !bytes.Equal(last.BodyHash, small.Hash()) || len(last.Body) == 0 {
			t.Errorf("beside bodies of %d bytes, a small one has %d bytes and the hash %X, want %X", size, len(last.Body), last.BodyHash, small.Hash())
		}
		if left := r.Transactions[messages].InMsg; !bytes.Equal(left.BodyHash, body.Hash()) {
			t.Errorf("body hash %X, want %X", left.BodyHash, body.Hash())
		}
	}
}

// 250 messages with one body of 100 KiB are 25 MiB, more than a record of the log.
func TestBodiesBeyondTheBoundAreLeftToThoseWhoReceiveThem(t *testing.T) {
	const messages = 250
	body := large(100<<10, 0)
	var out []*tcell.Cell
	for n := range messages {
		message := carrying(uint64(n+1), body)
		if n == messages-1 {
			message = carrying(uint64(n+1), large(9, 1)) // small enough for what is left
		}
		out = append(out, message)
	}
	received := transactionCell(0x11, 301, out[messages-2], nil, descriptions()[1])
	boc := blockOf(t, map[uint64]*tcell.Cell{300: transactionCell(0x11, 300, nil, out, descriptions()[1]), 301: received})
	r, err := Block(boc, 1)
	if err != nil {
		t.Fatal(err)
	}
	sender, receiver := r.Transactions[0], r.Transactions[1]
	if size := sender.SizeVT(); size > schema.Transactions.MaxMessageBytes {
		t.Errorf("the record has %d bytes, the log takes %d", size, schema.Transactions.MaxMessageBytes)
	}
	whole := 0
	for i, m := range sender.OutMsgs {
		if i < messages-1 && !bytes.Equal(m.BodyHash, body.Hash()) {
			t.Errorf("message %d: body hash %X, want %X", i, m.BodyHash, body.Hash())
		}
		if len(m.Body) == 0 {
			continue
		}
		if whole++; whole != i+1 && i != messages-1 {
			t.Errorf("message %d has a body, and one before has none", i)
		}
	}
	size := len(sender.OutMsgs[0].Body)
	if want := maxSent/size + 1; whole != want || len(sender.OutMsgs[messages-1].Body) == 0 {
		t.Errorf("%d bodies of %d bytes are there, want %d with the small one at the end", whole, size, want)
	}
	if !bytes.Equal(receiver.InMsg.Body, sender.OutMsgs[0].Body) {
		t.Errorf("who receives a message without body in its sender's record has a body of %d bytes, want %d", len(receiver.InMsg.Body), size)
	}
	for _, tx := range r.Transactions {
		raw, err := tx.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		packed, err := stored.Pack(nil, raw, tx)
		if err != nil {
			t.Fatal(err)
		}
		back := new(record.Transaction)
		if err := stored.Unpack(back, packed); err != nil || !back.EqualVT(tx) {
			t.Errorf("transaction of lt %d is not the same after it was stored: %v", tx.Lt, err)
		}
	}
}

func TestRealBlocksStayFarBelowTheBound(t *testing.T) {
	var d Decoder
	var most float64
	var largest, read int
	var where string
	for _, f := range append(blockFiles(t), packedBlocks(t)...) {
		r, err := d.Block(f.boc, 7)
		if err != nil {
			t.Fatalf("%s: %v", f.fields["file"], err)
		}
		read++
		written := outputLimit(len(f.boc)) - d.output
		if ratio := float64(written) / float64(len(f.boc)); ratio > most {
			most, where = ratio, f.fields["file"]
		}
		if largest = max(largest, written); written > outputLimit(len(f.boc))/8 {
			t.Errorf("%s: %d bytes of output of a block of %d", name(r.Block.Id), written, len(f.boc))
		}
	}
	t.Logf("output is at most %.1f times a block (%s), %d bytes of %d blocks", most, where, largest, read)
}

// Of a part of an account's cells a store would not know what is missing.
func TestCellsForWhichThereIsNoRoomAreLeftOutTogether(t *testing.T) {
	var d Decoder
	root, err := d.open(large(100<<10, 0).ToBOC(), d.bag.Parse)
	if err != nil {
		t.Fatal(err)
	}
	small := root.Ref(0).Ref(0).Ref(0)
	d.recorder.Begin(&d.bag)
	d.output = 10 << 10
	if got := d.record(nil, root); len(got) != 0 {
		t.Errorf("%d records of cells that need more than there is", len(got))
	}
	d.output = -1
	if got, want := d.record(nil, small), 1+small.Refs(); len(got) != want || got[0].Hash != *small.Hash() {
		t.Errorf("%d records of a few cells, want %d", len(got), want)
	}
}
