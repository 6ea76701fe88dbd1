package worker

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

// zerostates finds the zerostates of the test data.
func zerostates(t testing.TB) func(context.Context, *record.BlockId) ([]byte, error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "states"), "*zerostate*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("%d zerostates: %v", len(files), err)
	}
	return func(_ context.Context, id *record.BlockId) ([]byte, error) {
		for _, file := range files {
			boc, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if sum := sha256.Sum256(boc); bytes.Equal(sum[:], id.FileHash) {
				return boc, nil
			}
		}
		return nil, nil
	}
}

// genesis are the first bundles of mainnet.
func genesis(t testing.TB) []*source {
	t.Helper()
	return realBundles(t)[:60]
}

// seen is what a run published of accounts and transactions.
type seen struct {
	accounts     []*record.Account
	late         []*record.Account
	codes        map[string]*record.Code
	transactions []*record.Transaction
}

// run puts bundles through a worker and gives what it published.
func (s *stage) run(bundles []*source, configuration Configuration, zerostate func(context.Context, *record.BlockId) ([]byte, error)) *seen {
	s.Helper()
	s.zerostate = zerostate
	s.feed(bundles)
	c := s.start(configuration)
	defer s.stop(c)
	return s.published(bundles)
}

func (s *stage) published(bundles []*source) *seen {
	s.Helper()
	last := bundles[len(bundles)-1].mcSeqno
	found := &seen{codes: map[string]*record.Code{}}
	for _, records := range s.output(schema.Accounts, last, time.Minute) {
		for _, r := range records {
			found.accounts = append(found.accounts, r.GetAccounts().GetAccounts()...)
			found.late = append(found.late, r.GetAccounts().GetLate()...)
			for _, c := range r.GetAccounts().GetCodes() {
				found.codes[string(c.Hash)] = c
			}
		}
	}
	for _, records := range s.output(schema.Transactions, last, time.Minute) {
		for _, r := range records {
			found.transactions = append(found.transactions, r.GetTransactions().GetTransactions()...)
		}
	}
	return found
}

// checkBoC says whether the bag of cells has the hash, and gives its depth; an
// empty one has none.
func checkBoC(t testing.TB, what string, boc, hash []byte) (depth int) {
	t.Helper()
	if len(boc) == 0 {
		return 0
	}
	bag, err := cell.Parse(boc)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	root, err := bag.Single()
	if err != nil || !bytes.Equal(root.Hash()[:], hash) {
		t.Fatalf("%s: the BoC has hash %x, the state names %x, %v", what, *root.Hash(), hash, err)
	}
	return root.DepthAt(0)
}

// check compares what was published with itself, and counts what is missing.
func (f *seen) check(t testing.TB) (data, code, before int) {
	t.Helper()
	for _, a := range append(f.accounts, f.late...) {
		if depth := checkBoC(t, "data", a.Data, a.State.DataHash); depth != int(a.DataDepth) {
			t.Errorf("account %x at %d: data of depth %d is said to be %d deep", a.Account, a.McSeqno, depth, a.DataDepth)
		}
		if len(a.State.DataHash) > 0 && len(a.Data) == 0 {
			data++
		}
		if len(a.State.CodeHash) > 0 && f.codes[string(a.State.CodeHash)] == nil {
			code++
		}
	}
	for _, c := range f.codes {
		checkBoC(t, "code", c.Boc, c.Hash)
	}
	for _, tx := range f.transactions {
		// Whatever a block does not show begins with its first transaction of an account.
		if tx.StateBefore.Partial && tx.StateBefore.Status != record.AccountStatus_ACCOUNT_NONEXIST {
			before++
		}
	}
	return data, code, before
}

