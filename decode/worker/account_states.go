package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"tonscribe/decode"
	"tonscribe/decode/cellstore"
	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// maxCells is how many cells a code or a data tree may have that is put
// together from the store.
const maxCells = 4096

// accountStates completes the accounts of one partition's bundles, in their order, with
// what the store has. Of what is put, Write makes the store's when the bundles
// are published: a bundle that is done again then finds what it found before.
type accountStates struct {
	*Component
	partition  int
	batch      *cellstore.Batch
	decoder    decode.Decoder
	assembler  cell.Assembler
	writer     cell.Writer
	codes      *memory[struct{}] // hashes of codes that were published
	data       *memory[tree]     // data by its hash; what has no BoC is too large
	shared     *memory[struct{}] // hashes of dictionaries of libraries that were published
	incomplete *incompleteAccounts
	fetcher    *fetcher            // nil without lite servers
	horizon    uint32              // the last bundle that the log has whole, of those before it began, or had
	lacks      bool                // something was missed
	received   map[[32]byte][]byte // cells of the bundle's messages
	broken     error               // of the store
	last       uint32              // mc_seqno of the last bundle
}

func newAccountStates(ctx context.Context, c *Component, source *kafka.PartitionReader) (*accountStates, error) {
	partition := source.Partition
	k := &accountStates{Component: c, partition: partition, batch: cellstore.NewBatch(), received: map[[32]byte][]byte{},
		codes: newMemory[struct{}](1 << 16), data: newMemory[tree](16 << 20), shared: newMemory[struct{}](1 << 10)}
	k.incomplete = &incompleteAccounts{batch: k.batch, accounts: map[string]*record.Account{}}
	if k.fetcher = newFetcher(c, partition, k.batch); k.fetcher != nil {
		seal, err := c.kafka.LastSeal(ctx, schema.Accounts.Name, partition)
		if err != nil {
			return nil, err
		}
		k.horizon = source.Published(seal.GetMcSeqno())
	}
	if c.cells == nil {
		return k, nil
	}
	var err error
	if k.last, err = c.cells.Mark(partition); err != nil {
		return nil, err
	}
	if err := k.fetcher.load(); err != nil {
		return nil, err
	}
	return k, k.incomplete.load(c, partition)
}

// tree is a BoC and the depth of its cells.
type tree struct {
	boc   []byte
	depth int
}

// load is the record of a cell, nil when nobody has it.
func (k *accountStates) load(hash *[32]byte) ([]byte, error) {
	if r := k.batch.Get(hash); r != nil {
		return r, nil
	}
	if k.cells != nil {
		r, err := k.cells.Get(hash)
		if err != nil {
			k.broken = err
		}
		if r != nil || err != nil {
			return r, err
		}
	}
	r := k.received[*hash]
	if r != nil {
		k.batch.Put(*hash, r)
	}
	return r, nil
}

// missed says that something of an account is not to be had, and why when that
// is not simply that nobody has seen it. Only a store that does not answer is an
// error: the bundle is done again when it does.
func (k *accountStates) missed(what string, hash []byte, reason error) error {
	if k.broken != nil {
		return k.broken
	}
	k.lacks = true
	k.metrics.missing.WithLabelValues(what).Inc()
	var nobody *cell.Absent
	if reason != nil && !errors.As(reason, &nobody) {
		k.report.Log.Warn().Err(reason).Str("what", what).Hex("hash", hash).Msg("cells of an account do not fit")
	}
	return nil
}

// accountChange is an account on its way into a bundle's records.
type accountChange struct {
	*record.Account
	change *decode.Change // the last one
}

