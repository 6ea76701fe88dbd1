package query

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/bench/synthetic"
	"tonscribe/decode"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/query/pending"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/sink"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/realdata"
)

// besideEachOther is how many tests run at a time: some wait for what is kept, some for time.
const besideEachOther = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", besideEachOther); err != nil {
		panic(err)
	}
	enginetest.Main(m)
}

// hiddenBundles are in the tables but above the watermark.
const hiddenBundles = 4

// world is what the tables hold: real blocks of several networks, put into the
// bundles of a real run of masterchain blocks. Times and lts of different shards
// are all over the place, which a real chain's are not, so that every order is
// put to proof.
type world struct {
	engine    *engine.ClickHouse
	bundles   []*synthetic.Bundle
	watermark uint32
	tables    *clickhouse.Client
	reader    *clickhouse.Client
	tokens    *synthetic.Tokens // of the bundles; may be nil
	wakes     []chan struct{}   // of the servers
	log       store.Log         // of the servers; may be nil
	shared    pending.Log       // the same, for what is to come
	// change changes what bundles do to traces before it is published. May be nil.
	change func(*record.TraceStep)
}

// realBundles reads the test data.
func realBundles(t testing.TB) []*synthetic.Bundle {
	t.Helper()
	dir := realdata.Path(t)
	masters, err := filepath.Glob(filepath.Join(dir, "blocks/mainnet_mc2467080-2467119/*.boc"))
	if err != nil || len(masters) != 40 {
		t.Fatalf("%d masterchain blocks, %v", len(masters), err)
	}
	bundles := make([]*synthetic.Bundle, len(masters))
	for i, file := range masters {
		bundles[i] = &synthetic.Bundle{Seqno: 2467080 + uint32(i), First: i == 0}
		add(t, bundles[i], file)
		bundles[i].Utime = bundles[i].Blocks[0].GenUtime
	}
	newest := map[string]uint64{}
	for i, file := range shardBlocks(t, dir) {
		b := bundles[i*7%len(bundles)]
		add(t, b, file)
		// What a chain does keep is that a shard's times rise with its seqnos.
		last := b.Blocks[len(b.Blocks)-1]
		shard := fmt.Sprint(last.Id.Shard)
		if uint64(last.GenUtime) < newest[shard] {
			b.Blocks, b.Transactions = b.Blocks[:len(b.Blocks)-1], b.Transactions[:len(b.Transactions)-int(last.TxCount)]
		} else {
			newest[shard] = uint64(last.GenUtime)
		}
	}
	for _, b := range bundles { // the masterchain block comes last
		b.Blocks = append(b.Blocks[1:], b.Blocks[0])
	}
	return bundles
}

// genesis is the main network from its first block on, each masterchain block
// with the shard blocks that it commits, and the shards that each names.
func genesis(t testing.TB) (bundles []*synthetic.Bundle, states map[uint32][]string) {
	t.Helper()
	dir := realdata.Path(t)
	file := func(workchain int32, shard uint64, seqno uint32) string {
		return filepath.Join(dir, fmt.Sprintf("blocks/mainnet_genesis_mc1-199/block_%d_%016x_%d.boc", workchain, shard, seqno))
	}
	states, committed := map[uint32][]string{}, map[string]bool{}
	for seqno := uint32(1); seqno <= 60; seqno++ {
		name := file(-1, 1<<63, seqno)
		boc, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		info, err := decode.Header(boc)
		if err != nil {
			t.Fatal(err)
		}
		b := &synthetic.Bundle{Seqno: seqno, Utime: info.GenUtime, First: seqno == 1}
		state := []*record.BlockId{info.ID}
		var follow func(id *record.BlockId)
		follow = func(id *record.BlockId) {
			name := file(id.Workchain, id.Shard, id.Seqno)
			if id.Seqno == 0 || committed[name] {
				return
			}
			committed[name] = true
			add(t, b, name)
			for _, previous := range b.Blocks[len(b.Blocks)-1].PrevBlocks {
				follow(previous)
			}
		}
		for _, shard := range info.Shards {
			if shard.ID.Seqno > 0 {
				follow(shard.ID)
				state = append(state, shard.ID)
			}
		}
		add(t, b, name)
		bundles = append(bundles, b)
		for _, id := range state {
			states[seqno] = append(states[seqno], row{block: &record.Block{Id: id}}.String())
		}
		sort.Strings(states[seqno])
	}
	return bundles, states
}

