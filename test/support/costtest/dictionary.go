package costtest

import "github.com/xssnick/tonutils-go/tvm/cell"

// SharedDictionary has 2^forks entries below each of its first edges in forks
// cells: both sides of a fork are the same cell.
func SharedDictionary(keyBits, forks uint, value *cell.Builder) *cell.Cell {
	rest := keyBits - forks
	// hml_same$11 v:0 n: a label of rest zeros
	inner := cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(uint64(rest), labelSize(rest)).MustStoreBuilder(value).EndCell()
	for range forks {
		inner = cell.BeginCell().MustStoreUInt(0b00, 2).MustStoreRef(inner).MustStoreRef(inner).EndCell()
	}
	return inner
}

// labelSize is how many bits tell a label's length up to n.
func labelSize(n uint) (bits uint) {
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}
