package worker

import (
	"cmp"
	"slices"

	"tonscribe/schema/record"
)

// bundle is what one partition has of a bundle, first as jobs, then as the
// records to publish.
type bundle struct {
	mcSeqno, prev uint32
	jobs          []*job
	seal          *record.Seal
	next          int64 // offset after the seal
	bytes         int64 // of raw blocks

	accounts []*record.Account // by (workchain, account)
	late     []*record.Account
	codes    []*record.Code
	// libraries and config are as in an AccountBatch.
	libraries    []*record.Library
	libraryBytes int
	config       []byte

	headers        []*record.Record
	transactions   []*record.Record
	accountRecords []*record.Record
	rows           int // transactions
	accountRows    int
	size           int // of the output, about
}

// failed is the error of a block that did not decode.
func (b *bundle) failed() error {
	for _, j := range b.jobs {
		if j.err != nil {
			return j.err
		}
	}
	return nil
}

// chronological are the jobs with each block behind those that it follows: by shard,
// as they come, the blocks after a split or before a merge lie on both sides of the
// one that has all of their accounts.
func (b *bundle) chronological() []*job {
	jobs := slices.Clone(b.jobs)
	slices.SortStableFunc(jobs, func(x, y *job) int { return cmp.Compare(x.id.Seqno, y.id.Seqno) })
	return jobs
}

// assemble makes the bundle's records; its blocks are through the decoders and
// its accounts through accountStates.
func (b *bundle) assemble(chunkBytes int) {
	var blocks []*record.Block
	chunks := chunker{bundle: b, limit: chunkBytes}
	for _, j := range b.jobs {
		if j.header != nil {
			blocks = append(blocks, j.header)
		}
		for i, t := range j.transactions {
			chunks.add(t, j.sizes[i])
		}
	}
	b.jobs = nil
	chunks.flush()
	if len(blocks) > 0 {
		b.headers = append(b.headers, &record.Record{McSeqno: b.mcSeqno, PrevMcSeqno: b.prev,
			Content: &record.Record_Blocks{Blocks: &record.BlockBatch{Blocks: blocks}}})
	}
	b.headers = b.sealed(b.headers, len(blocks))
	b.transactions = b.sealed(b.transactions, b.rows)
	b.assembleAccounts()
}

// accountsPerRecord is how many accounts are in a record. It must not depend on
// their size: what is written of an account depends on what the store has, and
// a bundle that is published again must be cut as it was. With MaxDataBytes,
// MaxCodeBytes, maxLateBytes, MaxLibraryBytes and MaxConfigBytes, a record fits the
// topic.
const accountsPerRecord = 32

// assembleAccounts makes records of accounts, at least one: so there is always
// one that can carry what seals do not count.
func (b *bundle) assembleAccounts() {
	codes := b.codes
	for chunk := (&record.AccountBatch{Late: b.late, Libraries: b.libraries, Config: b.config}); ; chunk = new(record.AccountBatch) {
		n := min(accountsPerRecord, len(b.accounts))
		chunk.Accounts, b.accounts = b.accounts[:n], b.accounts[n:]
		n = min(accountsPerRecord, len(codes))
		if len(b.accounts) == 0 {
			n = len(codes)
		}
		chunk.Codes, codes = codes[:n], codes[n:]
		b.accountRows += len(chunk.Accounts)
		b.accountRecords = append(b.accountRecords, &record.Record{
			McSeqno: b.mcSeqno, PrevMcSeqno: b.prev, Index: uint32(len(b.accountRecords)),
			Content: &record.Record_Accounts{Accounts: chunk}})
		for _, a := range chunk.Accounts {
			b.size += 256 + len(a.Data)
		}
		if len(b.accounts) == 0 {
			break
		}
	}
	b.accounts, b.late, b.codes, b.libraries, b.config = nil, nil, nil, nil, nil
	b.accountRecords = b.sealed(b.accountRecords, b.accountRows)
}

func (b *bundle) sealed(records []*record.Record, rows int) []*record.Record {
	return append(records, &record.Record{McSeqno: b.mcSeqno, PrevMcSeqno: b.prev, Index: uint32(len(records)),
		Content: &record.Record_Seal{Seal: &record.Seal{Rows: uint64(rows), Master: b.seal.Master, GenUtime: b.seal.GenUtime}}})
}

// chunker cuts the transactions of a bundle into records.
type chunker struct {
	*bundle
	limit int
	open  []*record.Transaction
	bytes int
}

func (c *chunker) add(t *record.Transaction, size int) {
	if len(c.open) > 0 && c.bytes+size > c.limit {
		c.flush()
	}
	c.open = append(c.open, t)
	c.bytes += size
	c.rows++
	c.size += size
}

func (c *chunker) flush() {
	if len(c.open) == 0 {
		return
	}
	c.transactions = append(c.transactions, &record.Record{
		McSeqno: c.mcSeqno, PrevMcSeqno: c.prev, Index: uint32(len(c.transactions)),
		Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: c.open}}})
	c.open, c.bytes = nil, 0
}