// keep completes the changes of a bundle's blocks and gives its accounts by
// (workchain, account), and the codes that were not published yet.
func (k *accountStates) keep(ctx context.Context, b *bundle) error {
	if k.cells != nil && b.prev != k.last && b.mcSeqno > k.last {
		k.metrics.gaps.WithLabelValues(fmt.Sprint(k.partition)).Inc()
		k.report.Log.Warn().Int("partition", k.partition).Uint32("after", k.last).Uint32("before", b.mcSeqno).
			Msg("the log does not have these bundles any more, and the cell store has not seen them: what they changed comes from lite servers, or stays unknown until it changes again")
	}
	k.last = b.mcSeqno
	if k.cells == nil {
		k.batch.Reset() // or what is known would depend on what is published together
	}
	if err := k.seed(ctx, b); err != nil {
		return err
	}
	if err := k.arrived(b); err != nil {
		return err
	}
	clear(k.received)
	for _, j := range b.jobs {
		for _, c := range j.changes {
			k.put(c.NewCells)
		}
		for _, r := range j.received {
			k.received[r.Hash] = r.Record
		}
		if j.config != nil {
			b.config = j.config
		}
	}
	accounts := map[string]*accountChange{}
	for _, j := range b.chronological() {
		for _, c := range j.changes {
			if err := k.change(c, accounts); err != nil {
				return fmt.Errorf("block %s, account %x: %w", blockName(j.id), c.Account, err)
			}
			if c.Problem != nil {
				k.metrics.problems.Inc()
				k.report.Log.Error().Err(c.Problem).Str("block", blockName(j.id)).Hex("account", c.Account).
					Msg("the states of an account are not known")
			}
		}
	}
	if err := k.complete(b, accounts); err != nil {
		return err
	}
	b.late = k.incomplete.take()
	k.batch.Mark(k.partition, b.mcSeqno)
	return nil
}

func (k *accountStates) put(cells []decode.CellRecord) {
	for _, c := range cells {
		k.batch.Put(c.Hash, c.Record)
	}
}

// change fills in what the block does not show of a change.
func (k *accountStates) change(c *decode.Change, accounts map[string]*accountChange) error {
	r := accounts[string(c.Account)]
	if r == nil {
		r = &accountChange{Account: &record.Account{Account: c.Account}}
		accounts[string(c.Account)] = r
	}
	r.change = c
	if c.Problem != nil {
		return nil //nolint:nilerr // it is an alarm, and told as one
	}
	if err := k.before(c); err != nil {
		return err
	}
	return k.extra(c)
}

// before finds the state before the change.
func (k *accountStates) before(c *decode.Change) error {
	if decode.NoAccount(c.HashBefore()) {
		return nil
	}
	known, err := k.load((*[32]byte)(c.HashBefore()))
	if err != nil {
		return err
	}
	if known == nil {
		k.put(c.OldCells)
	}
	if c.Before != nil {
		return nil
	}
	if known == nil {
		return k.missed("before", c.HashBefore(), nil)
	}
	state, err := k.decoder.AccountState(known)
	if err != nil {
		return k.missed("before", c.HashBefore(), err)
	}
	c.Problem = c.SetBefore(state)
	return nil
}

// extra finds extra currencies that the block shows in part.
func (k *accountStates) extra(c *decode.Change) error {
	if c.Extra == nil || c.Problem != nil {
		return nil //nolint:nilerr // as above
	}
	dict, err := k.assembler.Assemble(c.Extra, maxCells, k.load)
	if err != nil {
		return k.missed("extra", c.Extra[:], err)
	}
	c.Problem = k.decoder.SetExtra(c, dict)
	return nil
}

// complete turns the bundle's accounts into records, in their order: that decides
// whose libraries there is room for.
func (k *accountStates) complete(b *bundle, accounts map[string]*accountChange) error {
	codes := map[string]*record.Code{}
	inOrder := func(x, y *accountChange) int { return compareAccounts(x.Account.Account, y.Account.Account) }
	for _, r := range slices.SortedFunc(maps.Values(accounts), inOrder) {
		last := r.change.Transactions[len(r.change.Transactions)-1]
		r.McSeqno, r.LastTransLt, r.LastTransHash, r.Now = b.mcSeqno, last.Lt, last.Hash, last.Now
		r.Hash, r.State = last.StateHashAfter, r.change.After
		if r.State == nil {
			r.State = &record.AccountState{Status: last.EndStatus, Partial: true}
		}
		k.lacks = r.State.ExtraUnknown
		if err := k.content(r, codes); err != nil {
			return fmt.Errorf("account %x: %w", r.Account.Account, err)
		}
		if err := k.libraries(r.change.Libraries, b); err != nil {
			return fmt.Errorf("account %x: libraries: %w", r.Account.Account, err)
		}
		if !k.lacks || r.change.Problem != nil {
			k.fetcher.wantNoMore(r.Account.Account)
		} else if err := k.fetcher.want(r, b.seal.Master); err != nil {
			return err
		}
		b.accounts = append(b.accounts, r.Account)
		k.incomplete.forget(r.Account.Account)
	}
	for _, code := range codes {
		b.codes = append(b.codes, code)
	}
	slices.SortFunc(b.codes, func(x, y *record.Code) int { return bytes.Compare(x.Hash, y.Hash) })
	slices.SortFunc(b.libraries, func(x, y *record.Library) int { return bytes.Compare(x.Hash, y.Hash) })
	return nil
}