func shardBlocks(t testing.TB, dir string) (files []string) {
	f, err := os.Open(filepath.Join(dir, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	sort.Slice(rows[1:], func(i, j int) bool {
		a, _ := strconv.Atoi(rows[i+1][5])
		b, _ := strconv.Atoi(rows[j+1][5])
		return a < b
	})
	for _, row := range rows[1:] {
		if row[3] == "0" && (row[12] != "0" || row[1] == "mainnet_genesis_mc1-199") {
			files = append(files, filepath.Join(dir, row[0]))
		}
	}
	return files
}

func add(t testing.TB, b *synthetic.Bundle, file string) {
	t.Helper()
	boc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	result, err := decode.Block(boc, b.Seqno)
	if err != nil {
		t.Fatal(file, err)
	}
	b.Blocks, b.Transactions = append(b.Blocks, result.Block), append(b.Transactions, result.Transactions...)
}

// syntheticBundles are made from a seed, of about so many transactions.
func syntheticBundles(transactions int, seed uint64) (bundles []*synthetic.Bundle) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: seed})
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	return bundles
}

// whole is a chain with all that requests can ask for.
type whole struct {
	*world
	rows *synthetic.Rows
	keys *synthetic.Keys
}

var wholeTables kept[*whole]

// wholeWorld is that of the tests that compare the answers of a world with those of others.
func wholeWorld(t testing.TB) *whole {
	t.Helper()
	x := wholeTables.get(t, func() *whole {
		x := &whole{rows: synthetic.NewRows(synthetic.RowOptions{Transactions: 6_000, Seed: 11, Whole: true})}
		var bundles []*synthetic.Bundle
		for b := x.rows.Next(); b != nil; b = x.rows.Next() {
			bundles = append(bundles, b)
		}
		x.world, x.keys = keptWorld(t, bundles, synthetic.NewTokens(x.rows)), x.rows.Keys()
		x.tokens.AddKeys(x.keys)
		return x
	})
	return &whole{x.again(t), x.rows, x.keys}
}

// newWorld fills a database through the log and the real sink.
func newWorld(t testing.TB, bundles []*synthetic.Bundle) *world {
	t.Helper()
	return newWorldWith(t, bundles, nil)
}

// smallTables hold a few real blocks.
var smallTables kept[*world]

// smallWorld is newWorld for a test that needs few blocks, and changes nothing in the tables.
func smallWorld(t testing.TB) *world {
	t.Helper()
	return smallTables.get(t, func() *world { return keptWorld(t, realBundles(t)[:6], nil) }).again(t)
}

// realTables hold all real blocks, some rows twice.
var realTables = kept[*world]{alone: true}

// realWorld is for tests that change nothing in the tables but the watermark, which each
// of them sets first.
func realWorld(t testing.TB) *world {
	t.Helper()
	return realTables.get(t, func() *world {
		w := keptWorld(t, realBundles(t), nil)
		w.double(t)
		return w
	}).again(t)
}

// keptWorld is newWorldWith for more than one test.
func keptWorld(t testing.TB, bundles []*synthetic.Bundle, tokens *synthetic.Tokens) *world {
	t.Helper()
	w := &world{engine: enginetest.KeptTables(t), bundles: bundles, tokens: tokens}
	w.fill(t)
	return w
}

// newWorldWith brings what is told of the bundles' tokens, too.
func newWorldWith(t testing.TB, bundles []*synthetic.Bundle, tokens *synthetic.Tokens) *world {
	t.Helper()
	w := &world{engine: enginetest.UnmergedTables(t), bundles: bundles, tokens: tokens}
	w.fill(t)
	return w
}

// fill fills new tables.
func (w *world) fill(t testing.TB) {
	t.Helper()
	w.connect(t)
	w.sink(t)
}

func (w *world) connect(t testing.TB) {
	w.tables, w.reader = clienttest.ClickHouse(t, w.engine.DSN()), clienttest.ClickHouse(t, w.engine.ReadOnlyHTTPDSN())
}

// again is the world for one more test, which only reads its tables.
func (w *world) again(t testing.TB) *world {
	x := &world{engine: w.engine, bundles: w.bundles, watermark: w.watermark, tokens: w.tokens}
	x.connect(t)
	return x
}

