package traffic

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// jetton is a token of the devnet.
type jetton struct {
	admin    *person
	minter   contracts.JettonMinter
	address  *address.Address
	decimals int
}

// whole is a number of whole jettons in their smallest unit.
func (j *jetton) whole(jettons int64) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(j.decimals)), nil)
	return unit.Mul(unit, big.NewInt(jettons))
}

func (j *jetton) walletOf(owner *address.Address) *address.Address {
	return j.minter.Wallet(0, owner).Address(0)
}

const (
	// jettonHolders is how many users get jettons of each kind in the beginning.
	jettonHolders = 60
	// firstJettons is how many whole jettons each of them gets.
	firstJettons = 1_000_000
)

// foundJettons makes tokens of every usual form: on-chain content, a file, both;
// many decimals and none.
func (t *Traffic) foundJettons() {
	const site = "https://example.com/jettons/"
	for _, content := range []struct {
		decimals int
		cell     *cell.Cell
	}{
		{6, contracts.OnchainContent(map[string]string{
			"name": "Devnet Dollar", "symbol": "DUSD", "decimals": "6", "description": "A dollar that is worth nothing", "image": site + "dusd.png",
		})},
		{9, contracts.OffchainContent(site + "scribe.json")},
		{0, contracts.OnchainContent(map[string]string{
			"name": "Cinema Ticket", "symbol": "TICKET", "decimals": "0", "description": "One seat, one film",
		})},
		{18, contracts.OnchainContent(map[string]string{"name": "Wrapped Nothing", "symbol": "wNULL", "decimals": "18", "image": site + "null.svg"})},
		{9, contracts.OnchainContent(map[string]string{"uri": site + "gem.json", "symbol": "GEM", "amount_style": "n-of-total"})},
	} {
		admin := t.admin(len(t.people))
		minter := contracts.JettonMinter{Admin: admin.address, Content: content.cell}
		t.jettons = append(t.jettons, &jetton{admin: admin, minter: minter, address: minter.Address(0), decimals: content.decimals})
	}
}

// supply is how many jettons a minter counts, nil when it is not deployed.
func (s *step) supply(j *jetton) *big.Int {
	data := s.data(j.address)
	if data == nil {
		return nil
	}
	supply := data.Coins()
	s.fail(data.Err())
	return supply
}

// jettonsOf is an owner's balance.
func (s *step) jettonsOf(j *jetton, owner *address.Address) *big.Int {
	data := s.data(j.walletOf(owner))
	if data == nil {
		return new(big.Int)
	}
	balance := data.Coins()
	s.fail(data.Err())
	return balance
}

// holder is a user with jettons who can send, nil when none is found.
func (s *step) holder(j *jetton) (*person, *big.Int) {
	for range 10 {
		p := oneOf(s.chance, s.users[:min(len(s.users), 4*jettonHolders)])
		if !s.free(p, 2) {
			continue
		}
		if balance := s.jettonsOf(j, p.address); balance.Sign() > 0 {
			return p, balance
		}
	}
	return nil, nil
}

// part is a share of a balance: one part in 10 to 10,000, at least one.
func (s *step) part(balance *big.Int) *big.Int {
	value := new(big.Int).Div(balance, big.NewInt(int64(10+s.chance.IntN(10_000))))
	if value.Sign() == 0 {
		return big.NewInt(1)
	}
	return value
}

func (s *step) jettonTransfer(j *jetton, p *person, balance *big.Int) int {
	transfer, caused := s.jettonOrder(p, s.part(balance))
	return s.send(1+caused, p, pay(j.walletOf(p.address), ton(0.15), contracts.JettonTransferBody(transfer)))
}

