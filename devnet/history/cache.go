package history

import (
	"container/list"
	"sync"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// blockCache keeps parsed blocks, bounded by the bytes of their bags of cells.
type blockCache struct {
	mu    sync.Mutex
	limit int
	size  int
	order *list.List // of *chain.Block, newest first
	by    map[blockKey]*list.Element
}

func newBlockCache(limit int) *blockCache {
	return &blockCache{limit: limit, order: list.New(), by: map[blockKey]*list.Element{}}
}

func (c *blockCache) get(key blockKey) *chain.Block {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*chain.Block)
}

func (c *blockCache) put(b *chain.Block) {
	key := keyOf(b.ID)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] != nil {
		return
	}
	c.by[key] = c.order.PushFront(b)
	c.size += len(b.Data)
	for c.size > c.limit && c.order.Len() > 1 {
		oldest := c.order.Remove(c.order.Back()).(*chain.Block)
		delete(c.by, keyOf(oldest.ID))
		c.size -= len(oldest.Data)
	}
}

// stateCache keeps derived states, bounded by number.
type stateCache struct {
	mu    sync.Mutex
	limit int
	order *list.List // of derived, newest first
	by    map[blockKey]*list.Element
}

type derived struct {
	key  blockKey
	root *cell.Cell
}

func newStateCache(limit int) *stateCache {
	return &stateCache{limit: limit, order: list.New(), by: map[blockKey]*list.Element{}}
}

func (c *stateCache) get(key blockKey) *cell.Cell {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.by[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(derived).root
}

func (c *stateCache) put(key blockKey, root *cell.Cell) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by[key] != nil {
		return
	}
	c.by[key] = c.order.PushFront(derived{key, root})
	for c.order.Len() > c.limit {
		delete(c.by, c.order.Remove(c.order.Back()).(derived).key)
	}
}