// libraries adds those of an account to the bundle; hash is that of their
// dictionary, nil for none. Where others have left no room for them, they are told
// when the account changes again, or lite servers have given it.
func (k *accountStates) libraries(hash *[32]byte, b *bundle) error {
	if hash == nil {
		return nil
	}
	if _, ok := k.shared.get(*hash); ok {
		return nil
	}
	dict, err := k.assembler.Assemble(hash, maxCells, k.load)
	var list []*record.Library
	if err == nil {
		list, err = k.decoder.Libraries(dict)
	}
	if errors.Is(err, cell.ErrLimit) { // nobody is told of so many
		k.shared.put(*hash, struct{}{}, 1)
		return nil
	}
	if err != nil {
		return k.missed("libraries", hash[:], err)
	}
	size := 0
	for _, l := range list {
		size += len(l.Boc)
	}
	if b.libraryBytes > 0 && b.libraryBytes+size > decode.MaxLibraryBytes {
		return k.missed("libraries", hash[:], nil)
	}
	b.libraryBytes += size
	k.shared.put(*hash, struct{}{}, 1)
	b.libraries = append(b.libraries, list...)
	return nil
}

func compareAccounts(x, y []byte) int {
	return cmp.Or(cmp.Compare(schema.Workchain(x), schema.Workchain(y)), bytes.Compare(x, y))
}

// content gives an account its data, and its code to codes when nobody has it.
func (k *accountStates) content(r *accountChange, codes map[string]*record.Code) error {
	state := r.State
	if len(state.CodeHash) == 32 && codes[string(state.CodeHash)] == nil {
		code, err := k.code([32]byte(state.CodeHash), r.change)
		if err != nil {
			return fmt.Errorf("code: %w", err)
		}
		if code != nil {
			codes[string(state.CodeHash)] = code
		}
	}
	if len(state.DataHash) != 32 {
		return nil
	}
	data, err := k.dataOf([32]byte(state.DataHash), r.change)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	r.Data, r.DataDepth = data.boc, uint32(data.depth)
	return nil
}

// code is the code with the hash, nil when it was published before, is too large, or
// is not to be had.
func (k *accountStates) code(hash [32]byte, c *decode.Change) (*record.Code, error) {
	if _, ok := k.codes.get(hash); ok {
		return nil, nil
	}
	boc, methods := c.Code, c.CodeMethods
	if boc == nil {
		whole, err := k.assemble(&hash, decode.MaxCodeBytes)
		if err == nil {
			boc = whole.boc
			methods, err = decode.MethodsOf(boc)
		}
		if errors.Is(err, cell.ErrLimit) { // too large to be told
			k.codes.put(hash, struct{}{}, 1)
			return nil, nil
		}
		if err != nil {
			return nil, k.missed("code", hash[:], err)
		}
	}
	k.codes.put(hash, struct{}{}, 1)
	return &record.Code{Hash: hash[:], Boc: boc, Methods: methods.IDs, MethodsKnown: methods.Known}, nil
}

// dataOf is the data with the hash, without a BoC when it is too large or not to
// be had.
func (k *accountStates) dataOf(hash [32]byte, c *decode.Change) (tree, error) {
	if c.Data != nil {
		return tree{c.Data, c.DataDepth}, nil
	}
	if data, ok := k.data.get(hash); ok {
		return data, nil
	}
	data, err := k.assemble(&hash, decode.MaxDataBytes)
	if errors.Is(err, cell.ErrLimit) {
		k.data.put(hash, tree{}, 64)
		return tree{}, nil
	}
	if err != nil {
		return tree{}, k.missed("data", hash[:], err)
	}
	k.data.put(hash, data, len(data.boc)+64)
	return data, nil
}

// assemble puts a BoC together from the store.
func (k *accountStates) assemble(hash *[32]byte, limit int) (tree, error) {
	root, err := k.assembler.Assemble(hash, maxCells, k.load)
	if err != nil {
		return tree{}, err
	}
	size, err := k.writer.Prepare(root, limit)
	if err != nil {
		return tree{}, err
	}
	return tree{k.writer.Append(make([]byte, 0, size)), root.DepthAt(0)}, nil
}

// write makes what was put the store's: the bundles are published.
func (k *accountStates) write() error {
	defer k.batch.Reset()
	if k.cells == nil {
		return nil
	}
	return k.cells.Write(k.batch, false)
}
