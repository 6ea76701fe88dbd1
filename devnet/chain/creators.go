package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// counter is Counters (block.tlb): a total, and two sums in 32.32 fixed point
// that fade with time constants of 2048 and 65536 seconds.
type counter struct {
	updated    uint32
	total      uint64
	fast, slow uint64
}

func (c counter) add(n uint32, now uint32) counter {
	passed := uint64(now - c.updated)
	c.fast, c.slow = fade(c.fast, passed<<5), fade(c.slow, passed)
	c.updated = now
	c.total += uint64(n)
	c.fast += uint64(n) << 32
	c.slow += uint64(n) << 32
	return c
}

// fade is v·exp(-k/65536), rounded, in integers: the same on every machine.
func fade(v, k uint64) uint64 {
	if k >= 48<<16 {
		return 0
	}
	x := new(big.Int).Lsh(new(big.Int).SetUint64(v), fadeBits)
	for i, f := range fadeFactors {
		if k>>i&1 == 1 {
			x.Rsh(x.Mul(x, f), fadeBits)
		}
	}
	half := new(big.Int).Lsh(big.NewInt(1), fadeBits-1)
	return x.Rsh(x.Add(x, half), fadeBits).Uint64()
}

const fadeBits = 128

// fadeFactors are exp(-2^i/65536) in fixed point.
var fadeFactors = func() (out [22]*big.Int) {
	// exp(-x) by its series for the smallest x, then squared again and again
	one := new(big.Int).Lsh(big.NewInt(1), 2*fadeBits)
	term, total := new(big.Int).Set(one), new(big.Int).Set(one)
	for n := int64(1); term.Sign() != 0; n++ {
		term.Quo(term.Neg(term), big.NewInt(n<<16))
		total.Add(total, term)
	}
	for i := range out {
		out[i] = new(big.Int).Rsh(total, fadeBits)
		total.Rsh(total.Mul(total, total), 2*fadeBits)
	}
	return out
}()

func (c counter) store(b *cell.Builder) {
	b.MustStoreUInt(uint64(c.updated), 32).MustStoreUInt(c.total, 64).MustStoreUInt(c.fast, 64).MustStoreUInt(c.slow, 64)
}

func loadCounter(s *cell.Slice) counter {
	return counter{uint32(s.MustLoadUInt(32)), s.MustLoadUInt(64), s.MustLoadUInt(64), s.MustLoadUInt(64)}
}

// countCreators counts a masterchain block and some shard blocks of one
// creator in BlockCreateStats (block.tlb). The key of zeros counts all.
func countCreators(stats *cell.Cell, creator []byte, shardBlocks, now uint32) *cell.Cell {
	counters := cell.NewDict(256)
	if stats != nil {
		s := stats.MustBeginParse()
		counters = sure(s, s.SkipBits(8)).MustLoadDict(256)
	}
	for _, id := range [][]byte{creator, make([]byte, 32)} {
		key := cell.BeginCell().MustStoreSlice(id, 256).EndCell()
		master, shards := counter{updated: now}, counter{updated: now}
		if value, err := counters.LoadValue(key); err == nil {
			sure(value, value.SkipBits(4))
			master, shards = loadCounter(value), loadCounter(value)
		}
		master = master.add(1, now)
		if shardBlocks > 0 {
			shards = shards.add(shardBlocks, now)
		}
		b := cell.BeginCell().MustStoreUInt(4, 4)
		master.store(b)
		shards.store(b)
		sure(counters, counters.SetBuilder(key, b))
	}
	return cell.BeginCell().MustStoreUInt(0x17, 8).MustStoreDict(counters).EndCell()
}
