package action

import (
	"math/big"
	"strconv"

	"tonscribe/ton/address"
)

// Opcodes of Cocoon.
const (
	opCocoonPayoutPayload     = 0xa040ad28
	opCocoonLastPayoutPayload = 0xf5f26a36
	opCocoonWorkerRequest     = 0x4d725d2c
	opCocoonPayout            = 0xc59a7cd3
	opCocoonExcesses          = 0x2565934c
	opCocoonProxyPayout       = 0x7610e6eb
	opCocoonCharge            = 0xbb63ff93
	opCocoonClientRequest     = 0x65448ff4
	opCocoonTopUp             = 0xf172e6c2
	opCocoonRegisterProxy     = 0x927c7cb5
	opCocoonUnregisterProxy   = 0x6d49eaf2
	opCocoonRegister          = 0xc45f9f3b
	opCocoonChangeSecret      = 0xa9357034
	opCocoonRequestRefund     = 0xfafa6cc1
	opCocoonWalletSend        = 0x9c69f376
	opCocoonGrantRefund       = 0xefd711e1
	opCocoonRefundGranted     = 0xc68ebc7b
	opCocoonIncreaseStake     = 0x6a1f6a60
	opCocoonWithdraw          = 0xda068e78
)

var (
	cocoonWorkerPayout    = NewType[workerPayout]("cocoon_worker_payout", V4, "cocoon")
	cocoonProxyPayout     = NewType[proxyPayout]("cocoon_proxy_payout", V4, "cocoon")
	cocoonProxyCharge     = NewType[proxyCharge]("cocoon_proxy_charge", V4, "cocoon")
	cocoonClientTopUp     = NewType[clientTopUp]("cocoon_client_top_up", V4, "cocoon")
	cocoonRegisterProxy   = NewType[proxyRegistration]("cocoon_register_proxy", V4, "cocoon")
	cocoonUnregisterProxy = NewType[proxyRemoval]("cocoon_unregister_proxy", V4, "cocoon")
	cocoonClientRegister  = NewType[clientRegistration]("cocoon_client_register", V4, "cocoon")
	cocoonChangeSecret    = NewType[clientSecret]("cocoon_client_change_secret_hash", V4, "cocoon")
	cocoonRequestRefund   = NewType[clientRefundRequest]("cocoon_client_request_refund", V4, "cocoon")
	cocoonGrantRefund     = NewType[clientRefund]("cocoon_grant_refund", V4, "cocoon")
	cocoonIncreaseStake   = NewType[clientStake]("cocoon_client_increase_stake", V4, "cocoon")
	cocoonWithdraw        = NewType[clientWithdrawal]("cocoon_client_withdraw", V4, "cocoon")
)

type workerPayout struct {
	PayoutType   string  `detail:"payout_type"`
	QueryID      uint64  `detail:"query_id"`
	NewTokens    uint64  `detail:"new_tokens"`
	WorkerState  *int64  `detail:"worker_state"`
	WorkerTokens *uint64 `detail:"worker_tokens"`
	Source       Address `detail:"source,account"`      // the proxy
	Destination  Address `detail:"destination,account"` // the worker's owner
	Amount       *uint64 `detail:"amount"`
}

type proxyPayout struct {
	QueryID     uint64  `detail:"query_id"`
	Source      Address `detail:"source,account"`
	Destination Address `detail:"destination,account"` // the proxy's owner
}

type proxyCharge struct {
	QueryID         uint64  `detail:"query_id"`
	NewTokensUsed   uint64  `detail:"new_tokens_used"`
	ExpectedAddress *string `detail:"expected_address"`
	Source          Address `detail:"source,account"`      // the proxy
	Destination     Address `detail:"destination,account"` // the client
}

type clientTopUp struct {
	QueryID     uint64   `detail:"query_id"`
	Source      Address  `detail:"source,account"`
	Destination Address  `detail:"destination,account"`
	Amount      *big.Int `detail:"amount"`
}

type proxyRegistration struct {
	QueryID     uint64  `detail:"query_id"`
	Destination Address `detail:"destination,account"`
}

type proxyRemoval struct {
	QueryID     uint64  `detail:"query_id"`
	Seqno       int64   `detail:"seqno"`
	Destination Address `detail:"destination,account"`
}

