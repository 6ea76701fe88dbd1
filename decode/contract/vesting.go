package contract

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
)

// maxWhitelist bounds what is read of a whitelist.
const maxWhitelist = 4096

// vesting reads get_vesting_data of vesting wallets.
func vesting(p *probe) {
	r := p.run("get_vesting_data", 8)
	v := &record.Vesting{StartTime: r.uint64(), TotalDuration: r.uint64(), UnlockPeriod: r.uint64(), CliffDuration: r.uint64(),
		TotalAmount: r.amount(), Sender: r.address(), Owner: r.address(), Whitelist: r.whitelist()}
	if r.ok {
		p.facts().Vesting = v
	}
}

// whitelist reads the keys of a dictionary: a workchain of 8 bits and an
// account id.
func (r *results) whitelist() (all [][]byte) {
	root := r.optionalCell()
	if root == nil {
		return nil
	}
	_, err := toncell.Dictionary{Root: root, Bits: 264}.Walk(maxWhitelist, func(key []byte, _ *cell.Slice) bool {
		workchain := byte(int8(key[0]) >> 7) // the sign
		all = append(all, append([]byte{workchain, workchain, workchain}, key...))
		return true
	})
	r.ok = r.ok && err == nil
	return all
}
