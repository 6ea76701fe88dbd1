package worker

// memory remembers what was used lately, by hash. It has two halves: when the
// younger one is full, the older one is forgotten.
type memory[V any] struct {
	young, old map[[32]byte]V
	used, half int
}

// newMemory remembers values of a size together, in any unit.
func newMemory[V any](size int) *memory[V] {
	return &memory[V]{young: map[[32]byte]V{}, half: size / 2}
}

func (m *memory[V]) get(hash [32]byte) (V, bool) {
	if v, ok := m.young[hash]; ok {
		return v, true
	}
	v, ok := m.old[hash]
	return v, ok
}

func (m *memory[V]) put(hash [32]byte, v V, size int) {
	if m.used+size > m.half {
		m.old, m.young, m.used = m.young, map[[32]byte]V{}, 0
	}
	m.young[hash] = v
	m.used += size
}
