package trace

import (
	"maps"
	"slices"
	"strings"
)

// Memory is a Store of what is open, for those who look at some blocks and need no
// stage. The zero Memory is empty.
type Memory struct{ values map[string][]byte }

func storeKey(kind byte, parts [][]byte) string {
	key := append(make([]byte, 0, 80), kind)
	for _, p := range parts {
		key = append(key, p...)
	}
	return string(key)
}

// Get implements Store.
func (m *Memory) Get(kind byte, parts ...[]byte) ([]byte, error) {
	return m.values[storeKey(kind, parts)], nil
}

// Set implements Store.
func (m *Memory) Set(value []byte, kind byte, parts ...[]byte) error {
	if m.values == nil {
		m.values = make(map[string][]byte)
	}
	m.values[storeKey(kind, parts)] = slices.Clone(value)
	return nil
}

// Delete implements Store.
func (m *Memory) Delete(kind byte, parts ...[]byte) error {
	delete(m.values, storeKey(kind, parts))
	return nil
}

// Each implements Store.
func (m *Memory) Each(prefix, after []byte, visit func(rest, value []byte) bool) error {
	for _, key := range slices.Sorted(maps.Keys(m.values)) {
		rest, ok := strings.CutPrefix(key, string(prefix))
		if ok && (after == nil || rest > string(after)) && !visit([]byte(rest), m.values[key]) {
			break
		}
	}
	return nil
}

// Len is the number of values.
func (m *Memory) Len() int { return len(m.values) }