func TestEveryStateOfTheFirstBlocksIsKnownWithTheirZerostates(t *testing.T) {
	bundles := genesis(t)
	s := onEmbedded(t, 1)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	with := s.run(bundles, configuration, zerostates(t))
	data, code, _ := with.check(t)
	if data != 0 || code != 0 || len(with.accounts) != 300 || len(with.late) == 0 {
		t.Errorf("%d accounts and %d of the zerostates, %d data and %d codes of them are missing; want 300, some, 0, 0", len(with.accounts), len(with.late), data, code)
	}

	without := onEmbedded(t, 1).run(bundles, DefaultConfiguration(), nil)
	if data, code, _ := without.check(t); data == 0 || code == 0 {
		t.Errorf("%d data and %d codes are missing: the zerostates were not needed", data, code)
	}
	if len(without.accounts) != len(with.accounts) || len(without.late) != 0 || len(without.transactions) != len(with.transactions) {
		t.Fatalf("%d accounts, %d late ones and %d transactions without the zerostates", len(without.accounts), len(without.late), len(without.transactions))
	}
	for i, a := range without.accounts {
		b := with.accounts[i].CloneVT()
		a.Data, b.Data, a.DataDepth, b.DataDepth = nil, nil, 0, 0
		if a.State.ExtraUnknown {
			a.State.ExtraUnknown, b.State.ExtraCurrencies = false, nil
		}
		if !a.EqualVT(b) {
			t.Errorf("without the zerostates\n%v\nwith\n%v", a, b)
		}
	}
	for i, tx := range without.transactions {
		other := with.transactions[i]
		if !bytes.Equal(tx.Hash, other.Hash) || tx.StateBefore.Balance != other.StateBefore.Balance || tx.StateAfter.Balance != other.StateAfter.Balance {
			t.Errorf("transaction %d: balances %d and %d, with the zerostates %d and %d", tx.Lt,
				tx.StateBefore.Balance, tx.StateAfter.Balance, other.StateBefore.Balance, other.StateAfter.Balance)
		}
	}
}

func TestExtraCurrenciesComeFromTheStoreWhereBlocksLeaveThemOut(t *testing.T) {
	s := onEmbedded(t, 1)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	found := s.run(genesis(t), configuration, zerostates(t))
	with := 0
	for _, a := range found.accounts {
		if a.State.ExtraUnknown {
			t.Errorf("account %x at %d: extra currencies are not known", a.Account, a.McSeqno)
		}
		if len(a.State.ExtraCurrencies) > 0 {
			with++
		}
	}
	if with == 0 {
		t.Error("no account has extra currencies")
	}
}

func TestRestartsAndAnEmptyStoreGiveTheSameAccounts(t *testing.T) {
	bundles := genesis(t)
	quiet := onEmbedded(t, 2)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	want := quiet.run(bundles, configuration, zerostates(t))

	s := onEmbedded(t, 2)
	s.zerostate, s.cells = zerostates(t), t.TempDir()
	lives := 0
	for at := 0; at < len(bundles); at += 15 {
		portion := bundles[at:min(at+15, len(bundles))]
		s.feed(portion)
		lives += s.restarted(portion)
	}
	got := s.published(bundles)
	t.Logf("%d lives", lives)
	sameAccounts(t, got, want)
	sameTransactions(t, got, want)
}

func sameAccounts(t *testing.T, got, want *seen) {
	t.Helper()
	if len(got.accounts) != len(want.accounts) || len(got.late) != len(want.late) || len(got.codes) != len(want.codes) {
		t.Fatalf("%d accounts, %d late ones, %d codes; want %d, %d, %d", len(got.accounts), len(got.late), len(got.codes), len(want.accounts), len(want.late), len(want.codes))
	}
	for i := range got.accounts {
		if !got.accounts[i].EqualVT(want.accounts[i]) {
			t.Fatalf("got %v\nwant %v", got.accounts[i], want.accounts[i])
		}
	}
}

func sameTransactions(t *testing.T, got, want *seen) {
	t.Helper()
	for i := range got.transactions {
		if !got.transactions[i].EqualVT(want.transactions[i]) {
			t.Fatalf("got %v\nwant %v", got.transactions[i], want.transactions[i])
		}
	}
}

// By shard, the first half of a shard comes before the whole, and the second one after it.
func TestTheNewestStateCountsWhereABundleSplitsAndMergesAShard(t *testing.T) {
	const left, whole, right = 1 << 62, 1 << 63, 3 << 62
	for _, shards := range [][2]uint64{{whole, left}, {whole, right}, {left, whole}, {right, whole}} {
		var jobs []*job
		for i, shard := range shards {
			hash := bytes.Repeat([]byte{byte(i)}, 32)
			jobs = append(jobs, &job{id: &record.BlockId{Shard: shard, Seqno: uint32(7 + i)}, changes: []*decode.Change{{
				Account: make([]byte, schema.AddressSize), After: &record.AccountState{},
				Transactions: []*record.Transaction{{Lt: uint64(100 + i), Hash: hash, StateHashBefore: hash, StateHashAfter: hash}}}}})
		}
		slices.SortFunc(jobs, func(x, y *job) int { return cmp.Compare(x.id.Shard, y.id.Shard) })
		b := &bundle{mcSeqno: 1, jobs: jobs, seal: &record.Seal{}}
		if err := unstored(t).keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if len(b.accounts) != 1 || b.accounts[0].LastTransLt != 101 {
			t.Errorf("a block of shard %x after one of %x: %v", shards[1], shards[0], b.accounts)
		}
	}
}
