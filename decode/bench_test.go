package decode

import (
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// benchmarkBlocks are the real blocks with at least 20 transactions, or a built
// one when there are none.
func benchmarkBlocks(b *testing.B) (bocs [][]byte, txs int) {
	if !realdata.There() {
		return [][]byte{sample().boc(b)}, 13
	}
	for _, f := range blockFiles(b) {
		if n := f.number(b, "txs"); n >= 20 {
			bocs = append(bocs, f.boc)
			txs += int(n)
		}
	}
	return bocs, txs
}

func report(b *testing.B, txs int) {
	b.ReportMetric(float64(txs)*float64(b.N)/b.Elapsed().Seconds(), "tx/s")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(txs)/float64(b.N), "ns/tx")
}

func BenchmarkBlock(b *testing.B) {
	bocs, txs := benchmarkBlocks(b)
	var d Decoder
	b.ReportAllocs()
	for b.Loop() {
		for _, boc := range bocs {
			if _, err := d.Block(boc, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, txs)
}

func BenchmarkKnownBlock(b *testing.B) {
	bocs, txs := benchmarkBlocks(b)
	var d Decoder
	var ids []*record.BlockId
	for _, boc := range bocs {
		info, err := d.Header(boc)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, info.ID)
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, boc := range bocs {
			if _, err := d.Known(ids[i], boc, 1); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, txs)
}

func BenchmarkHeader(b *testing.B) {
	bocs, txs := benchmarkBlocks(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, boc := range bocs {
			if _, err := Header(boc); err != nil {
				b.Fatal(err)
			}
		}
	}
	report(b, txs)
}

// BenchmarkTonutilsBlock reads the same blocks with tonutils-go: block and all
// transactions with their in message, as its ListTransactions gives them, and
// the out messages, which it reads on demand.
func BenchmarkTonutilsBlock(b *testing.B) {
	bocs, txs := benchmarkBlocks(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, boc := range bocs {
			readTonutils(b, boc)
		}
	}
	report(b, txs)
}

// BenchmarkAgainstTonutils does all of the above in turn, so that a busy machine
// slows all of them, and compares the fastest rounds.
func BenchmarkAgainstTonutils(b *testing.B) {
	bocs, txs := benchmarkBlocks(b)
	var d Decoder
	var ids []*record.BlockId
	for _, boc := range bocs {
		info, err := d.Header(boc)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, info.ID)
	}
	best := map[string]float64{}
	round := func(what string, read func(i int, boc []byte) error) {
		start := time.Now()
		for i, boc := range bocs {
			if err := read(i, boc); err != nil {
				b.Fatal(err)
			}
		}
		best[what] = max(best[what], float64(txs)/time.Since(start).Seconds())
	}
	for b.Loop() {
		round("tonutils", func(_ int, boc []byte) error { readTonutils(b, boc); return nil })
		round("Header", func(_ int, boc []byte) error { _, err := d.Header(boc); return err })
		round("Block", func(_ int, boc []byte) error { _, err := d.Block(boc, 1); return err })
		round("Known", func(i int, boc []byte) error { _, err := d.Known(ids[i], boc, 1); return err })
	}
	for what, rate := range best {
		b.ReportMetric(rate, what+"-tx/s")
	}
	b.ReportMetric(best["Block"]/best["tonutils"], "Block/tonutils")
	b.ReportMetric(best["Known"]/best["tonutils"], "Known/tonutils")
}

func readTonutils(b *testing.B, boc []byte) {
	root, err := tcell.FromBOC(boc)
	if err != nil {
		b.Fatal(err)
	}
	var block tlb.Block
	if err := tlb.Parse(&block, root); err != nil {
		b.Fatal(err)
	}
	list, err := block.ListTransactions()
	if err != nil {
		b.Fatal(err)
	}
	for _, tx := range list {
		if tx.IO.Out != nil {
			if _, err := tx.IO.Out.ToSlice(); err != nil {
				b.Fatal(err)
			}
		}
	}
}