type clientRegistration struct {
	QueryID     uint64  `detail:"query_id"`
	Nonce       uint64  `detail:"nonce"`
	Source      Address `detail:"source,account"`
	Destination Address `detail:"destination,account"`
}

type clientSecret struct {
	QueryID       uint64  `detail:"query_id"`
	NewSecretHash string  `detail:"new_secret_hash"`
	Source        Address `detail:"source,account"`
	Destination   Address `detail:"destination,account"`
}

type clientRefundRequest struct {
	QueryID     uint64  `detail:"query_id"`
	ViaWallet   bool    `detail:"via_wallet"`
	Source      Address `detail:"source,account"`
	Destination Address `detail:"destination,account"`
}

type clientRefund struct {
	QueryID         uint64  `detail:"query_id"`
	NewTokensUsed   uint64  `detail:"new_tokens_used"`
	ExpectedAddress *string `detail:"expected_address"`
	Source          Address `detail:"source,account"` // the proxy
	Destination     Address `detail:"destination,account"`
	Amount          *uint64 `detail:"amount"`
}

type clientStake struct {
	QueryID     uint64   `detail:"query_id"`
	NewStake    *big.Int `detail:"new_stake"`
	Source      Address  `detail:"source,account"`
	Destination Address  `detail:"destination,account"`
	Amount      *big.Int `detail:"amount"`
}

type clientWithdrawal struct {
	QueryID        uint64   `detail:"query_id"`
	WithdrawAmount *big.Int `detail:"withdraw_amount"`
	Source         Address  `detail:"source,account"`
	Destination    Address  `detail:"destination,account"`
	Amount         *big.Int `detail:"amount"`
}

// cocoon is computing for pay: clients pay proxies, which pay workers. What a contract
// was asked for is followed by a request to the other contract, which often takes no
// gas and is aborted, and by what was left over. A request that was itself aborted led
// to nothing and failed.
var cocoon = &Protocol{
	Name: "cocoon",
	Types: []typed{
		cocoonWorkerPayout, cocoonProxyPayout, cocoonProxyCharge, cocoonClientTopUp, cocoonRegisterProxy, cocoonUnregisterProxy,
		cocoonClientRegister, cocoonChangeSecret, cocoonRequestRefund, cocoonGrantRefund, cocoonIncreaseStake, cocoonWithdraw,
	},
	Rules: []Rule{
		{
			Name:  "payout to a worker of Cocoon",
			Order: orderCocoonWorkerPayout,
			Pattern: Call(opCocoonPayoutPayload, opCocoonLastPayoutPayload).With(
				Call(opCocoonWorkerRequest).As("request").With(cocoonPays().Maybe(), cocoonRest()).Maybe(),
			),
			Make: makeWorkerPayout,
		},
		{
			Name:    "payout to a proxy of Cocoon",
			Order:   orderCocoonProxyPayout,
			Pattern: Call(opCocoonProxyPayout).With(cocoonPays().Maybe(), cocoonRest()),
			Make:    makeProxyPayout,
		},
		{Name: "charge of a proxy of Cocoon", Order: orderCocoonProxyCharge, Pattern: asksCocoon(opCocoonCharge), Make: makeProxyCharge},
		{
			Name:    "top-up of a client of Cocoon",
			Order:   orderCocoonClientTopUp,
			Pattern: Call(opCocoonTopUp).With(Call(opCocoonClientRequest).As("request").With(cocoonRest()).Maybe()),
			Make:    makeTopUp,
		},
		{Name: "proxy of Cocoon registered", Order: orderCocoonRegisterProxy, Pattern: Call(opCocoonRegisterProxy).With(cocoonRest()), Make: makeRegisterProxy},
		{Name: "proxy of Cocoon removed", Order: orderCocoonUnregisterProxy, Pattern: Call(opCocoonUnregisterProxy).With(cocoonRest()), Make: makeUnregisterProxy},
		{Name: "client of Cocoon registered", Order: orderCocoonClientRegister, Pattern: asksCocoon(opCocoonRegister), Make: makeClientRegister},
		{Name: "secret of a client of Cocoon changed", Order: orderCocoonClientChangeSecret, Pattern: asksCocoon(opCocoonChangeSecret), Make: makeChangeSecret},
		{
			Name:    "refund that a client of Cocoon asks for",
			Order:   orderCocoonClientRequestRefund,
			Pattern: asksCocoon(opCocoonRequestRefund).Below(Call(opCocoonWalletSend).As("wallet").Maybe()),
			Make:    makeRequestRefund,
		},
		{Name: "refund to a client of Cocoon", Order: orderCocoonGrantRefund, Pattern: paysCocoon(opCocoonGrantRefund), Make: makeGrantRefund},
		{Name: "stake of a client of Cocoon increased", Order: orderCocoonClientIncreaseStake, Pattern: asksCocoon(opCocoonIncreaseStake), Make: makeIncreaseStake},
		{Name: "withdrawal of a client of Cocoon", Order: orderCocoonClientWithdraw, Pattern: paysCocoon(opCocoonWithdraw), Make: makeClientWithdraw},
	},
}

