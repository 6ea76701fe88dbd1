package sink

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/rs/zerolog"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/logtest"
)

func TestEveryRecordArrivesAndTheWatermarkFollows(t *testing.T) {
	s, tables := newStream(t, 1), newTables(t)
	if _, err := clickhouse.ReadWatermark(t.Context(), tables.Conn()); !errors.Is(err, clickhouse.ErrNoWatermark) {
		t.Fatalf("watermark of empty tables: %v", err)
	}
	all := bundles(30, 1)
	s.start(tables, nil)
	s.publish(all...)
	s.await()
	w, err := clickhouse.ReadWatermark(t.Context(), tables.Conn())
	if err != nil || w.MCSeqno != s.last.Seqno || w.GenUtime != s.last.Utime {
		t.Fatalf("watermark %v, %v; last bundle %d", w, err, s.last.Seqno)
	}
	want := map[string]*record.Transaction{}
	for _, b := range all {
		for _, tx := range b.Transactions {
			want[string(tx.Hash)] = tx
		}
	}
	for raw := range lines(t, tables, `SELECT record FROM transactions`) {
		tx := &record.Transaction{}
		if err := stored.Unpack(tx, []byte(raw)); err != nil {
			t.Fatal(err)
		}
		if !tx.EqualVT(want[string(tx.Hash)]) {
			t.Fatalf("transaction %x changed on its way", tx.Hash)
		}
		delete(want, string(tx.Hash))
	}
	if len(want) > 0 {
		t.Fatalf("%d transactions did not arrive", len(want))
	}
	var seals uint64
	if err := tables.Conn().QueryRow(t.Context(), `SELECT count() FROM seals`).Scan(&seals); err != nil || seals != 150 { // of five topics
		t.Fatalf("%d seals, %v", seals, err)
	}
}

// undisturbed is what the tables hold after one quiet run over the stream.
func undisturbed(t *testing.T, s *stream) map[string]string {
	tables := newTables(t)
	s.await() // the group of the run under test is done
	_, stop := s.start(tables, func(c *Configuration) { c.Group = "undisturbed" })
	defer stop()
	s.awaitGroup("undisturbed")
	return contents(t, tables)
}

// rounds is n, or the full number with TONSCRIBE_TEST_LONG.
func rounds(n, full int) int {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return full
	}
	return n
}

func TestRandomRestartsLeaveIdenticalTables(t *testing.T) {
	rounds := rounds(10, 30)
	for _, partitions := range []int{1, 2} {
		s, tables := newStream(t, partitions), newTables(t)
		random := rand.New(rand.NewPCG(uint64(partitions), 3))
		rest := bundles(40*(rounds+1), uint64(partitions))
		began := time.Now()
		_, stop := s.start(tables, func(c *Configuration) { c.Rest = 0 })
		s.publish(rest[:30]...)
		s.await()
		whole := time.Since(began) // of a life that ends when all is done; a slow machine needs longer
		stop()
		rest = rest[30:]
		repeated := 0.0
		for range rounds {
			sink, stop := s.start(tables, func(c *Configuration) {
				c.MaxRows, c.MaxWait, c.Rest = 1+random.IntN(400), time.Duration(random.IntN(60))*time.Millisecond, 0
			})
			pause := time.After(time.Duration(random.Int64N(int64(whole))))
			n := 20 + random.IntN(20)
			s.publish(rest[:n]...)
			rest = rest[n:]
			<-pause // at a point of its own choosing, not after an event
			stop()
			for p := range partitions {
				repeated += testutil.ToFloat64(sink.metrics.repeated.WithLabelValues(schema.Transactions.Name, strconv.Itoa(p)))
			}
		}
		_, stop = s.start(tables, nil)
		s.await()
		stop()
		got := contents(t, tables)
		same(t, got, undisturbed(t, s))
		if repeated == 0 {
			t.Error("no restart was inside a batch: the test proves nothing")
		}
		t.Logf("%d partitions: transactions %s, %.0f batches repeated", partitions, got["transactions"], repeated)
	}
}

func TestTwoSinksShareThePartitions(t *testing.T) {
	s, tables := newStream(t, 2), newTables(t)
	all := bundles(200, 5)
	first, stopFirst := s.start(tables, nil)
	s.publish(all[:50]...)
	s.await()
	s.start(tables, nil)
	s.publish(all[50:100]...)
	s.await()
	stopFirst()
	if err := first.Err(); err != nil {
		t.Fatal(err)
	}
	s.publish(all[100:]...)
	s.await()
	same(t, contents(t, tables), undisturbed(t, s))
}

