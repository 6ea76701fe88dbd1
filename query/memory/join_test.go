package memory_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"tonscribe/query/memory"
	"tonscribe/schema/table"
)

func TestJoinedPartsAreTheBundleThatTheyArePartsOf(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(3, 4))}
	records := g.records()
	for _, n := range []int{1, 2, 7} {
		whole, parts, turn := memory.NewBundle(70), make([]*memory.Bundle, n), 0
		for i := range parts {
			parts[i] = memory.NewBundle(70)
		}
		take := func(of *table.Table, words []uint64, source string) {
			whole.Add(of, words, source)
			parts[turn%n].Add(of, words, source)
			turn++
		}
		for _, topic := range slices.Sorted(maps.Keys(records)) {
			payload, err := records[topic].MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			feed, err := table.NewFeed(topic, table.Options{Take: take})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := feed.Add(records[topic], payload); err != nil {
				t.Fatal(err)
			}
		}
		whole.Sort()
		for _, part := range parts {
			part.Sort()
		}
		joined := memory.Join(parts)
		if joined.MCSeqno != 70 || joined.Rows() != whole.Rows() || joined.Rows() != turn || joined.Bytes() != whole.Bytes() {
			t.Errorf("%d parts: bundle %d with %d rows in %d bytes, want 70 with %d (of %d) in %d", n, joined.MCSeqno, joined.Rows(), joined.Bytes(), whole.Rows(), turn, whole.Bytes())
		}
		for _, of := range table.All {
			// Rows of the same key come in any order.
			if have, want := hashes(joined, of), hashes(whole, of); !slices.Equal(have, want) {
				t.Errorf("%d parts: table %s has other rows, or in another order", n, of.Name)
			}
		}
	}
}

// hashes are those of a table's rows with their records, in the order of the key.
func hashes(b *memory.Bundle, of *table.Table) (all []uint64) {
	var key, last []uint64
	begun := 0
	for row := range b.All(of) {
		key = key[:0]
		for _, name := range of.Key {
			place, _ := of.Place(name)
			key = append(key, row.Words[place.At:place.At+place.Words]...)
		}
		if !slices.Equal(key, last) {
			slices.Sort(all[begun:])
			begun, last = len(all), slices.Clone(key)
		}
		all = append(all, table.HashOf(append(slices.Clone(row.Words), xxhash.Sum64String(row.Source))...))
	}
	slices.Sort(all[begun:])
	return all
}