func cocoonPays() *Pattern { return Call(opCocoonPayout).As("payout") }

func cocoonRest() *Pattern { return Call(opCocoonExcesses).Maybe() }

// asksCocoon is a message that has its receiver ask its counterpart.
func asksCocoon(opcode uint32) *Pattern {
	return Call(opcode).With(Call(opCocoonClientRequest).As("request").Maybe(), cocoonRest())
}

// paysCocoon is a message that has a client ask its proxy to pay what it need not keep,
// if there is any.
func paysCocoon(opcode uint32) *Pattern {
	return Call(opcode).With(Call(opCocoonClientRequest).As("request").With(cocoonPays().Maybe(), cocoonRest()).Maybe())
}

// lacksRequest reports whether a message did not lead to the request that it should
// have led to, though nothing says that it failed, or that the request is under way.
func lacksRequest(m *Match) bool {
	b := m.Block
	return m.One("request") == nil && !b.Aborted() && b.underWay(opCocoonClientRequest) == nil && b.underWay(opCocoonWorkerRequest) == nil
}

// cocoonPayload are the fields of payloads that a proxy's key signs, in the order in
// which the reference reads them. Signed messages have the address for excesses
// before them, of which the numbers then are.
type cocoonPayload struct {
	queryID  uint64
	tokens   uint64
	expected *string
}

func readCocoonPayload(b *Block) (p cocoonPayload, ok bool) {
	r := b.Body()
	p.queryID, p.tokens = r.Uint(64), r.Uint(64)
	p.expected = addressText(&r)
	return p, !r.Failed()
}

// addressText reads a MsgAddress as a text: the raw form of an account, the length in
// bits and the bits as a number of another address, nil for none.
func addressText(r *Reader) *string {
	var text string
	switch tag, _ := r.Peek(2); tag {
	case 0:
		r.Skip(2)
		return nil
	case 1:
		r.Skip(2)
		n := uint(r.Uint(9))
		text = strconv.Itoa(int(n)) + ";" + r.Big(n).Text(16)
	default:
		account := r.Address()
		if account == nil {
			return nil
		}
		text = string(address.AppendRaw(nil, account))
	}
	return &text
}

// addressOr reads an address, and gives another one where it is none.
func addressOr(r *Reader, other Address) Address {
	if a := r.Address(); a != nil {
		return a
	}
	return other
}

func makeWorkerPayout(m *Match) *Made {
	b, payout := m.Block, m.One("payout")
	p, ok := readCocoonPayload(b)
	if !ok || lacksRequest(m) {
		return nil
	}
	made := &workerPayout{PayoutType: "regular", QueryID: p.queryID, NewTokens: p.tokens, Source: b.Source()}
	if b.IsCall(opCocoonLastPayoutPayload) {
		made.PayoutType = "last"
	}
	if request := m.One("request"); request != nil {
		r := request.Body()
		r.Skip(64) // query_id
		made.Destination = r.Address()
		state := int64(r.Uint(2))
		made.WorkerState, made.WorkerTokens = &state, sum(r.Uint(64))
		if r.Failed() {
			return nil
		}
	}
	if payout != nil {
		made.Amount = sum(payout.Value())
	}
	return cocoonWorkerPayout.Make(made).Concerns(b.Destination()).
		Fails(payout == nil || payout.Aborted() || !same(payout.Destination(), made.Destination))
}

