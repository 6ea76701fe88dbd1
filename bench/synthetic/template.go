package synthetic

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

var errTemplate = errors.New("not usable as a template")

// template is a real block, of which blocks with other accounts and times are made.
type template struct {
	name                   string
	header                 *record.Block
	windowBits             int // the logical times of its transactions differ only in these low bits
	transactions, messages int
	accounts               map[key]*account

	bag    *cell.Bag
	cells  int         // that the block has
	copies []cell.Cell // of its cells in the block that is being made, no cell before there is one
	writer cell.Writer
}

// account is what a block does to an account.
type account struct {
	flows  []flow               // its transactions, by lt
	status record.AccountStatus // in the end
}

// flow is what a transaction does to its account.
type flow struct {
	lt              uint64
	received, spent uint64
	orig, ends      record.AccountStatus
}

const wholeShard = uint64(1) << 63

// readTemplate reads a block. An error that is errTemplate says that the bag of
// cells is fine, but no block of the right shape.
func readTemplate(name string, boc []byte) (*template, error) {
	bag, err := cell.Parse(boc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	block, err := decode.Block(boc, 1)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, errTemplate, err)
	}
	h := block.Block
	t := &template{
		name: name, header: h, windowBits: bits.Len64(h.StartLt ^ h.EndLt), transactions: len(block.Transactions),
		accounts: map[key]*account{}, bag: bag, cells: bag.Len(), copies: make([]cell.Cell, bag.Len()),
	}
	if problem := t.unfit(); problem != "" {
		return nil, fmt.Errorf("%s: %w: %s", name, errTemplate, problem)
	}
	for _, tx := range block.Transactions {
		if movesExtra(tx) {
			return nil, fmt.Errorf("%s: %w: extra currencies", name, errTemplate)
		}
		t.windowBits = max(t.windowBits, bits.Len64(tx.Lt^h.StartLt))
		t.messages += len(tx.OutMsgs)
		if tx.InMsg != nil {
			t.messages++
		}
	}
	for _, change := range block.Changes {
		a := &account{}
		for _, tx := range change.Transactions {
			a.flows, a.status = append(a.flows, flowOf(tx)), tx.EndStatus
		}
		t.accounts[keyOf(schema.AccountID(change.Account))] = a
	}
	return t, nil
}

func (t *template) master() bool { return t.header.Id.Workchain == -1 }

// unfit is why the block is no template.
func (t *template) unfit() string {
	h, root := t.header, t.bag.Root(0)
	switch {
	case root.Ref(0).Level() != 0, root.Ref(1).Level() != 0, root.Ref(3).Level() != 0:
		return "pruned cells outside of the state update"
	case h.AfterMerge, h.VertSeqnoIncr:
		return "two parents"
	case h.Id.Shard != wholeShard:
		return "part of a split shard"
	case !t.master() && h.Id.Workchain != 0:
		return fmt.Sprintf("workchain %d", h.Id.Workchain)
	case t.master() && h.KeyBlock:
		return "key block"
	case t.master() && (len(h.Shards) != 1 || h.Shards[0].Shard != wholeShard):
		return "no shards or several"
	}
	return ""
}

// movesExtra reports whether a transaction has to do with extra currencies, which the
// accounts made here do not have.
func movesExtra(tx *record.Transaction) bool {
	return len(tx.Credit.GetCreditExtra()) > 0 || len(tx.TotalFeesExtra) > 0 ||
		slices.ContainsFunc(tx.OutMsgs, func(m *record.Message) bool { return len(m.ValueExtra) > 0 })
}

func flowOf(tx *record.Transaction) flow {
	f := flow{lt: tx.Lt, received: tx.Credit.GetCredit(), spent: tx.TotalFees, orig: tx.OrigStatus, ends: tx.EndStatus}
	for _, m := range tx.OutMsgs {
		if m.Kind == record.Message_INTERNAL {
			f.spent += m.Value + m.FwdFee + m.IhrFee
		}
	}
	return f
}
