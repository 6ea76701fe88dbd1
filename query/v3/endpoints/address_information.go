package endpoints

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/node"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	v3 "tonscribe/query/v3"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

var accountOrV2 = []params.Param{
	{Name: "address", Kind: params.AddressKind, Required: true, Description: "account"},
	{Name: "use_v2", Kind: params.BoolKind, Default: "false", Description: "ask the node layer; account states have its words then"},
}

var errNoAccount = missing("address of account is required")

// statusWord is the status in the words of the index, unless the node layer's
// are asked for.
func statusWord(q *v3.Request, status string) string {
	if status == node.Uninitialized && !q.Values.Bool("use_v2") {
		return "uninit"
	}
	return status
}

var statusWords = api.Words{"uninit", "uninitialized", "frozen", "active", "nonexist"}

// information is what addressInformation and walletInformation say of an account,
// wherever it was read.
type information struct {
	balance    string
	code, data []byte
	frozenHash []byte
	lastLT     uint64
	lastHash   []byte
	status     string
	wallet     render.Wallet
}

// lastMembers are those that the two have at their end.
func lastMembers(between ...api.Member[*information]) []api.Member[*information] {
	last := []api.Member[*information]{
		api.Decimal("last_transaction_lt", func(i *information) uint64 { return i.lastLT }),
		api.HashOrEmpty("last_transaction_hash", func(i *information) []byte { return i.lastHash }),
	}
	return append(append(last, between...), api.Word("status", statusWords, func(i *information) string { return i.status }))
}

var balanceMember = api.DecimalText("balance", func(i *information) string { return i.balance })

var addressInformationShape = api.New("AddressInformationAnswer", append([]api.Member[*information]{
	balanceMember,
	api.BoC("code", func(i *information) []byte { return i.code }).Null(),
	api.BoC("data", func(i *information) []byte { return i.data }).Null(),
}, lastMembers(api.Hash("frozen_hash", func(i *information) []byte { return i.frozenHash }).Null())...)...)

var addressInformation = &v3.Endpoint{
	Path: "/addressInformation", Aliases: []string{"/account"}, Tag: nodeAccess, Summary: "Address information",
	Description: "State of an account: from the index, or as lite servers prove it with use_v2 and when the index does not know the account.",
	Params:      accountOrV2, Result: addressInformationShape, Node: true,
	Errors: []params.Error{*errNoAccount},
	Serve: func(q *v3.Request) error {
		return serveAccount(q, "getAddressInformation", addressInformationShape, indexedInformation, func(s *node.Account) (*information, error) {
			i := informationOf(q, s)
			i.code, i.data, i.frozenHash = bocOf(s.Code()), bocOf(s.Data()), s.FrozenHash()
			return i, nil
		})
	},
}

func informationOf(q *v3.Request, s *node.Account) *information {
	return &information{balance: s.Balance.String(), lastLT: s.Last.LT, lastHash: s.Last.Hash[:], status: statusWord(q, s.Status())}
}

// bocOf is a cell as a bag, nil for none.
func bocOf(c *cell.Cell) []byte {
	if c == nil {
		return nil
	}
	return c.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})
}

var errNoWallet = &params.Error{Status: http.StatusConflict, Text: "not a wallet"}

var walletInformationShape = api.New("WalletInformationAnswer", append([]api.Member[*information]{
	balanceMember,
	api.Text("wallet_type", func(i *information) string { return i.wallet.Type }).Optional(),
	api.Uint32If("seqno", func(i *information) *uint32 { return i.wallet.Seqno }).Optional(),
	api.Uint32If("wallet_id", func(i *information) *uint32 { return i.wallet.WalletID }).Optional(),
}, lastMembers()...)...)

var walletInformation = &v3.Endpoint{
	Path: "/walletInformation", Aliases: []string{"/wallet"}, Tag: nodeAccess, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountOrV2, Result: walletInformationShape, Node: true,
	Errors: []params.Error{*errNoAccount, *errNoWallet},
	Serve: func(q *v3.Request) error {
		return serveAccount(q, "getWalletInformation", walletInformationShape, indexedWallet, func(s *node.Account) (*information, error) {
			i := informationOf(q, s)
			if w := s.Wallet(); w != nil {
				i.wallet = render.Wallet{Type: w.Type, Seqno: &w.Seqno, WalletID: w.ID}
			} else if s.Status() != node.Uninitialized {
				return nil, errNoWallet
			}
			return i, nil
		})
	},
}

