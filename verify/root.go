// Package verify proves that the tables hold what they should: the whole chain,
// each row once, and the same in every table.
//
// In: the tables of a range of masterchain blocks and, optionally, the source of
// the blocks. Out: a report with what was checked and, for every check, the first
// difference with the place where to look at it. The tables are read in the
// order they lie in, and memory does not grow with the range: what has to be
// compared across orders is summed up by hash, in buckets of the range, and only
// a bucket that differs is read row by row. Rows are made again of the records in
// the tables, by the declarations of schema/table; whether these are right is
// shown by rows written by hand there. The package must never write to the
// tables.
package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/sink"
)

// ErrDifferent says that something in the tables is not as it should be.
var ErrDifferent = errors.New("the tables are not as they should be")

// Options of a run.
type Options struct {
	// DSN of the tables, of a user that may give settings with a query.
	DSN string
	// From and To are the first and the last masterchain seqno; 0 means the first
	// bundle of the tables and their watermark.
	From, To uint32
	// Source gives the blocks once more, to decode them again and compare; nil
	// leaves that out.
	Source BundleSource
	// Out gets a line for every gap, every check, and the first difference of each;
	// nil: nobody.
	Out io.Writer
	// Progress is called at most once a second while a step runs; nil: nobody.
	Progress func(Progress)
	// Without names checks to leave out, like CheckStates for chains whose state
	// hashes were made up.
	Without []string

	// few rows are compared one by one; 0 means fewRows.
	few uint64
	// patience is how long rows of the newest bundles may come after others of
	// theirs; 0 means defaultPatience.
	patience time.Duration
}

// The checks.
const (
	// CheckProgress: every partition of every topic with tables is as far as the
	// range.
	CheckProgress = "progress"
	// CheckSeals: seals follow each other, agree between partitions, and promise
	// the rows that the tables have.
	CheckSeals = "seals"
	// CheckBlocks: the blocks are one chain, over splits and merges, and have the
	// transactions that they count, within their logical times.
	CheckBlocks = "blocks"
	// CheckColumns: columns say what the record beside them says, and no two
	// different rows have one key.
	CheckColumns = "columns"
	// CheckAccounts: each transaction names the one before it.
	CheckAccounts = "accounts"
	// CheckStates: each transaction begins with the state that the one before left.
	CheckStates = "states"
	// CheckLatest: the newest state of every account is what its last transaction
	// left, is ranked by its balance, and codes and data have the hashes that they
	// are named by.
	CheckLatest = "latest"
	// CheckMessages: messages are created in order, produced once, consumed once.
	CheckMessages = "messages"
	// CheckProducers: what was consumed was produced, and is the same.
	CheckProducers = "producers"
	// CheckIndexes: the tables that point at blocks and transactions have exactly
	// the rows that these make.
	CheckIndexes = "indexes"
	// CheckContracts: what contracts are said to be is what their get-methods give on
	// their newest states, and every table of contracts says the same.
	CheckContracts = "contracts"
	// CheckTransfers: transfers and burns of tokens are what their transactions
	// order, none is missing, each became what the transaction that it led to says,
	// and both owners' rows are the same.
	CheckTransfers = "transfers"
	// CheckTraces: every transaction is in one trace, whose counters and lists are
	// those of its transactions, and actions are in the lists that they belong to.
	CheckTraces = "traces"
	// CheckActions: actions are what this version recognises in the transactions of
	// their traces, with what contracts were then.
	CheckActions = "actions"
	// CheckDocuments: documents of tokens belong to links that contents have, are
	// what is kept of a document, and stand as their tries say.
	CheckDocuments = "documents"
	// CheckStats: ready figures are what the rows that they are made of give.
	CheckStats = "stats"
	// CheckSource: the tables have exactly what the source's blocks decode to.
	CheckSource = "source"
)

// Checks are all of them, in the order of a report.
var Checks = []string{
	CheckProgress, CheckSeals, CheckBlocks, CheckColumns, CheckAccounts, CheckStates,
	CheckLatest, CheckMessages, CheckProducers, CheckIndexes, CheckContracts, CheckTransfers, CheckTraces, CheckActions, CheckDocuments, CheckStats,
	CheckSource,
}

