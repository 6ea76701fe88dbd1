package stage

import "tonscribe/schema/record"

// Output is the records of one bundle, by partition, each partition's ended by
// its seal.
type Output struct {
	Records [][]*record.Record
	Bytes   int
}

// Pages cuts the rows of a bundle into records of the content B. What goes into a
// record depends on the rows alone, so that a bundle that is worked out again
// gives the same bytes.
type Pages[B any] struct {
	bundle *Bundle
	limit  int
	wrap   func(*B) *record.Record
	pages  []page[B]
}

// page is what one partition has of the bundle.
type page[B any] struct {
	records []*record.Record
	open    *B
	bytes   int // of open
	size    int
	rows    uint64
}

// NewPages returns pages for a number of partitions. A record takes rows up to
// limit bytes; wrap makes it out of its content.
func NewPages[B any](b *Bundle, partitions, limit int, wrap func(*B) *record.Record) *Pages[B] {
	return &Pages[B]{b, limit, wrap, make([]page[B], partitions)}
}

// Add puts a row of size bytes into a partition's open record.
func (p *Pages[B]) Add(partition, size int, put func(*B)) {
	to := &p.pages[partition]
	if to.open != nil && to.bytes+size > p.limit {
		p.close(to)
	}
	if to.open == nil {
		to.open, to.bytes = new(B), 0
	}
	put(to.open)
	to.bytes += size
	to.size += size
	to.rows++
}

func (p *Pages[B]) close(to *page[B]) {
	p.append(to, p.wrap(to.open))
	to.open = nil
}

func (p *Pages[B]) append(to *page[B], r *record.Record) {
	r.McSeqno, r.PrevMcSeqno, r.Index = p.bundle.McSeqno, p.bundle.PrevMcSeqno, uint32(len(to.records))
	to.records = append(to.records, r)
}

// Seal ends the bundle in every partition.
func (p *Pages[B]) Seal() (out Output) {
	for i := range p.pages {
		to := &p.pages[i]
		if to.open != nil {
			p.close(to)
		}
		p.append(to, &record.Record{Content: &record.Record_Seal{Seal: &record.Seal{
			Rows: to.rows, Master: p.bundle.Seal.Master, GenUtime: p.bundle.Seal.GenUtime}}})
		out.Records = append(out.Records, to.records)
		out.Bytes += to.size + len(to.records)
	}
	return out
}
