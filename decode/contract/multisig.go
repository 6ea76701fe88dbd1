package contract

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	toncell "tonscribe/ton/cell"
)

// maxMembers is more signers or proposers than a multisig can have: their
// indexes have 8 bits.
const maxMembers = 256

// multisig reads get_multisig_data of multisig v2.
func multisig(p *probe) {
	r := p.run("get_multisig_data", 4)
	next := r.integer()
	m := &record.Multisig{Threshold: r.uint32(), Signers: r.members(), Proposers: r.members()}
	switch {
	case next.Cmp(big.NewInt(-1)) == 0:
		m.AnySeqno = true
	case next.Sign() < 0:
		return
	default:
		m.NextOrderSeqno = next.Bytes()
	}
	if r.ok {
		p.facts().Multisig = m
	}
}

// members reads a dictionary of 8-bit indexes to addresses, in their order.
func (r *results) members() (all [][]byte) {
	root := r.optionalCell()
	if root == nil {
		return nil
	}
	complete, err := toncell.Dictionary{Root: root, Bits: 8}.Walk(maxMembers, func(_ []byte, value *cell.Slice) bool {
		account, ok := ReadAddress(value)
		r.ok = r.ok && ok && account != nil
		all = append(all, account)
		return r.ok
	})
	r.ok = r.ok && complete && err == nil
	return all
}

// multisigOrder reads get_order_data. The multisig must confirm it. An order
// that nobody opened yet gives nulls.
func multisigOrder(p *probe) {
	r := p.run("get_order_data", 9)
	o := &record.MultisigOrder{Multisig: r.someone(), Seqno: r.amount(), Threshold: r.uint32(), Sent: r.truth(),
		Signers: r.members(), ApprovalsMask: r.amount(), ApprovalsNum: r.uint32(), ExpirationDate: r.uint64()}
	order := r.cell()
	if !r.ok {
		return
	}
	o.Order = order.ToBOC()
	p.facts().MultisigOrder = o
}
