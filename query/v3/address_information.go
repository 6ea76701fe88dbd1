package v3

import (
	"encoding/base64"
	"strconv"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
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
	return &record.Account{Account: sent[0][:], LastTransHash: make([]byte, len(store.Hash{})), State: &record.AccountState{}}, nil
}

// indexed is an account as the index has it, nil when it has not.
func (q *request) indexed(a store.Address) (*record.Account, error) {
	if q.store == nil {
		return nil, nil
	}
	if err := q.look(); err != nil {
		if q.hasNode() {
			return nil, nil // nothing is indexed yet
		}
		return nil, err
	}
	found, err := q.store.Accounts(q, q.view, []store.Address{a})
	return found[a], err
}

// mayAskOf says that the node layer is there for an address: its workchains have
// 8 bits (block.tlb, addr_std).
func (q *request) mayAskOf(a store.Address) bool {
	workchain := schema.Workchain(a[:])
	return workchain == int32(int8(workchain)) && (q.hasNode() || q.store == nil)
}

// hasNode says that there are lite servers to ask.
func (q *request) hasNode() bool { return q.node != nil && q.node.Configured() }

// decimal is a number as answers show it.
func decimal(n uint64) openapi.Decimal { return openapi.Decimal(strconv.FormatUint(n, 10)) }

func hashText(hash []byte) openapi.Hash {
	return openapi.Hash(base64.StdEncoding.EncodeToString(hash))
}

// bocText is a bag of cells as account states show it, empty without one.
func bocText(boc []byte) openapi.BOC {
	if len(boc) == 0 {
		return ""
	}
	text := api.AppendBoC(nil, boc)
	return openapi.BOC(text[1 : len(text)-1])
}

// indexedInformation answers addressInformation.
func (q *request) indexedInformation(a *record.Account) error {
	hash := codeOf(a)
	var code []byte
	if hash != (store.Hash{}) {
		bocs, err := q.store.CodeBoCs(q, []store.Hash{hash})
		if err != nil {
			return err
		}
		code = bocs[hash]
	}
	return q.put(addressInformationAnswer{
		Balance: decimal(a.State.GetBalance()), Code: orNull(bocText(code)), Data: orNull(bocText(a.Data)),
		LastLT: decimal(a.LastTransLt), LastHash: hashText(a.LastTransHash), Status: render.Status(a.State.GetStatus()),
	})
}

// indexedWallet answers walletInformation.
func (q *request) indexedWallet(a *record.Account) error {
	w := walletOf(a)
	if w == nil {
		if a.State.GetStatus() != record.AccountStatus_ACCOUNT_UNINIT {
			return errNoWallet
		}
		w = &render.Wallet{}
	}
	return q.put(walletInformationAnswer{
		decimal(a.State.GetBalance()), w.Type, w.Seqno, w.WalletID, decimal(a.LastTransLt), hashText(a.LastTransHash),
		render.Status(a.State.GetStatus()),
	})
}
