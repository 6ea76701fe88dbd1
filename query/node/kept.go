package node

import "sync"

// kept keeps up to max values by what they are asked for. When it is full it begins
// anew: what is asked for often is back at once.
type kept[K comparable, V any] struct {
	max  int
	mu   sync.Mutex
	held map[K]V
}

func newKept[K comparable, V any](max int) *kept[K, V] {
	return &kept[K, V]{max: max, held: map[K]V{}}
}

// find returns the value, or what get returns, which is kept when it is there.
func (k *kept[K, V]) find(key K, get func() (value V, there bool, err error)) (V, error) {
	k.mu.Lock()
	value, ok := k.held[key]
	k.mu.Unlock()
	if ok {
		return value, nil
	}
	value, there, err := get()
	if err == nil && there {
		k.add(key, value)
	}
	return value, err
}

func (k *kept[K, V]) add(key K, value V) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.held) >= k.max {
		clear(k.held)
	}
	k.held[key] = value
}
