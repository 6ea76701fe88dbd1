package cache

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/query/reader"
)

// rows are values of one kind, by keys K.
type rows[K comparable, V value] struct {
	cache     *Cache
	kind      kind
	key       func(kind, K) key
	compare   func(a, b K) int
	read      func(ctx context.Context, keys []K) (map[K]V, error)
	held, not prometheus.Counter // looked up
}

func rowsOf[K comparable, V value](c *Cache, of kind, name func(kind, K) key, compare func(a, b K) int, read func(context.Context, []K) (map[K]V, error)) rows[K, V] {
	lookUps := func(held string) prometheus.Counter { return c.lookUps.WithLabelValues(kindNames[of], held) }
	return rows[K, V]{c, of, name, compare, read, lookUps("true"), lookUps("false")}
}

// at returns the newest rows of some keys. A key that has none is left out.
func (r *rows[K, V]) at(ctx context.Context, keys []K) (map[K]V, error) {
	upTo, err := r.cache.current(ctx)
	if err != nil {
		return nil, err
	}
	found, missing := make(map[K]V, len(keys)), keys
	if r.cache.held != nil {
		missing = nil
		for _, k := range keys {
			v, _ := r.cache.held.GetIfPresent(r.key(r.kind, k))
			if row, ok := v.(V); ok {
				found[k] = row
			} else if until, ok := v.(absent); !ok || time.Now().UnixNano() > int64(until) {
				missing = append(missing, k)
			}
		}
		r.held.Add(float64(len(keys) - len(missing)))
	}
	if len(missing) == 0 {
		return found, nil
	}
	fresh, err := r.fresh(ctx, missing, upTo)
	maps.Copy(found, fresh)
	return found, err
}

// fresh reads the rows of keys and holds them, unless more has become visible than upTo.
func (r *rows[K, V]) fresh(ctx context.Context, keys []K, upTo uint32) (map[K]V, error) {
	keys = slices.SortedFunc(slices.Values(keys), r.compare)
	keys = slices.CompactFunc(keys, func(a, b K) bool { return a == b })
	r.not.Add(float64(len(keys)))
	read, err := reader.Gather(ctx, reader.Chunks(keys, r.cache.reader.Splits(len(keys)/2), r.compare), func(ctx context.Context, part []K) ([]map[K]V, error) {
		some, err := r.read(ctx, part)
		return []map[K]V{some}, err
	})
	if err != nil {
		return nil, err
	}
	found := make(map[K]V, len(keys))
	for _, some := range read {
		maps.Copy(found, some)
	}
	r.keep(keys, found, upTo)
	return found, nil
}

// keep holds what was read of keys.
func (r *rows[K, V]) keep(keys []K, read map[K]V, upTo uint32) {
	c := r.cache
	if c.held == nil || upTo == 0 || !c.dropping.TryRLock() {
		return
	}
	defer c.dropping.RUnlock()
	if c.upTo.Load() != upTo {
		return
	}
	until := absent(time.Now().Add(absentFor).UnixNano())
	for _, k := range keys {
		if v, ok := read[k]; !ok {
			c.held.Set(r.key(r.kind, k), until)
		} else if v.bytes() >= 0 {
			c.held.Set(r.key(r.kind, k), v)
		}
	}
}
