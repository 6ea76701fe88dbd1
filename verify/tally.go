package verify

// A tally sums up rows by their hashes, in buckets of masterchain seqnos. Sums do
// not depend on the order, so that two tables in different orders can be
// compared: they are equal, but for a chance of 2⁻⁶⁴, when the hashes' sums are.
type tally struct {
	low, high uint32
	width     uint32
	cells     [subjects][]cell
}

// cell is the sum of a bucket.
type cell struct{ rows, sum uint64 }

// A subject is what is summed up.
type subject int

const (
	// The rows that are made in tables which point at others.
	blockRows subject = iota
	transactionRows
	messageRows
	accountRows
	listRows
	tracedRows
	traceListRows
	actionListRows
	// blockTransactions: the block of every transaction.
	blockTransactions
	// sealedTransactions: bundle and partition of every transaction.
	sealedTransactions
	// sealedAccounts: bundle and partition of every account that a bundle changes.
	sealedAccounts
	// blockRecords and transactionRecords: the bytes of the records.
	blockRecords
	transactionRecords
	// transactionStates: what any decoder knows of the states of transactions.
	transactionStates
	subjects
)

const buckets = 4096

func newTally(low, high uint32) *tally {
	span := uint64(high) - uint64(low) + 1
	t := &tally{low: low, high: high, width: uint32((span + buckets - 1) / buckets)}
	n := (span + uint64(t.width) - 1) / uint64(t.width)
	for i := range t.cells {
		t.cells[i] = make([]cell, n)
	}
	return t
}

func (t *tally) holds(mcSeqno uint32) bool { return mcSeqno >= t.low && mcSeqno <= t.high }

func (t *tally) add(s subject, mcSeqno uint32, rows, hash uint64) {
	c := &t.cells[s][(mcSeqno-t.low)/t.width]
	c.rows += rows
	c.sum += rows * hash
}

func (t *tally) merge(other *tally) {
	for s := range t.cells {
		for i, c := range other.cells[s] {
			t.cells[s][i].rows += c.rows
			t.cells[s][i].sum += c.sum
		}
	}
}

func (t *tally) rows(s subject) (rows uint64) {
	for _, c := range t.cells[s] {
		rows += c.rows
	}
	return rows
}

// bucket is the range of a bucket.
func (t *tally) bucket(i int) (low, high uint32) {
	low = t.low + uint32(i)*t.width
	return low, uint32(min(uint64(low)+uint64(t.width)-1, uint64(t.high)))
}

// firstDifferent gives the first bucket that differs, -1 when all are equal.
func firstDifferent(a, b []cell) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return -1
}
