package node

import "github.com/maypok86/otter/v2"

// kept keeps up to so many values by what they are asked for.
type kept[K comparable, V any] struct{ held *otter.Cache[K, V] }

func newKept[K comparable, V any](size int) kept[K, V] {
	return kept[K, V]{otter.Must(&otter.Options[K, V]{MaximumSize: size})}
}

// find returns the value, or what get returns, which is kept when it is there.
func (k kept[K, V]) find(key K, get func() (value V, there bool, err error)) (V, error) {
	if value, ok := k.held.GetIfPresent(key); ok {
		return value, nil
	}
	value, there, err := get()
	if err == nil && there {
		k.held.Set(key, value)
	}
	return value, err
}