// kept is what the first test that wants it makes, for those that follow.
type kept[T any] struct {
	mu    sync.Mutex
	made  bool
	value T
	alone bool // one test at a time has it, until its end
}

func (k *kept[T]) get(t testing.TB, fill func() T) T {
	t.Helper()
	k.mu.Lock()
	if k.alone {
		t.Cleanup(k.mu.Unlock)
	} else {
		defer k.mu.Unlock()
	}
	if !k.made {
		k.value, k.made = fill(), true
	}
	return k.value
}

func (w *world) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	if err := w.tables.Conn().Exec(context.Background(), statement, args...); err != nil {
		t.Fatal(statement, err)
	}
}

// without leaves bundles out, by their number.
func without(bundles []*synthetic.Bundle, skipped func(n int) bool) (left []*synthetic.Bundle) {
	for n, b := range bundles {
		if skipped(n) {
			continue
		}
		if len(left) > 0 {
			b.Skipped = b.Seqno - left[len(left)-1].Seqno - 1
		}
		left = append(left, b)
	}
	return left
}

// batches are how many inserts the rows of a world come in, about, and so how many parts
// its larger tables have.
const batches = 2

// sink puts all bundles into the tables.
func (w *world) sink(t testing.TB) {
	t.Helper()
	c, transactions := sink.DefaultConfiguration(), 0
	for _, b := range w.bundles {
		transactions += len(b.Transactions)
	}
	c.MaxRows, c.MaxRest = min(c.MaxRows, transactions/batches+1), 0
	producer, await, finish := w.startSink(t, c)
	waiting := map[string][]*record.Record{}
	publish := func() {
		for topic, records := range waiting {
			if err := producer.Publish(t.Context(), topic, 0, records); err != nil {
				t.Fatal(err)
			}
		}
		clear(waiting)
	}
	traces := synthetic.NewTraces()
	for n, b := range w.bundles {
		headers, transactions, accounts := b.Records(0, 1)
		contracts := b.Nothing()
		if w.tokens != nil {
			contracts = w.tokens.Records(b, 1)[0]
		}
		assembled := traces.Records(b, 1)[0]
		for _, r := range assembled {
			for _, step := range r.GetTraces().GetTraces() {
				if w.change != nil {
					w.change(step)
				}
			}
		}
		for topic, records := range map[string][]*record.Record{schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: contracts, schema.Traces.Name: assembled} {
			waiting[topic] = append(waiting[topic], records...)
		}
		switch n {
		case len(w.bundles) - 1 - hiddenBundles: // an insert has the newest row of a trace only
			publish()
			await(b.Seqno)
		case len(w.bundles) - 1:
			publish()
		default:
			if n%100 == 99 {
				publish()
			}
		}
	}
	finish(w.bundles[len(w.bundles)-1].Seqno)
}