func TestBundlesThatComeOneByOneAreInsertedInRoundsAndTellTogetherThatTheyAreThere(t *testing.T) {
	const every = time.Second
	s, tables := newStream(t, 1), newTables(t)
	all := bundles(30, 6)
	began := time.Now()
	sink, stop := s.start(tables, func(c *Configuration) { c.Every = every })
	for _, b := range all {
		s.publish(b)
		time.Sleep(every / 10) // the chain's pace
	}
	s.await()
	took := time.Since(began)
	stop()
	inserts := func(table string) uint64 {
		var m dto.Metric
		if err := sink.metrics.insertSeconds.WithLabelValues(table).(prometheus.Metric).Write(&m); err != nil {
			t.Fatal(err)
		}
		return m.GetHistogram().GetSampleCount()
	}
	if n, most := inserts("transactions"), uint64(took/every)+2; n == 0 || n > most {
		t.Errorf("%d inserts of %d bundles in %s, want 1 to %d", n, len(all), took, most)
	}
	topics := uint64(len(schema.TableTopics))
	for _, table := range []string{"progress", "seals"} {
		if n, most := inserts(table), topics*inserts("transactions"); n == 0 || n >= most {
			t.Errorf("%d topics have %d inserts of %s together, want 1 to %d", topics, n, table, most-1)
		}
	}
	same(t, contents(t, tables), undisturbed(t, s))
}

func TestTheEndOfARangeIsInsertedAtOnce(t *testing.T) {
	s, tables := newStream(t, 1), newTables(t)
	all := bundles(31, 3)
	s.start(tables, func(c *Configuration) {
		c.Quiet, c.MaxWait, c.Last = time.Hour, time.Hour, all[len(all)-1].Seqno
	})
	s.publish(all...)
	s.await()
	same(t, contents(t, tables), undisturbed(t, s))
}

func TestASinkThatIsStoppedBetweenProgressAndSealsWritesBoth(t *testing.T) {
	s, tables := newStream(t, 1), newTables(t)
	told := make(chan struct{}, 100)
	hold := make(chan struct{})
	sink, err := New(DefaultConfiguration(), Dependencies{Report: enginetest.Report(t), Kafka: s.client(), ClickHouse: tables,
		Progressed: func() { told <- struct{}{}; <-hold }})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.publish(bundles(3, 9)...)
	<-told // a partition's progress is written, its seals are not
	stopped := make(chan error, 1)
	go func() { stopped <- sink.Stop(context.Background()) }()
	time.Sleep(50 * time.Millisecond) // Stop has told the partitions, and waits
	close(hold)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	var progress, seals uint64
	if err := tables.Conn().QueryRow(t.Context(), `SELECT (SELECT uniqExact(topic, mc_seqno) FROM progress),
		(SELECT uniqExact(topic, mc_seqno) FROM seals WHERE (topic, mc_seqno) IN (SELECT topic, mc_seqno FROM progress))`).Scan(&progress, &seals); err != nil {
		t.Fatal(err)
	}
	if progress == 0 || seals != progress {
		t.Errorf("%d of %d bundles of the progress have their seals", seals, progress)
	}
}

func TestFaultsOfTheStreamStopThePartition(t *testing.T) {
	for name, spoil := range map[string]func(records []*record.Record){
		"the seal counts another number": func(records []*record.Record) { records[len(records)-1].GetSeal().Rows++ },
		"a transaction without hash":     func(records []*record.Record) { records[0].GetTransactions().Transactions[0].Hash = nil },
		"a message without hash": func(records []*record.Record) {
			records[0].GetTransactions().Transactions[0].InMsg = &record.Message{}
		},
	} {
		s, tables := newStream(t, 1), newTables(t)
		all := bundles(3, 9)
		sink, _ := s.start(tables, nil)
		s.publish(all[0])
		s.await()
		_, records, _ := all[1].Records(0, 1)
		spoil(records)
		if err := s.producer.Publish(t.Context(), schema.Transactions.Name, 0, records); err != nil {
			t.Fatal(err)
		}
		for testutil.ToFloat64(sink.metrics.alarm.WithLabelValues(schema.Transactions.Name, "0")) == 0 {
			time.Sleep(time.Millisecond)
		}
		var newest uint32
		if err := tables.Conn().QueryRow(t.Context(), `SELECT max(mc_seqno) FROM transactions`).Scan(&newest); err != nil || newest != all[0].Seqno {
			t.Errorf("%s: newest row is of bundle %d (%v) instead of %d", name, newest, err, all[0].Seqno)
		}
	}
}

