package v3

import (
	"errors"
	"strconv"

	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// fromIndex gives the account that the request names, as the index has it; nil
// when the node layer is to be asked: on request, without an index, and about
// accounts that the index does not know, if there is a node layer. Without one, or
// in a workchain that it has no addresses of, such an account has nothing.
func (q *request) fromIndex() (*record.Account, error) {
	if q.values.Bool("use_v2") {
		return nil, nil
	}
	sent := q.values.Addresses("address")
	if len(sent) == 0 {
		return nil, errNoAccount
	}
	a, err := q.indexed(sent[0])
	if a != nil || err != nil || q.mayAskOf(sent[0]) {
		return a, err
	}
	return &record.Account{Account: sent[0][:], LastTransHash: make([]byte, len(list.Hash{})), State: &record.AccountState{}}, nil
}

// indexed is an account as the index has it, nil when it has not.
func (q *request) indexed(a address.Address) (*record.Account, error) {
	if q.store == nil {
		return nil, nil
	}
	switch err := q.look(); {
	case errors.Is(err, store.ErrEmpty) && q.hasNode():
		return nil, nil // the node layer knows more than an index without a block
	case err != nil:
		return nil, err
	}
	found, err := q.store.Accounts(q, q.view, []address.Address{a})
	return found[a], err
}

// mayAskOf says that the node layer is there for an address: its workchains have
// 8 bits (block.tlb, addr_std).
func (q *request) mayAskOf(a address.Address) bool {
	workchain := schema.Workchain(a[:])
	return workchain == int32(int8(workchain)) && (q.hasNode() || q.store == nil)
}

// hasNode says that there are lite servers to ask.
func (q *request) hasNode() bool { return q.node != nil && q.node.Configured() }

// indexedInformation answers addressInformation.
func (q *request) indexedInformation(a *record.Account) error {
	i := informationIn(a)
	if hash := codeOf(a); hash != (list.Hash{}) {
		bocs, err := q.store.CodeBoCs(q, []list.Hash{hash})
		if err != nil {
			return err
		}
		i.code = api.WithoutCRC(bocs[hash])
	}
	i.data = api.WithoutCRC(a.Data)
	q.body = addressInformationShape.Append(q.body, i)
	return nil
}

// informationIn is what the index says of an account.
func informationIn(a *record.Account) *information {
	return &information{
		balance: strconv.FormatUint(a.State.GetBalance(), 10), lastLT: a.LastTransLt, lastHash: a.LastTransHash,
		status: render.Status(a.State.GetStatus()),
	}
}

// indexedWallet answers walletInformation.
func (q *request) indexedWallet(a *record.Account) error {
	i := informationIn(a)
	if w := walletOf(a); w != nil {
		i.wallet = *w
	} else if a.State.GetStatus() != record.AccountStatus_ACCOUNT_UNINIT {
		return errNoWallet
	}
	q.body = walletInformationShape.Append(q.body, i)
	return nil
}
