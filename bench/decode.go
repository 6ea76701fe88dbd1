package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
)

func decodeCommand() *cobra.Command {
	var rounds int
	var round time.Duration
	cmd := &cobra.Command{
		Use:   "decode DIR|FILE…",
		Short: "Compare our decoder with tonutils-go's own on the same blocks",
		Long: `Compare our decoder with tonutils-go's own on the same blocks, in the same run.

Both start from the bytes of a block. Ours ends with the records that are written
to Kafka: with message hashes, bodies as bags of cells, all phases. tonutils-go
ends with its structs of the block and of all its transactions. Each round lets
both decode all blocks, in turns, on one core that also does the garbage
collection; the median round counts.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out := outputOf(cmd)
			set, err := loadBlocks(args)
			if err != nil {
				return err
			}
			out.note("%d blocks with %d transactions, %s bytes; %d other files", len(set.blocks), set.transactions, grouped(set.bytes), set.others)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			ours, theirs, err := set.compare(rounds, round)
			if err != nil {
				return err
			}
			printDecoders(out, ours, theirs)
			return out.err
		},
	}
	cmd.Flags().IntVar(&rounds, "rounds", 5, "how many rounds")
	cmd.Flags().DurationVar(&round, "round", time.Second, "how long a round of one decoder is at least")
	return cmd
}

type rawBlock struct {
	boc          []byte
	mcSeqno      uint32
	transactions int
}

type blockSet struct {
	blocks       []rawBlock
	transactions int
	bytes        int64
	others       int
}

// loadBlocks reads all blocks below the arguments with at least a transaction,
// and checks that both decoders see the same transactions in them.
func loadBlocks(args []string) (*blockSet, error) {
	set := &blockSet{}
	for _, arg := range args {
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || (path != arg && !strings.HasSuffix(path, ".boc")) {
				return err
			}
			return set.add(path)
		})
		if err != nil {
			return nil, err
		}
	}
	if set.transactions == 0 {
		return nil, fmt.Errorf("no block with transactions in %s", strings.Join(args, ", "))
	}
	return set, nil
}

func (s *blockSet) add(path string) error {
	boc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, problem := decode.Header(boc)
	if problem != nil { // a state or a proof
		s.others++
		return nil //nolint:nilerr // counted
	}
	b := rawBlock{boc: boc, mcSeqno: info.ID.Seqno}
	result, err := decode.Block(boc, b.mcSeqno)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	list, err := decodeTonutils(boc)
	if err != nil {
		return fmt.Errorf("%s: tonutils-go: %w", path, err)
	}
	if err := sameTransactions(result, list); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	b.transactions = len(list)
	if b.transactions == 0 {
		return nil
	}
	s.blocks = append(s.blocks, b)
	s.transactions += b.transactions
	s.bytes += int64(len(boc))
	return nil
}

func sameTransactions(ours *decode.Result, theirs []*tlb.Transaction) error {
	count := map[string]int{} // by hash
	for _, tx := range ours.Transactions {
		count[string(tx.Hash)]++
	}
	for _, tx := range theirs {
		count[string(tx.Hash)]--
	}
	for _, n := range count {
		if n != 0 {
			return errors.New("the two decoders find different transactions")
		}
	}
	return nil
}

func decodeTonutils(boc []byte) ([]*tlb.Transaction, error) {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil, err
	}
	slice, err := root.BeginParse()
	if err != nil {
		return nil, err
	}
	var block tlb.Block
	if err := tlb.LoadFromCell(&block, slice); err != nil {
		return nil, err
	}
	return block.ListTransactions()
}

// decoderRun is what one round, or the median round, of a decoder took.
type decoderRun struct {
	transactions int
	perSecond    float64
	allocations  float64 // per transaction
	bytes        float64 // per transaction
}

func (s *blockSet) compare(rounds int, round time.Duration) (ours, theirs decoderRun, err error) {
	decoder := &decode.Decoder{}
	runs := [2][]decoderRun{}
	decoders := [2]func(b *rawBlock) error{
		func(b *rawBlock) error { _, err := decoder.Block(b.boc, b.mcSeqno); return err },
		func(b *rawBlock) error { _, err := decodeTonutils(b.boc); return err },
	}
	for range max(1, rounds) {
		for i, decode := range decoders {
			run, err := s.run(round, decode)
			if err != nil {
				return ours, theirs, err
			}
			runs[i] = append(runs[i], run)
		}
	}
	return medianRun(runs[0]), medianRun(runs[1]), nil
}

func (s *blockSet) run(round time.Duration, decode func(*rawBlock) error) (decoderRun, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began, n := time.Now(), 0
	for n == 0 || time.Since(began) < round {
		for i := range s.blocks {
			if err := decode(&s.blocks[i]); err != nil {
				return decoderRun{}, err
			}
		}
		n += s.transactions
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	return decoderRun{
		transactions: n,
		perSecond:    float64(n) / took.Seconds(),
		allocations:  float64(after.Mallocs-before.Mallocs) / float64(n),
		bytes:        float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
	}, nil
}

func medianRun(runs []decoderRun) decoderRun {
	slices.SortFunc(runs, func(a, b decoderRun) int { return cmp.Compare(a.perSecond, b.perSecond) })
	return runs[len(runs)/2]
}

func printDecoders(out *output, ours, theirs decoderRun) {
	out.head("decoder", "transactions/s per core", "allocations/transaction", "bytes/transaction")
	for _, d := range []struct {
		name string
		run  decoderRun
	}{{"tonscribe", ours}, {"tonutils-go", theirs}} {
		cells := []string{d.name, number(d.run.perSecond), number(d.run.allocations), number(d.run.bytes)}
		out.row(cells,
			figure{"decode " + d.name, d.run.perSecond, "transactions/s", d.run.transactions},
			figure{"decode " + d.name + " allocations", d.run.allocations, "allocations/transaction", d.run.transactions},
			figure{"decode " + d.name + " memory", d.run.bytes, "bytes/transaction", d.run.transactions})
	}
	ratio := ours.perSecond / theirs.perSecond
	out.row([]string{"ratio", number(ratio), number(ours.allocations / theirs.allocations), number(ours.bytes / theirs.bytes)},
		figure{"decode ratio", ratio, "times tonutils-go", ours.transactions})
}
