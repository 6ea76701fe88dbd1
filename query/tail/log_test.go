package tail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/test/support/enginetest"
)

// log is a log with the topics of a chain.
type log struct {
	testing.TB
	configuration kafka.Configuration
	dependencies  kafka.Dependencies
	producer      *kafka.Client
}

func newLog(t testing.TB, partitions int) *log {
	t.Helper()
	k := enginetest.Kafka(t)
	l := &log{TB: t, configuration: kafka.DefaultConfiguration(), dependencies: kafka.Dependencies{Report: report.Silent(), Dial: k.Dial, Epoch: k.Epoch()}}
	l.configuration.Brokers, l.configuration.Partitions = []string{k.Address()}, partitions
	l.producer = l.client(l.dependencies)
	if err := l.producer.EnsureTopics(t.Context(), schema.Topics); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *log) client(d kafka.Dependencies) *kafka.Client {
	l.Helper()
	c, err := kafka.New(l.configuration, d)
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(c.Close)
	return c
}

// tail makes one that is stopped when the test ends.
func (l *log) tail(maxBytes int) *Tail {
	l.Helper()
	tail := New(Configuration{Group: "sink", MaxBytes: maxBytes}, l.client(l.dependencies), report.Silent())
	l.Cleanup(tail.Stop)
	return tail
}

// place is a partition of a topic.
type place = kafka.TopicPartition

// bundle is one of a chain, as the records of every partition.
type bundle struct {
	seqno, prev uint32
	utime       uint32
	records     map[place][]*record.Record
	made        map[string][]uint64 // rows, once they were asked for
}

// chain makes n bundles of about 20 transactions, with up to three records in every
// partition of that topic.
func chain(n, partitions int) (list []*bundle) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 27 * n, Seed: uint64(n)})
	tokens, traces := synthetic.NewTokens(rows), synthetic.NewTraces()
	for range n {
		b := rows.Next()
		made := &bundle{seqno: b.Seqno, prev: b.Seqno - 1, utime: b.Utime, records: map[place][]*record.Record{}}
		if b.First {
			made.prev = 0
		}
		contracts, assembled := tokens.Records(b, partitions), traces.Records(b, partitions)
		for p := range partitions {
			headers, transactions, accounts := b.Records(p, partitions)
			made.records[place{Topic: schema.Headers.Name, Partition: p}] = headers
			made.records[place{Topic: schema.Transactions.Name, Partition: p}] = split(transactions)
			made.records[place{Topic: schema.Accounts.Name, Partition: p}] = accounts
			made.records[place{Topic: schema.Contracts.Name, Partition: p}] = contracts[p]
			made.records[place{Topic: schema.Traces.Name, Partition: p}] = assembled[p]
		}
		list = append(list, made)
	}
	return list
}

// split puts transactions into three records at most.
func split(records []*record.Record) (all []*record.Record) {
	for _, r := range records {
		parts := []*record.Record{r}
		if list := r.GetTransactions().GetTransactions(); len(list) > 0 {
			parts = nil
			for part := range slices.Chunk(list, (len(list)+2)/3) {
				parts = append(parts, &record.Record{Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: part}}})
			}
		}
		for _, part := range parts {
			part.McSeqno, part.PrevMcSeqno, part.Index = r.McSeqno, r.PrevMcSeqno, uint32(len(all))
			all = append(all, part)
		}
	}
	return all
}

// places are all partitions, in order.
func (b *bundle) places() []place {
	return slices.SortedFunc(maps.Keys(b.records), func(a, c place) int {
		return slices.Compare([]string{a.String()}, []string{c.String()})
	})
}

// publish puts records into a partition.
func (l *log) publish(at place, records ...*record.Record) {
	l.Helper()
	if err := l.producer.Publish(l.Context(), at.Topic, at.Partition, records); err != nil {
		l.Fatal(err)
	}
}

// publishAll puts bundles into all partitions.
func (l *log) publishAll(bundles ...*bundle) {
	l.Helper()
	for _, at := range bundles[0].places() {
		var records []*record.Record
		for _, b := range bundles {
			records = append(records, b.records[at]...)
		}
		l.publish(at, records...)
	}
}

// await waits until a condition holds, which something new in the tail or the time may
// bring about.
func await(t testing.TB, tail *Tail, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		select {
		case <-tail.Changed():
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within a minute; state: %v", what, tail.State())
		}
	}
}

// awaitNewest waits until a bundle is the newest one.
func awaitNewest(t testing.TB, tail *Tail, seqno uint32) memory.Bundles {
	t.Helper()
	await(t, tail, fmt.Sprint("bundle ", seqno), func() bool { return newest(tail.Bundles()) >= seqno || tail.Err() != nil })
	s := tail.Bundles()
	if newest(s) != seqno || tail.Err() != nil {
		t.Fatalf("bundle %d is the newest one, error %v; want %d", newest(s), tail.Err(), seqno)
	}
	return s
}

// newest is the newest bundle, 0 for none.
func newest(s memory.Bundles) uint32 {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].MCSeqno
}

// contents are the rows of all tables with their records, as hashes.
func contents(b *memory.Bundle) map[string][]uint64 {
	all := map[string][]uint64{}
	for _, of := range table.All {
		for row := range b.All(of) {
			all[of.Name] = append(all[of.Name], hash(row.Words, row.Source))
		}
		slices.Sort(all[of.Name])
	}
	return all
}

func hash(words []uint64, source string) uint64 {
	return table.HashOf(append(slices.Clone(words), xxhash.Sum64String(source))...)
}

// rows are what contents must be: what feeds give of the bundle's records.
func (b *bundle) rows(t testing.TB) map[string][]uint64 {
	t.Helper()
	if b.made != nil {
		return b.made
	}
	all := map[string][]uint64{}
	for at, records := range b.records {
		feed, err := table.NewFeed(at.Topic, table.Options{Take: func(of *table.Table, words []uint64, source string) {
			all[of.Name] = append(all[of.Name], hash(words, source))
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.GetSeal() != nil {
				continue
			}
			payload, err := r.MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := feed.Add(r, payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, hashes := range all {
		slices.Sort(hashes)
	}
	b.made = all
	return all
}

// check compares a snapshot with the bundles that it must have.
func check(t testing.TB, s memory.Bundles, want []*bundle) {
	t.Helper()
	if len(s) != len(want) {
		t.Fatalf("%d bundles, want %d", len(s), len(want))
	}
	for i, b := range s {
		w := want[i]
		if b.MCSeqno != w.seqno || b.PrevMCSeqno != w.prev || b.GenUtime != w.utime {
			t.Errorf("bundle %d after %d of %d, want %d after %d of %d", b.MCSeqno, b.PrevMCSeqno, b.GenUtime, w.seqno, w.prev, w.utime)
		}
		have, rows := contents(b), w.rows(t)
		for _, of := range table.All {
			if !slices.Equal(have[of.Name], rows[of.Name]) {
				t.Errorf("bundle %d has %d rows of %s, want %d others", b.MCSeqno, len(have[of.Name]), of.Name, len(rows[of.Name]))
			}
		}
	}
}

// gate is a way to the log that can be closed.
type gate struct {
	mutex  sync.Mutex
	closed bool
	open   []net.Conn
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial connects when the gate is open.
func (g *gate) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.closed {
		return nil, errors.New("the gate is closed")
	}
	c, err := g.dial(ctx, network, address)
	if err == nil {
		g.open = append(g.open, c)
	}
	return c, err
}

// Shut closes the gate and all connections, or opens it.
func (g *gate) Shut(closed bool) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.closed = closed
	for _, c := range g.open {
		c.Close()
	}
	g.open = nil
}
