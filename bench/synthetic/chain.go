package synthetic

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// ChainOptions say what WriteChain makes.
type ChainOptions struct {
	// Templates is a folder with block files (*.boc) of a real chain, searched
	// with all folders in it.
	Templates string
	// Out is the folder for the new block files. It is made if need be.
	Out string
	// Transactions is how many transactions the basechain blocks hold at least;
	// the last block is not cut short.
	Transactions int
	Seed         uint64
	// Progress, if not nil, is called after every bundle with what is there.
	Progress func(Chain)
}

// Chain says what WriteChain made.
type Chain struct {
	From, To     uint32 // masterchain seqnos
	Transactions int    // on both workchains
	Messages     int    // counted once at each end
	Accounts     int    // of the basechain
	Bytes        int64
}

const (
	// FatBlock is how many transactions a basechain block has at least to serve
	// as a template.
	FatBlock = 40

	chainUtime    = 1_735_689_600 // 2025-01-01
	bundleSeconds = 2
	// firstWindow keeps logical times in the length of today's.
	firstWindow   = uint64(1) << 45
	visits        = 10 // how often an account turns up in a block, on average
	minWindowBits = 20 // blocks of the main network are a million apart
)

// WriteChain repeats the fat blocks of a real chain as a new chain of N
// transactions, as block files block_<workchain>_<shard>_<seqno>.boc that begin
// with masterchain block 1. Every masterchain block commits one basechain block.
//
// What holds: every block names its parents, the masterchain names the shard
// blocks, by root hash and file hash; logical times and times grow; each round
// re-keys the accounts, so that an account turns up in about ten blocks, in all
// transactions and messages alike; the transactions of an account are chained by
// hash; the hashes of the messages of both ends agree; external messages differ
// from round to round (unless the body is too short for that); the state update
// shows every account that changed, with the hash that its last transaction
// names, and balances follow from the transactions. What does not, because an
// indexer has no use for it: the keys of InMsgDescr and OutMsgDescr, the
// addresses inside of message bodies, and all signatures are the template's; labels
// of dictionaries are not always the shortest; the old side of the state update is
// pruned away, all code is of library cells, and accounts begin with states that
// nobody has seen.
func WriteChain(ctx context.Context, o ChainOptions) (Chain, error) {
	set, err := readTemplates(o.Templates)
	if err != nil {
		return Chain{}, err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return Chain{}, err
	}
	w := newChainWriter(set, o)
	for w.chain.Transactions-w.masterTransactions < o.Transactions {
		if err := ctx.Err(); err != nil {
			return w.chain, err
		}
		if err := w.bundle(); err != nil {
			return w.chain, err
		}
		if o.Progress != nil {
			o.Progress(w.chain)
		}
	}
	return w.chain, nil
}

type templates struct {
	shards, masters []*template
	windowBits      int
}

func readTemplates(dir string) (*templates, error) {
	set := &templates{windowBits: minWindowBits}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".boc") {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		t, err := readTemplate(path, boc)
		if errors.Is(err, errTemplate) {
			return nil
		}
		if err == nil {
			set.add(t)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	if len(set.shards) == 0 || len(set.masters) == 0 {
		return nil, fmt.Errorf("templates: %s needs at least one block of shard 0:8000000000000000 with %d transactions or more"+
			" and one masterchain block with that single shard that is no key block; it has %d and %d",
			dir, FatBlock, len(set.shards), len(set.masters))
	}
	return set, nil
}

func (s *templates) add(t *template) {
	switch {
	case t.master():
		s.masters = append(s.masters, t)
	case t.transactions >= FatBlock:
		s.shards = append(s.shards, t)
	default:
		return
	}
	s.windowBits = max(s.windowBits, t.windowBits)
}

type chainWriter struct {
	set     *templates
	options ChainOptions
	random  *rand.Rand
	// ledgers are the last transactions by round of keys; the masterchain's
	// accounts keep their keys.
	ledgers []ledger
	master  ledger

	chain              Chain
	masterTransactions int
	lastShard          blockRef
	lastMaster         blockRef
	buffer             []byte
}

func newChainWriter(set *templates, o ChainOptions) *chainWriter {
	perRound := 0
	for _, t := range set.shards {
		perRound += t.transactions
	}
	w := &chainWriter{
		set: set, options: o, random: rand.New(rand.NewPCG(o.Seed, 1)),
		ledgers: make([]ledger, max(1, o.Transactions/perRound/visits)), master: ledger{},
		chain: Chain{From: 1},
	}
	for i := range w.ledgers {
		w.ledgers[i] = ledger{}
	}
	// Both chains go on from a zero state that nobody has.
	seeded(w.lastShard.rootHash[:], o.Seed, kindZeroState, 0)
	seeded(w.lastShard.fileHash[:], o.Seed, kindZeroState, 1)
	seeded(w.lastMaster.rootHash[:], o.Seed, kindZeroState, 2)
	seeded(w.lastMaster.fileHash[:], o.Seed, kindZeroState, 3)
	return w
}

// bundle writes the next basechain block and the masterchain block that commits it.
func (w *chainWriter) bundle() error {
	seqno := w.chain.To + 1
	shard := w.set.shards[(seqno-1)%uint32(len(w.set.shards))]
	master := w.set.masters[(seqno-1)%uint32(len(w.set.masters))]
	keys := w.random.IntN(len(w.ledgers))
	p := placement{
		seqno: seqno, globalID: w.set.masters[0].header.GlobalId,
		utime:  chainUtime + bundleSeconds*seqno,
		window: firstWindow + uint64(seqno)<<(w.set.windowBits+1), windowBits: w.set.windowBits,
		salt: mix(w.options.Seed ^ uint64(seqno)), prev: w.lastShard, masterRef: w.lastMaster,
	}
	var mask [32]byte
	seeded(mask[:], w.options.Seed, kindMask, uint64(keys))
	p.mask = keyOf(mask[:])
	seeded(p.randSeed[:], w.options.Seed, kindRandSeed, uint64(seqno)*2)
	var fresh int
	var err error
	if w.lastShard, fresh, err = w.block(shard, &p, w.ledgers[keys]); err != nil {
		return err
	}
	w.chain.Accounts += fresh
	p.window += 1 << w.set.windowBits
	p.prev, p.shard = w.lastMaster, w.lastShard
	seeded(p.randSeed[:], w.options.Seed, kindRandSeed, uint64(seqno)*2+1)
	if w.lastMaster, _, err = w.block(master, &p, w.master); err != nil {
		return err
	}
	w.masterTransactions += master.transactions
	w.chain.To = seqno
	return nil
}

func (w *chainWriter) block(t *template, p *placement, accounts ledger) (ref blockRef, fresh int, err error) {
	if w.buffer, ref, fresh, err = t.put(w.buffer[:0], p, accounts); err != nil {
		return ref, 0, fmt.Errorf("%s: %w", t.name, err)
	}
	name := fmt.Sprintf("block_%d_%016x_%d.boc", t.header.Id.Workchain, wholeShard, p.seqno)
	if err := os.WriteFile(filepath.Join(w.options.Out, name), w.buffer, 0o644); err != nil {
		return ref, 0, err
	}
	w.chain.Transactions += t.transactions
	w.chain.Messages += t.messages
	w.chain.Bytes += int64(len(w.buffer))
	return ref, fresh, nil
}