func makeProxyPayout(m *Match) *Made {
	b, payout := m.Block, m.One("payout")
	r := b.Body()
	made := &proxyPayout{QueryID: r.Uint(64), Source: b.Destination()}
	excesses := r.Address()
	if r.Failed() || payout == nil && !b.Aborted() {
		return nil
	}
	if payout != nil {
		made.Destination = payout.Destination()
	}
	return cocoonProxyPayout.Make(made).Concerns(excesses).Fails(payout == nil || payout.Aborted())
}

func makeProxyCharge(m *Match) *Made {
	b := m.Block
	p, ok := readCocoonPayload(b)
	if !ok || lacksRequest(m) {
		return nil
	}
	made := &proxyCharge{QueryID: p.queryID, NewTokensUsed: p.tokens, ExpectedAddress: p.expected, Source: b.Destination()}
	if request := m.One("request"); request != nil {
		made.Destination = request.Destination()
	}
	return cocoonProxyCharge.Make(made).Fails(b.Aborted())
}

func makeTopUp(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientTopUp{QueryID: r.Uint(64), Amount: r.Coins(), Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	return cocoonClientTopUp.Make(made).Fails(b.Aborted() || b.lacks(made.Amount))
}

func makeRegisterProxy(m *Match) *Made {
	r := m.Block.Body()
	made := &proxyRegistration{QueryID: r.Uint(64), Destination: m.Block.Destination()}
	if r.Failed() {
		return nil
	}
	return cocoonRegisterProxy.Make(made).Fails(m.Block.Aborted())
}

func makeUnregisterProxy(m *Match) *Made {
	r := m.Block.Body()
	made := &proxyRemoval{QueryID: r.Uint(64), Seqno: int64(r.Uint(32)), Destination: m.Block.Destination()}
	if r.Failed() {
		return nil
	}
	return cocoonUnregisterProxy.Make(made).Fails(m.Block.Aborted())
}

func makeClientRegister(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientRegistration{QueryID: r.Uint(64), Nonce: r.Uint(64), Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	return cocoonClientRegister.Make(made).Fails(b.Aborted())
}

func makeChangeSecret(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientSecret{QueryID: r.Uint(64), NewSecretHash: r.Big(256).Text(16), Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	return cocoonChangeSecret.Make(made).Fails(b.Aborted())
}

func makeRequestRefund(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientRefundRequest{QueryID: r.Uint(64), ViaWallet: m.One("wallet") != nil, Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	return cocoonRequestRefund.Make(made).Fails(b.Aborted())
}

func makeGrantRefund(m *Match) *Made {
	b, payout := m.Block, m.One("payout")
	p, ok := readCocoonPayload(b)
	if !ok || lacksRequest(m) {
		return nil
	}
	made := &clientRefund{QueryID: p.queryID, NewTokensUsed: p.tokens, ExpectedAddress: p.expected, Source: b.Destination()}
	if payout == nil {
		return cocoonGrantRefund.Make(made).Fails(true)
	}
	made.Destination, made.Amount = payout.Destination(), sum(payout.Value())
	return cocoonGrantRefund.Make(made).Fails(payout.Aborted())
}

func makeIncreaseStake(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientStake{QueryID: r.Uint(64), NewStake: r.Coins(), Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	made.Amount = made.NewStake
	return cocoonIncreaseStake.Make(made).Fails(b.Aborted())
}

func makeClientWithdraw(m *Match) *Made {
	b := m.Block
	r := b.Body()
	made := &clientWithdrawal{QueryID: r.Uint(64), Source: addressOr(&r, b.Source()), Destination: b.Destination()}
	if r.Failed() || lacksRequest(m) {
		return nil
	}
	if request := m.One("request"); request != nil {
		r := request.Body()
		r.Skip(64) // query_id
		r.Address()
		r.Ref() // state_data
		granted, ok := r.MaybeOpen()
		if ok && granted.Uint(32) == opCocoonRefundGranted {
			if coins := granted.Coins(); !granted.Failed() {
				made.WithdrawAmount, made.Amount = coins, coins
			}
		}
	}
	return cocoonWithdraw.Make(made).Fails(b.Aborted())
}
