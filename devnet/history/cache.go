package history

import (
	"container/list"
	"sync"
)

// cache keeps what was used last, bounded by the weights of the values.
type cache[V any] struct {
	mu     sync.Mutex
	limit  int
	size   int
	weight func(V) int
	order  *list.List // of entry[V], newest first
	by     map[blockKey]*list.Element
}

type entry[V any] struct {
	key   blockKey
	value V
}

func newCache[V any](limit int, weight func(V) int) *cache[V] {
	return &cache[V]{limit: limit, weight: weight, order: list.New(), by: map[blockKey]*list.Element{}}
}

// get returns the zero value for what is not there.
func (c *cache[V]) get(key blockKey) (value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.by[key]; e != nil {
		c.order.MoveToFront(e)
		value = e.Value.(entry[V]).value
	}
	return value
}

// put keeps the newest value however large it is.
func (c *cache[V]) put(key blockKey, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] != nil {
		return
	}
	c.by[key] = c.order.PushFront(entry[V]{key, value})
	c.size += c.weight(value)
	for c.size > c.limit && c.order.Len() > 1 {
		oldest := c.order.Remove(c.order.Back()).(entry[V])
		delete(c.by, oldest.key)
		c.size -= c.weight(oldest.value)
	}
}