// startSink starts a sink behind a log of its own. await waits until it has inserted
// all bundles up to one, finish stops it then.
func (w *world) startSink(t testing.TB, c sink.Configuration) (producer *kafka.Client, await, finish func(last uint32)) {
	t.Helper()
	log := enginetest.Kafka(t)
	producer = clienttest.Kafka(t, log, 1, schema.Topics...)
	progressed := make(chan struct{}, 1)
	s, err := sink.New(c, sink.Dependencies{Report: report.Silent(), Kafka: clienttest.Kafka(t, log, 1), ClickHouse: w.tables, Progressed: func() {
		select {
		case progressed <- struct{}{}:
		default: // the watermark is to be read already
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, s)
	await = func(last uint32) {
		t.Helper()
		for w.watermark < last {
			select {
			case <-t.Context().Done():
				t.Fatal("the sink did not finish")
			case <-progressed:
			}
			mark, err := clickhouse.ReadWatermark(t.Context(), w.tables.Conn())
			if err != nil && !errors.Is(err, clickhouse.ErrNoWatermark) {
				t.Fatal(err)
			}
			w.watermark = mark.MCSeqno
		}
	}
	return producer, await, func(last uint32) {
		t.Helper()
		defer func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		await(last)
	}
}

// double repeats every row in a part of its own, as a sink does whose insert was
// repeated after the server had forgotten its token.
func (w *world) double(t testing.TB) {
	t.Helper()
	for _, table := range tablesOfChain {
		w.exec(t, "INSERT INTO "+table+" SELECT * FROM "+table+" WHERE cityHash64(*) % 3 = 0 SETTINGS insert_deduplicate = 0")
	}
}

var tablesOfChain = []string{
	"blocks", "blocks_index", "transactions", "transactions_index", "messages_index", "messages_by_account",
	"transaction_traces", "traces", "traces_by_list", "actions", "actions_by_list",
}

// setWatermark puts the watermark at a bundle.
func (w *world) setWatermark(t testing.TB, b *synthetic.Bundle) {
	t.Helper()
	w.exec(t, "TRUNCATE TABLE progress")
	var rows []string
	for _, topic := range schema.TableTopics {
		rows = append(rows, fmt.Sprintf("('%s', 0, 1, %d, %d)", topic.Name, b.Seqno, b.Utime))
	}
	w.exec(t, "INSERT INTO progress VALUES "+strings.Join(rows, ", "))
	w.watermark = b.Seqno
	for _, wake := range w.wakes {
		select {
		case wake <- struct{}{}:
		default: // it is told already
		}
	}
}

func (w *world) report(t testing.TB) report.Reporter { return enginetest.Report(t) }

// holdNothing makes a server ask ClickHouse for everything.
func holdNothing(c *Configuration) {
	s := &c.Store
	s.Head.BlockBytes, s.Head.TransactionBytes, s.CacheBytes = 0, 0, 0
}

// serve starts the API on the world.
func (w *world) serve(t testing.TB, change func(*Configuration)) *server {
	t.Helper()
	configuration := DefaultConfiguration()
	configuration.Timeout = 30 * time.Second // the machine may be busy
	wake := make(chan struct{}, 1)
	w.wakes = append(w.wakes, wake)
	configuration.Store.Wake, configuration.Store.Poll = wake, time.Second
	configuration.Auth.AnonymousRate = 0
	if change != nil {
		change(&configuration)
	}
	r := w.report(t)
	c, err := New(configuration, Dependencies{Report: r, ClickHouse: w.reader, Log: w.log, Shared: w.shared})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	s := &server{TB: t, component: c, registry: r.Metrics.(*prometheus.Registry)}
	s.await(w.watermark)
	return s
}

// server is a running API.
type server struct {
	testing.TB
	component *Component
	registry  *prometheus.Registry
}

// await returns when requests see the bundle.
func (s *server) await(seqno uint32) {
	s.Helper()
	for s.component.Watermark() < seqno {
		select {
		case <-s.Context().Done():
			s.Fatal("the watermark did not come")
		case <-time.After(time.Millisecond):
		}
	}
}

// ask sends a GET request.
func (s *server) ask(path string) *httptest.ResponseRecorder {
	return s.send(httptest.NewRequest(http.MethodGet, path, nil))
}

func (s *server) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.component.Handler().ServeHTTP(w, r)
	s.isDescribed(r, w)
	return w
}

// answer is the union of the lists' envelopes.
type answer struct {
	Transactions []struct {
		Hash string
	}
	Messages []struct {
		Hash           string
		InTransaction  string `json:"in_msg_tx_hash"`
		OutTransaction string `json:"out_msg_tx_hash"`
	}
	Blocks []struct {
		Workchain int32
		Shard     string
		Seqno     uint32
		RootHash  string `json:"root_hash"`
	}
	AddressBook map[string]json.RawMessage `json:"address_book"`
	Next        string                     `json:"next_cursor"`
}

func (s *server) get(path string) answer {
	s.Helper()
	w := s.ask(path)
	if w.Code != http.StatusOK {
		s.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		s.Fatalf("%s: %v", path, err)
	}
	return a
}

// rows are what identifies the rows of an answer, in order.
func (a answer) rows() []string {
	rows := []string{}
	for _, tx := range a.Transactions {
		rows = append(rows, tx.Hash)
	}
	for _, m := range a.Messages {
		rows = append(rows, m.Hash+" in "+m.InTransaction+" out "+m.OutTransaction)
	}
	for _, b := range a.Blocks {
		rows = append(rows, fmt.Sprintf("(%d,%s,%d) %s", b.Workchain, b.Shard, b.Seqno, b.RootHash))
	}
	return rows
}

func packed(t testing.TB, r interface{ MarshalVT() ([]byte, error) }) []byte {
	t.Helper()
	raw, err := r.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