// Run checks a range. It returns the report with ErrDifferent when anything
// differs, and another error when the checks could not be done.
func Run(ctx context.Context, options Options) (*Report, error) {
	for _, name := range options.Without {
		if !slices.Contains(Checks, name) {
			return nil, fmt.Errorf("verify: there is no check %q: want some of %s", name, strings.Join(Checks, ", "))
		}
	}
	options.few, options.patience = cmp.Or(options.few, fewRows), cmp.Or(options.patience, defaultPatience)
	v, err := open(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	defer v.close()
	for _, step := range []struct {
		check string // with which it is left out
		run   func(context.Context) error
	}{
		{"", v.checkProgress}, {"", v.walkChain},
		{CheckContracts, v.spillLinks}, {CheckTransfers, v.newTransferSpills}, {CheckDocuments, v.newDocumentSpill},
		{"", v.walkTransactions}, {CheckLatest, v.checkBalances}, {CheckLatest, v.checkCodes}, {"", v.compareTallies},
		{CheckProducers, v.checkProducers}, {CheckIndexes, v.checkIndexes}, {CheckTransfers, v.spillTransfers}, {CheckTransfers, v.matchTransfers},
		{CheckTraces, v.checkTraces}, {CheckActions, v.checkActions},
		{CheckDocuments, v.checkDocuments}, {CheckStats, v.checkStats}, {CheckSource, v.checkSource},
	} {
		if step.check != "" && !v.findings.wants(step.check) {
			continue
		}
		if err := step.run(ctx); err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
	}
	return v.findings.close(), v.findings.verdict()
}

// verifier is one run.
type verifier struct {
	Options
	*database
	findings *findings
	from, to uint32
	workers  int // that read transactions at the same time

	partitions int
	// chainSide and rowSide hold the same sums, made from blocks and seals, and
	// from transactions. rowSide has those of all rows that are made, too.
	chainSide, rowSide *tally
	coverage           *coverage
	spill              *spill
	// links are the rows of contract_links, by account. In orders and carriers
	// transfers meet their transactions, and those that they led to.
	links, orders, carriers *spill
	// documents are the rows about links of token contents, by the link's hash.
	documents *spill
	// linksRead is the bundle up to which links were read by who fetches documents,
	// as of the beginning.
	linksRead uint32

	// deployedCodes are codes that table codes must have, each with the key of an account
	// that was deployed with it.
	deployedMu    sync.Mutex
	deployedCodes map[string]string

	reader           *reader
	transactionCount uint64
	// progressOf is the progress of every partition, and sealedTo the bundle up to which
	// all have seals.
	progressOf []progressRow
	sealedTo   uint32
}

func open(ctx context.Context, options Options) (*verifier, error) {
	workers := runtime.GOMAXPROCS(0)
	db, err := connect(options.DSN, workers)
	if err != nil {
		return nil, err
	}
	v := &verifier{Options: options, database: db, workers: workers, coverage: newCoverage(), deployedCodes: map[string]string{}}
	if v.reader, err = newReader(); err != nil {
		v.close()
		return nil, err
	}
	if err := v.findRange(ctx); err != nil {
		v.close()
		return nil, err
	}
	v.findings = newFindings(v.from, v.to, options)
	v.chainSide, v.rowSide = newTally(v.from, v.to), newTally(v.from, v.to)
	return v, nil
}

// findRange finds out what is to be checked. A sink that goes on is waited for until the
// tables have the range.
func (v *verifier) findRange(ctx context.Context) error {
	var err error
	if v.progressOf, err = v.readProgress(ctx); err != nil {
		return err
	}
	v.from, v.to = v.From, v.To
	watermark := v.watermark()
	if watermark > 0 && watermark < v.to {
		fmt.Fprintf(v.Out, "the tables end at masterchain block %d: waiting for %d as long as they grow\n", watermark, v.to)
	}
	for since := time.Now(); watermark > 0 && (watermark < v.to || !v.begun()) && time.Since(since) < v.patience; {
		if err := lifetime.Sleep(ctx, pollEvery); err != nil {
			return err
		}
		if v.progressOf, err = v.readProgress(ctx); err != nil {
			return err
		}
		newer := v.watermark()
		if newer > watermark && v.begun() {
			since = time.Now()
		}
		watermark = newer
	}
	if v.from == 0 {
		if v.from, err = v.firstBundle(ctx); err != nil {
			return err
		}
	}
	if v.to == 0 {
		v.to = watermark
	}
	if v.from == 0 || v.to == 0 {
		return errors.New("the tables hold no complete bundle yet")
	}
	if v.from > v.to {
		return fmt.Errorf("nothing to check: the range begins at %d and ends at %d", v.from, v.to)
	}
	return v.awaitSeals(ctx, watermark)
}

// watermark is the newest bundle that all partitions have, as far as progress was read.
func (v *verifier) watermark() (lowest uint32) {
	v.partitions = 1
	for i, p := range v.progressOf {
		v.partitions = max(v.partitions, int(p.Partitions))
		if i == 0 || p.McSeqno < lowest {
			lowest = p.McSeqno
		}
	}
	return lowest
}

// begun reports whether all partitions of all topics have told of their progress: where an
// index begins, some do so before others.
func (v *verifier) begun() bool { return len(v.progressOf) >= len(tableTopics())*v.partitions }

const (
	// defaultPatience is a little more than what sinks at the head wait for a batch.
	defaultPatience = sink.HeadEvery + 10*time.Second
	pollEvery       = 50 * time.Millisecond
)

// awaitSeals waits until every partition has sealed the newest bundle, and so all before:
// the sink tells how far a batch goes before it writes the seals of the batch. Those that
// do not come are missing.
func (v *verifier) awaitSeals(ctx context.Context, newest uint32) error {
	_, err := v.await(ctx, uint64(len(v.progressOf)), "SELECT uniqExact(topic, partition) FROM seals WHERE mc_seqno = ?", newest)
	if err == nil {
		v.sealedTo, err = clickhouse.ReadSealed(ctx, v.client.Conn())
	}
	return err
}

// await gives a number as soon as it is at least so great, or as it is when
// patience ends: what stages that run beside are about to write is not missing.
func (v *verifier) await(ctx context.Context, atLeast uint64, query string, args ...any) (uint64, error) {
	for deadline := time.Now().Add(v.patience); ; {
		n, err := v.number(ctx, query, args...)
		if err != nil || n >= atLeast || time.Now().After(deadline) {
			return n, err
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
}

func (v *verifier) close() {
	v.database.close()
	for _, s := range []*spill{v.spill, v.links, v.orders, v.carriers, v.documents} {
		s.close()
	}
}