func TestBundlesThatNeitherTheTablesNorTheLogHaveAreTold(t *testing.T) {
	all := bundles(5, 9)
	for name, test := range map[string]struct {
		from int
		want float64
	}{"the log begins with the last bundle of the tables": {1, 0}, "it goes on after it": {2, 0}, "it begins later": {3, 1}} {
		s, tables := newStream(t, 1), newTables(t)
		s.publish(all[:2]...)
		_, stop := s.start(tables, nil)
		s.await()
		stop()
		anew := newStream(t, 1)
		anew.publish(all[test.from:]...)
		sink, stop := anew.start(tables, nil)
		anew.await()
		stop()
		for _, topic := range schema.TableTopics {
			if got := testutil.ToFloat64(sink.metrics.gaps.WithLabelValues(topic.Name, "0")); got != test.want {
				t.Errorf("%s: %v gaps of topic %s, want %v", name, got, topic.Name, test.want)
			}
		}
	}
}

// A server that was restored from a backup is behind what the group has committed.
func TestTablesThatAreBehindTheGroupGetFromTheLogWhatTheyLack(t *testing.T) {
	all := bundles(5, 9)
	for name, test := range map[string]struct {
		backup, lost int // the tables have the bundles before backup, the log those from lost on
		gaps         float64
	}{
		"of a server that is older":         {2, 0, 0},
		"that are empty":                    {0, 0, 0},
		"older than the log's first bundle": {1, 2, 1},
	} {
		backup, tables := newStream(t, 1), newTables(t)
		backup.publish(all[:test.backup]...)
		_, stop := backup.start(tables, nil)
		backup.await()
		stop()
		s := newStream(t, 1)
		s.publish(all[test.lost:4]...)
		_, stop = s.start(newTables(t), nil)
		s.await()
		stop()
		s.publish(all[4])
		sink, _ := s.start(tables, nil)
		s.await()
		var got, want []uint32
		if err := tables.Conn().QueryRow(t.Context(), "SELECT arraySort(groupUniqArray(mc_seqno)) FROM transactions").Scan(&got); err != nil {
			t.Fatal(err)
		}
		for i, b := range all {
			if i < test.backup || i >= test.lost {
				want = append(want, b.Seqno)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("tables %s have bundles %v instead of %v", name, got, want)
		}
		if got := testutil.ToFloat64(sink.metrics.gaps.WithLabelValues(schema.Transactions.Name, "0")); got != test.gaps {
			t.Errorf("tables %s: %v gaps instead of %v", name, got, test.gaps)
		}
	}
}

func TestAReaderThatBeginsWhileClickHouseIsAwayWaitsForIt(t *testing.T) {
	s := newStream(t, 1)
	through, shut := clienttest.Door(t, enginetest.Tables(t).DSN())
	said := &logtest.Book{}
	r := report.Silent()
	r.Log = zerolog.New(said)
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = through
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: r})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s.dependencies.Report = r
	log, err := kafka.New(s.configuration, s.dependencies)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	sink, err := New(DefaultConfiguration(), Dependencies{Report: r, Kafka: log, ClickHouse: client})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	shut()
	s.publish(bundles(1, 9)...)
	for !strings.Contains(said.String(), "clickhouse failed") && !strings.Contains(said.String(), "partition failed") {
		time.Sleep(time.Millisecond)
	}
	if err := sink.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	if strings.Contains(said.String(), "partition failed") {
		t.Error("a partition failed because ClickHouse is away")
	}
}

func TestRestartInsideABundleGoesOnCountingItsRows(t *testing.T) {
	s, tables := newStream(t, 1), newTables(t)
	b := bundles(1, 4)[0]
	_, records, _ := b.Records(0, 1)
	// The same bundle in records of one transaction each.
	var single []*record.Record
	for _, r := range records {
		for _, tx := range r.GetTransactions().GetTransactions() {
			single = append(single, &record.Record{Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: []*record.Transaction{tx}}}})
		}
	}
	single = append(single, records[len(records)-1])
	for i, r := range single {
		r.McSeqno, r.PrevMcSeqno, r.Index = b.Seqno, 0, uint32(i)
	}
	half := len(single) / 2
	publish := func(records []*record.Record) {
		if err := s.producer.Publish(t.Context(), schema.Transactions.Name, 0, records); err != nil {
			t.Fatal(err)
		}
	}
	publish(single[:half])
	_, stop := s.start(tables, func(c *Configuration) { c.MaxWait = time.Millisecond })
	s.await()
	stop()
	publish(single[half:])
	s.start(tables, nil)
	s.await()
	var sealed uint32
	if err := tables.Conn().QueryRow(t.Context(), `SELECT max(mc_seqno) FROM progress WHERE topic = 'transactions'`).Scan(&sealed); err != nil || sealed != b.Seqno {
		t.Fatalf("sealed %d, %v", sealed, err)
	}
}
