package worker

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/decode"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
	kafkatest "tonscribe/test/support/kafka"
)

// stage is a log with a worker on it.
type stage struct {
	testing.TB
	*kafka.Client
	cells     string // folder of the cell store, none when empty
	zerostate func(context.Context, *record.BlockId) ([]byte, error)
}

func newStage(t testing.TB, partitions int, dependencies kafka.Dependencies, brokers ...string) *stage {
	t.Helper()
	configuration := kafka.DefaultConfiguration()
	configuration.Brokers, configuration.Partitions = brokers, partitions
	dependencies.Report = report.Silent()
	client, err := kafka.New(configuration, dependencies)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.EnsureTopics(t.Context(), schema.Topics); err != nil {
		t.Fatal(err)
	}
	return &stage{TB: t, Client: client}
}

func onEmbedded(t testing.TB, partitions int) *stage {
	log := enginetest.Kafka(t)
	return newStage(t, partitions, kafka.Dependencies{Dial: log.Dial, Epoch: log.Epoch()}, log.Address())
}

func (s *stage) feed(bundles []*source) {
	s.Helper()
	for p := range s.Partitions() {
		var records []*record.Record
		for _, b := range bundles {
			records = append(records, b.input(p, s.Partitions())...)
		}
		if err := s.Publish(s.Context(), schema.Blocks.Name, p, records); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *stage) start(configuration Configuration) *Component {
	s.Helper()
	c, err := New(configuration, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: s.Client, Zerostate: s.zerostate})
	if err != nil {
		s.Fatal(err)
	}
	if err := c.Start(s.Context()); err != nil {
		s.Fatal(err)
	}
	return c
}

func (s *stage) stop(c *Component) {
	s.Helper()
	if err := c.Stop(s.Context()); err != nil {
		s.Fatal(err)
	}
}

// output reads the partitions of a topic up to the seal of the bundle. It is
// empty for partitions that do not get so far within the limit.
func (s *stage) output(topic schema.Topic, until uint32, limit time.Duration) [][]*record.Record {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), limit)
	defer cancel()
	type result struct {
		partition int
		records   []*record.Record
	}
	results := make(chan result, 100)
	go s.Consume(ctx, fmt.Sprintf("test-%x", rand.Uint64()), []schema.Topic{topic}, func(ctx context.Context, l *kafka.PartitionReader) error {
		var records []*record.Record
		for {
			item, err := l.Next(ctx)
			if err != nil {
				return err
			}
			records = append(records, item.Record)
			if item.Record.McSeqno >= until && item.Record.GetSeal() != nil {
				results <- result{l.Partition, records}
				<-ctx.Done()
				return ctx.Err()
			}
		}
	})
	partitions := make([][]*record.Record, s.Partitions())
	for range partitions {
		select {
		case r := <-results:
			partitions[r.partition] = r.records
		case <-ctx.Done():
			return partitions
		}
	}
	return partitions
}

// check compares a partition's output with what the bundles must give.
func (s *stage) check(bundles []*source, partition int, headers, transactions, accounts []*record.Record) {
	s.Helper()
	for _, b := range bundles {
		want := b.expected(s, partition, s.Partitions())
		var got rows
		headers = s.checkBundle(b, headers, len(want.blocks), func(r *record.Record) {
			for _, block := range r.GetBlocks().GetBlocks() {
				got.blocks = append(got.blocks, encode(s, block))
			}
		})
		transactions = s.checkBundle(b, transactions, len(want.transactions), func(r *record.Record) {
			list := r.GetTransactions().GetTransactions()
			if size := r.SizeVT(); size > 300<<10 && len(list) > 1 {
				s.Errorf("bundle %d: a record of %d bytes", b.mcSeqno, size)
			}
			for _, transaction := range list {
				got.transactions = append(got.transactions, encode(s, withoutStates(transaction)))
				if transaction.StateBefore.GetStatus() != transaction.OrigStatus || transaction.StateAfter.GetStatus() != transaction.EndStatus {
					s.Errorf("bundle %d: transaction %x without its states", b.mcSeqno, transaction.Hash)
				}
			}
		})
		accounts = s.checkBundle(b, accounts, len(want.accounts), func(r *record.Record) { s.checkAccounts(b, r.GetAccounts(), want.accounts) })
		if len(want.accounts) > 0 {
			s.Fatalf("partition %d bundle %d: %d accounts are missing", partition, b.mcSeqno, len(want.accounts))
		}
		if !equalRows(got.blocks, want.blocks) || !equalRows(got.transactions, want.transactions) {
			s.Fatalf("partition %d bundle %d: got %d blocks and %d transactions, want %d and %d, or others", partition, b.mcSeqno,
				len(got.blocks), len(got.transactions), len(want.blocks), len(want.transactions))
		}
	}
	if len(headers) > 0 || len(transactions) > 0 || len(accounts) > 0 {
		s.Errorf("partition %d: records after the last bundle", partition)
	}
}