// jettonOrder is a transfer and how many transactions it causes behind the
// sender's own: both wallets, a notification, what is left of the value.
func (s *step) jettonOrder(p *person, amount *big.Int) (contracts.JettonTransfer, int) {
	transfer := contracts.JettonTransfer{
		QueryID: s.query(), Amount: amount, Destination: s.recipient(p), Response: p.address,
	}
	caused := 3
	switch s.chance.IntN(6) {
	case 0, 1:
		transfer.ForwardValue = big.NewInt(1)
		transfer.ForwardPayload = contracts.CommentBody(oneOf(s.chance, remarks))
		caused++
	case 2:
		transfer.ForwardValue = coins(s.chance, 0.001, 0.02)
		caused++
	case 3:
		transfer.ForwardValue = ton(0.01)
		transfer.ForwardPayload = cell.BeginCell().MustStoreUInt(s.chance.Uint64(), 64).EndCell()
		caused++
	}
	return transfer, caused
}

func (s *step) jettonBurn(j *jetton, p *person, balance *big.Int) int {
	body := contracts.JettonBurnBody(s.query(), s.part(balance), p.address)
	return s.send(4, p, pay(j.walletOf(p.address), ton(0.1), body))
}

func (s *step) jettonMint() int {
	j := oneOf(s.chance, s.jettons)
	if !s.ready || !s.free(j.admin, 10) {
		return 0
	}
	to := among(s.chance, s.users)
	return s.send(5, j.admin, s.mint(j, to, j.whole(int64(1+s.chance.IntN(10_000))), big.NewInt(1)))
}

// mint gives new jettons to an owner.
func (s *step) mint(j *jetton, to *person, amount, forward *big.Int) contracts.Message {
	return pay(j.address, ton(0.15), contracts.JettonMintBody(contracts.JettonMint{
		QueryID: s.query(), Amount: amount, To: to.address, Value: ton(0.1), Response: j.admin.address,
		ForwardValue: forward, ForwardPayload: contracts.CommentBody("minted"), Old: s.chance.IntN(4) == 0,
	}))
}

// jettonAirdrop is a wide trace: one order, many jetton transfers.
func (s *step) jettonAirdrop() int {
	j := s.jettons[0]
	p := oneOf(s.chance, s.payers)
	most := s.crowd(4)
	if most < 3 || !s.free(p, 500) {
		return 0
	}
	balance := s.jettonsOf(j, p.address)
	if balance.Sign() == 0 {
		return 0
	}
	caused := 2
	messages := make([]contracts.Message, 2+s.chance.IntN(most-1))
	for i := range messages {
		transfer, more := s.jettonOrder(p, s.part(new(big.Int).Div(balance, big.NewInt(1000))))
		messages[i] = pay(j.walletOf(p.address), ton(0.15), contracts.JettonTransferBody(transfer))
		caused += more
	}
	return s.send(caused, p, messages...)
}

func (s *step) jettonWalletAsked() int {
	j := oneOf(s.chance, s.jettons)
	p := s.anyone(5)
	if p == nil || s.supply(j) == nil {
		return 0
	}
	body := contracts.ProvideWalletAddressBody(s.query(), s.other(p).address, s.chance.IntN(2) == 0)
	return s.send(3, p, pay(j.address, ton(0.05), body))
}

// jettonTasks deploy the minters and give the first jettons to users and payers.
func (t *Traffic) jettonTasks() (deploy, mint []task) {
	for i, j := range t.jettons {
		name := fmt.Sprintf("jetton %d", i)
		deploy = append(deploy, task{name + " deployed", func(s *step) bool { return s.supply(j) != nil }, func(s *step) int {
			message := pay(j.address, ton(1), contracts.TopUpBody(0))
			message.StateInit = j.minter.StateInit()
			return s.sendAs(j.admin, 2, message)
		}})
		mint = append(mint, task{name + " minted", func(s *step) bool { return s.supply(j).Sign() > 0 }, func(s *step) int {
			var messages []contracts.Message
			for _, to := range t.firstHolders(i) {
				messages = append(messages, s.mint(j, to, j.whole(firstJettons), nil))
			}
			return s.sendAs(j.admin, 1+3*len(messages), messages...)
		}})
	}
	return deploy, mint
}

func (t *Traffic) firstHolders(jetton int) []*person {
	holders := append([]*person{}, t.users[:min(len(t.users), jettonHolders)]...)
	if jetton == 0 {
		holders = append(holders, t.payers...)
	}
	return holders
}
