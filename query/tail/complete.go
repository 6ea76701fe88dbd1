package tail

import (
	"errors"
	"fmt"

	"tonscribe/query/memory"
)

// errTornChain is a fault of the log that reading it again does not cure.
var errTornChain = errors.New("partitions do not have the same bundles")

// deliver takes a partition's part of a bundle, and shows what is complete now.
func (t *Tail) deliver(p *partition, part *memory.Bundle) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	p.sealed = append(p.sealed, part)
	for {
		parts, err := t.nextParts()
		if parts == nil || err != nil {
			return err
		}
		t.add(memory.Join(parts))
	}
}

// nextParts takes all parts of the next bundle out of the partitions, nil when one has
// not come yet.
func (t *Tail) nextParts() (parts []*memory.Bundle, err error) {
	last := t.partitions[0] // whose next bundle is the newest
	for _, p := range t.partitions {
		if len(p.sealed) == 0 {
			return nil, nil
		}
		if p.sealed[0].MCSeqno > last.sealed[0].MCSeqno {
			last = p
		}
	}
	next := last.sealed[0].MCSeqno
	for _, p := range t.partitions {
		for t.newest == 0 && len(p.sealed) > 0 && p.sealed[0].MCSeqno < next {
			t.held.partial -= p.sealed[0].Bytes() // another partition begins later
			p.sealed = p.sealed[1:]
		}
		if len(p.sealed) == 0 {
			return nil, nil
		}
		if at := p.sealed[0].MCSeqno; at != next {
			return nil, fmt.Errorf("%w: bundle %d is followed by %d in %s, and by %d in %s", errTornChain, t.newest, at, p, next, last)
		}
	}
	for _, p := range t.partitions {
		parts = append(parts, p.sealed[0])
		p.sealed[0], p.sealed = nil, p.sealed[1:]
	}
	return parts, nil
}
