package contract

import (
	"tonscribe/schema/record"
	"tonscribe/ton/tvm"
)

// maxNominators bounds what is read of a list of nominators.
const maxNominators = 1024

// nominatorPool reads get_pool_data and list_nominators.
func nominatorPool(p *probe) {
	r := p.run("get_pool_data", 9)
	pool := &record.NominatorPool{State: r.uint32(), NominatorsCount: r.uint32(), StakeSent: r.amount(),
		ValidatorAmount: r.amount(), Validator: r.accountOf(-1), ValidatorShare: r.uint32(), MaxNominators: r.uint32(),
		MinValidatorStake: r.amount(), MinNominatorStake: r.amount()}
	if !r.ok {
		return
	}
	p.facts().NominatorPool = pool
	pool.Nominators = nominators(p.run("list_nominators", 1).take())
}

// accountOf is a number that is the id of an account.
func (r *results) accountOf(workchain int8) []byte {
	id := r.integer()
	if id.Sign() < 0 || id.BitLen() > 256 {
		r.ok = false
		return nil
	}
	sign := byte(workchain >> 7)
	account := make([]byte, 36)
	account[0], account[1], account[2], account[3] = sign, sign, sign, byte(workchain)
	id.FillBytes(account[4:])
	return account
}

// nominators reads a list of pairs (first, rest), null at its end.
func nominators(list any) (all []*record.Nominator) {
	for len(all) < maxNominators {
		pair, ok := list.(tvm.Tuple)
		if !ok || len(pair) != 2 {
			return all
		}
		fields, ok := pair[0].(tvm.Tuple)
		if !ok {
			return all
		}
		r := &results{values: fields, ok: len(fields) >= 4}
		one := &record.Nominator{Address: r.accountOf(0), Amount: r.amount(), Pending: r.amount(), WithdrawRequested: r.truth()}
		if !r.ok {
			return all
		}
		all = append(all, one)
		list = pair[1]
	}
	return all
}
