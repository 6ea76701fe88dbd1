package chain

import (
	"fmt"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// limits are BlockLimits (block.tlb): underload, soft, hard.
type limits struct{ bytes, gas, lt [3]uint64 }

// level is how full a block is.
type level int

const (
	underload level = iota // less than the first limit
	normal                 // less than the soft limit
	soft                   // less than the middle of soft and hard limit
	medium                 // less than the hard limit
	hard
)

// load is what a block holds so far.
type load struct {
	gas     uint64
	bytes   uint64
	ltDelta uint64
}

// A transaction's own cells, its records in the message and account maps and
// the changed paths of the state take about this many bytes in a block.
const bytesOfTransaction = 900

func (l *load) transaction(result *tvm.TransactionExecutionResult) {
	l.gas += uint64(result.GasUsed)
	l.bytes += bytesOfTransaction
	for _, m := range result.OutMessages {
		l.bytes += bytesOf(m.Cell, 64)
	}
}

// bytesOf estimates the size of at most n cells of a tree.
func bytesOf(root *cell.Cell, n int) uint64 {
	var total uint64
	for open := []*cell.Cell{root}; len(open) > 0 && n > 0; n-- {
		c := open[len(open)-1]
		open = open[:len(open)-1]
		total += uint64(c.BitsSize()/8) + 8
		for i := range int(c.RefsNum()) {
			if child, err := c.PeekRef(i); err == nil {
				open = append(open, child)
			}
		}
	}
	return total
}

func levelOf(v uint64, l [3]uint64) level {
	switch {
	case v < l[0]:
		return underload
	case v < l[1]:
		return normal
	case v < (l[1]+l[2])/2:
		return soft
	case v < l[2]:
		return medium
	}
	return hard
}

func (l load) level(m limits) level {
	return max(levelOf(l.gas, m.gas), levelOf(l.bytes, m.bytes), levelOf(l.ltDelta, m.lt))
}

func (c *collation) limits() limits {
	if c.shard.workchain == masterchain {
		return c.settings.masterLimits
	}
	return c.settings.baseLimits
}

// reached reports whether the block is as full as l.
func (c *collation) reached(l level) bool {
	c.load.ltDelta = c.maxLT - c.startLT
	return c.load.level(c.limits()) >= l
}

// full reports whether internal messages have to wait for the next block.
func (c *collation) full() bool { return c.reached(soft) }

func limitsOf(b *tlb.BlockLimits) limits {
	three := func(p tlb.ParamLimits) [3]uint64 {
		return [3]uint64{uint64(p.Underload), uint64(p.SoftLimit), uint64(p.HardLimit)}
	}
	switch l := b.Limits.(type) {
	case tlb.BlockLimitsV1:
		return limits{three(l.Bytes), three(l.Gas), three(l.LTDelta)}
	case tlb.BlockLimitsV2:
		return limits{three(l.Bytes), three(l.Gas), three(l.LTDelta)}
	}
	panic(fmt.Errorf("block limits of type %T", b.Limits))
}
