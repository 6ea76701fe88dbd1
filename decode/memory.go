package decode

import "tonscribe/schema/record"

// memory hands out the parts of records from larger pieces. A piece is never
// handed out twice, so records may outlive the Decoder.
type memory struct {
	bytes    []byte
	grown    int
	txs      slab[record.Transaction]
	messages slab[record.Message]
	storage  slab[record.StoragePhase]
	credit   slab[record.CreditPhase]
	compute  slab[record.ComputePhase]
	action   slab[record.ActionPhase]
	bounce   slab[record.BouncePhase]
	states   slab[record.AccountState]
	u64      slab[uint64]
	u32      slab[uint32]
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

// slab hands out values of one type, zeroed.
type slab[T any] struct {
	free  []T
	grown int
}

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.grown = min(max(2*s.grown, 2), 64)
		s.free = make([]T, s.grown)
	}
	p := &s.free[0]
	s.free = s.free[1:]
	return p
}
