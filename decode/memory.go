package decode

import "tonscribe/schema/record"

// memory hands out the parts of records from larger blocks. Nothing is handed out
// twice, so records may outlive the Decoder.
type memory struct {
	bytes    []byte
	grown    int
	txs      arena[record.Transaction]
	messages arena[record.Message]
	storage  arena[record.StoragePhase]
	credit   arena[record.CreditPhase]
	compute  arena[record.ComputePhase]
	action   arena[record.ActionPhase]
	bounce   arena[record.BouncePhase]
	states   arena[record.AccountState]
	u64      arena[uint64]
	u32      arena[uint32]
	pointers []*record.Message
}

// take returns n bytes, zeroed.
func (m *memory) take(n int) []byte {
	if n > len(m.bytes) {
		if n >= 1<<12 {
			return make([]byte, n)
		}
		m.grown = min(max(2*m.grown, 1<<11), 1<<16)
		m.bytes = make([]byte, max(m.grown, n))
	}
	b := m.bytes[:n:n]
	m.bytes = m.bytes[n:]
	return b
}

// list returns room for n messages.
func (m *memory) list(n int) []*record.Message {
	if n > len(m.pointers) {
		m.pointers = make([]*record.Message, max(n, 64))
	}
	l := m.pointers[:0:n]
	m.pointers = m.pointers[n:]
	return l
}

func (m *memory) uint64(v uint64) *uint64 {
	p := m.u64.next()
	*p = v
	return p
}

func (m *memory) uint32(v uint32) *uint32 {
	p := m.u32.next()
	*p = v
	return p
}

// arena hands out values of one type, zeroed.
type arena[T any] struct {
	free  []T
	grown int
}

func (s *arena[T]) next() *T {
	if len(s.free) == 0 {
		s.grown = min(max(2*s.grown, 2), 64)
		s.free = make([]T, s.grown)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}