// serveAccount answers with what the index says of the account that the request names,
// or else with what lite servers prove.
func serveAccount(q *v3.Request, queue string, shape *api.Shape[*information], indexed func(*v3.Request, *record.Account) (*information, error), proven func(*node.Account) (*information, error)) error {
	account, err := fromIndex(q)
	if err != nil {
		return err
	}
	if account != nil {
		i, err := indexed(q, account)
		if err == nil {
			q.Body = shape.Append(q.Body, i)
		}
		return err
	}
	sent := q.Values.Addresses("address")
	if len(sent) == 0 {
		return errNoAccount
	}
	return share(q, queue, 0, fmt.Sprintf("%s %t", sent[0], q.Values.Bool("use_v2")), shape, func(ctx context.Context) (*information, error) {
		if n := sent[0].Workchain(); n != int32(int8(n)) {
			return nil, inside(errBadAddress)
		}
		s, err := q.Node.Account(ctx, sent[0], nil)
		if err != nil {
			return nil, inside(err)
		}
		return proven(s)
	})
}

// fromIndex gives the account that the request names, as the index has it; nil
// when the node layer is to be asked: on request, without an index, and about
// accounts that the index does not know, if there is a node layer. Without one, or
// in a workchain that it has no addresses of, such an account has nothing.
func fromIndex(q *v3.Request) (*record.Account, error) {
	if q.Values.Bool("use_v2") {
		return nil, nil
	}
	sent := q.Values.Addresses("address")
	if len(sent) == 0 {
		return nil, errNoAccount
	}
	a, err := indexed(q, sent[0])
	if a != nil || err != nil || mayAskOf(q, sent[0]) {
		return a, err
	}
	return &record.Account{Account: sent[0][:], LastTransHash: make([]byte, len(list.Hash{})), State: &record.AccountState{}}, nil
}

// indexed is an account as the index has it, nil when it has not.
func indexed(q *v3.Request, a address.Address) (*record.Account, error) {
	if q.Store == nil {
		return nil, nil
	}
	switch err := q.TakeView(); {
	case errors.Is(err, store.ErrEmpty) && hasNode(q):
		return nil, nil // the node layer knows more than an index without a block
	case err != nil:
		return nil, err
	}
	found, err := q.Store.Accounts(q, q.View, []address.Address{a})
	return found[a], err
}

// mayAskOf reports whether the node layer is there for an address: its workchains have
// 8 bits (block.tlb, addr_std).
func mayAskOf(q *v3.Request, a address.Address) bool {
	workchain := schema.Workchain(a[:])
	return workchain == int32(int8(workchain)) && (hasNode(q) || q.Store == nil)
}

// hasNode reports whether there are lite servers to ask.
func hasNode(q *v3.Request) bool { return q.Node != nil && q.Node.Configured() }

// indexedInformation is what addressInformation says of an account of the index.
func indexedInformation(q *v3.Request, a *record.Account) (*information, error) {
	i := informationIn(a)
	i.data = api.WithoutCRC(a.Data)
	hash := codeOf(a)
	if hash == (list.Hash{}) {
		return i, nil
	}
	bocs, err := q.Store.CodeBoCs(q, []list.Hash{hash})
	i.code = api.WithoutCRC(bocs[hash])
	return i, err
}

// informationIn is what the index says of an account.
func informationIn(a *record.Account) *information {
	return &information{
		balance: strconv.FormatUint(a.State.GetBalance(), 10), lastLT: a.LastTransLt, lastHash: a.LastTransHash,
		status: render.Status(a.State.GetStatus()),
	}
}

// indexedWallet is what walletInformation says of an account of the index.
func indexedWallet(_ *v3.Request, a *record.Account) (*information, error) {
	i := informationIn(a)
	if w := walletOf(a); w != nil {
		i.wallet = *w
	} else if a.State.GetStatus() != record.AccountStatus_ACCOUNT_UNINIT {
		return nil, errNoWallet
	}
	return i, nil
}