// checkAccounts takes the accounts of a record out of those that are expected.
func (s *stage) checkAccounts(b *source, batch *record.AccountBatch, want map[string]*record.Transaction) {
	s.Helper()
	for _, a := range batch.GetAccounts() {
		last := want[string(a.Account)]
		if last == nil {
			s.Errorf("bundle %d: account %x twice, or not changed at all", b.mcSeqno, a.Account)
			continue
		}
		delete(want, string(a.Account))
		if a.McSeqno != b.mcSeqno || a.LastTransLt != last.Lt || !bytes.Equal(a.LastTransHash, last.Hash) || a.Now != last.Now ||
			!bytes.Equal(a.Hash, last.StateHashAfter) || a.State.GetStatus() != last.EndStatus {
			s.Errorf("bundle %d: account %v does not follow from its last transaction %d", b.mcSeqno, a, last.Lt)
		}
	}
}

// checkBundle takes the records of one bundle from the front.
func (s *stage) checkBundle(b *source, records []*record.Record, count int, content func(*record.Record)) []*record.Record {
	s.Helper()
	for i, r := range records {
		if r.McSeqno != b.mcSeqno || r.PrevMcSeqno != b.prev || int(r.Index) != i {
			s.Fatalf("record %d.%d after %d came as number %d of bundle %d", r.McSeqno, r.Index, r.PrevMcSeqno, i, b.mcSeqno)
		}
		if seal := r.GetSeal(); seal != nil {
			if seal.Rows != uint64(count) || !seal.Master.EqualVT(b.master) || seal.GenUtime != b.genUtime || seal.Shards != nil {
				s.Fatalf("bundle %d: seal %v, want %d rows", b.mcSeqno, seal, count)
			}
			return records[i+1:]
		}
		content(r)
	}
	s.Fatalf("bundle %d has no seal", b.mcSeqno)
	return nil
}

func (s *stage) checkAll(bundles []*source) (headers, transactions, accounts [][]*record.Record) {
	s.Helper()
	last := bundles[len(bundles)-1].mcSeqno
	headers = s.output(schema.Headers, last, time.Minute)
	transactions = s.output(schema.Transactions, last, time.Minute)
	accounts = s.output(schema.Accounts, last, time.Minute)
	for p := range s.Partitions() {
		s.check(bundles, p, headers[p], transactions[p], accounts[p])
	}
	return headers, transactions, accounts
}

func TestEveryRowGoesToItsPartitionInOrder(t *testing.T) {
	bundles := realBundles(t)
	for _, partitions := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(partitions), func(t *testing.T) {
			s := onEmbedded(t, partitions)
			s.feed(bundles)
			c := s.start(DefaultConfiguration())
			s.checkAll(bundles)
			s.stop(c)
		})
	}
}

// restarted runs the worker in short lives until everything is published.
func (s *stage) restarted(bundles []*source) (lives int) {
	s.Helper()
	configuration := DefaultConfiguration()
	configuration.PublishBytes = 100 << 10
	configuration.MaxBytes = 1 << 20
	configuration.Cells.Dir = s.cells
	last := bundles[len(bundles)-1].mcSeqno
	for done := false; !done; lives++ {
		c := s.start(configuration)
		// Stop it a random time after it has begun to publish in this life.
		s.awaitBundles(c, 1+rand.IntN(8), rand.N(5*time.Millisecond))
		s.stop(c)
		done = true
		for p := range s.Partitions() {
			for _, topic := range []schema.Topic{schema.Headers, schema.Transactions, schema.Accounts} {
				seal, err := s.LastSeal(s.Context(), topic.Name, p)
				if err != nil {
					s.Fatal(err)
				}
				done = done && seal != nil && seal.McSeqno == last
			}
		}
	}
	return lives
}

// awaitBundles waits until the worker has published some bundles, or has
// nothing to do any more.
func (s *stage) awaitBundles(c *Component, n int, more time.Duration) {
	s.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		published := 0
		for p := range s.Partitions() {
			published += int(testutil.ToFloat64(c.metrics.bundles.WithLabelValues(fmt.Sprint(p))))
		}
		left, err := s.Lag(s.Context(), c.configuration.Group, schema.Blocks)
		if err != nil {
			s.Fatal(err)
		}
		if published >= n || left == 0 {
			break
		}
	}
	time.Sleep(more)
}

func TestRestartsAtAnyPointChangeNothing(t *testing.T) {
	bundles := realBundles(t)
	check := func(t *testing.T, s *stage) {
		// In portions, so that a machine that is fast in one life has work left
		// for the next ones.
		lives := 0
		for portion := range slices.Chunk(bundles, (len(bundles)+7)/8) {
			s.feed(portion)
			lives += s.restarted(portion)
		}
		t.Logf("%d lives for %d bundles", lives, len(bundles))
		s.checkAll(bundles)
	}
	for _, partitions := range []int{1, 2} {
		t.Run(fmt.Sprintf("embedded %d", partitions), func(t *testing.T) { check(t, onEmbedded(t, partitions)) })
	}
	t.Run("apache 2", func(t *testing.T) { check(t, newStage(t, 2, kafka.Dependencies{}, kafkatest.Apache(t)...)) })
}

func TestTheSameBundlesGiveTheSameBytes(t *testing.T) {
	bundles := realBundles(t)
	var first []byte
	for _, publishBytes := range []int{1, 8 << 20} {
		s := onEmbedded(t, 1)
		s.feed(bundles)
		configuration := DefaultConfiguration()
		configuration.PublishBytes = publishBytes
		c := s.start(configuration)
		headers, transactions, accounts := s.checkAll(bundles)
		s.stop(c)
		var all []byte
		for _, r := range slices.Concat(headers[0], transactions[0], accounts[0]) {
			all = append(all, encode(t, r)...)
		}
		if first == nil {
			first = all
		} else if !bytes.Equal(first, all) {
			t.Error("two runs differ")
		}
	}
}

func TestABlockThatDoesNotDecodeStopsThePartitionThere(t *testing.T) {
	bundles := realBundles(t)[:20]
	bad := bundles[9].blocks[0]
	good := bad.Boc
	bad.Boc = append([]byte(nil), good[:len(good)-7]...)
	s := onEmbedded(t, 1)
	s.feed(bundles)
	c := s.start(DefaultConfiguration())
	defer s.stop(c)
	for limit := time.Now().Add(time.Minute); testutil.ToFloat64(c.metrics.failures.WithLabelValues("0")) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("no failure was counted")
		}
	}
	if testutil.ToFloat64(c.metrics.stopped.WithLabelValues("0")) != 1 {
		t.Error("no alarm")
	}
	bad.Boc = good
	headers, transactions := s.output(schema.Headers, 9, time.Minute), s.output(schema.Transactions, 9, time.Minute)
	accounts := s.output(schema.Accounts, 9, time.Minute)
	s.check(bundles[:9], 0, headers[0], transactions[0], accounts[0])
	for _, topic := range []schema.Topic{schema.Headers, schema.Transactions, schema.Accounts} {
		if seal, err := s.LastSeal(t.Context(), topic.Name, 0); err != nil || seal.McSeqno != 9 {
			t.Errorf("%s goes on to bundle %v, %v", topic.Name, seal, err)
		}
	}
	left, err := s.Lag(t.Context(), c.configuration.Group, schema.Blocks)
	want := int64(0)
	for _, b := range bundles[9:] {
		want += int64(len(b.input(0, 1)))
	}
	if err != nil || left != want {
		t.Errorf("%d records are left to read, want %d; %v", left, want, err)
	}
	job := &job{ctx: t.Context(), id: bad.Id, boc: good[:10], mcSeqno: 10, partitions: 1, done: make(chan struct{})}
	job.run(new(decode.Decoder))
	if !strings.Contains(job.err.Error(), blockName(bad.Id)) {
		t.Errorf("the error does not name the block: %v", job.err)
	}
}

func TestWorkersShareAndTakeOverPartitions(t *testing.T) {
	bundles := realBundles(t)
	half := len(bundles) / 2
	s := onEmbedded(t, 4)
	s.feed(bundles[:half])
	first := s.start(DefaultConfiguration())
	second := s.start(DefaultConfiguration())
	s.output(schema.Transactions, bundles[half-1].mcSeqno, time.Minute)
	s.stop(first)
	s.feed(bundles[half:])
	s.checkAll(bundles)
	s.stop(second)
}
