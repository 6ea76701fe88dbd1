package traffic

import (
	"math/big"
	"math/rand/v2"

	"github.com/xssnick/tonutils-go/address"
)

// kind is something that people do.
type kind struct {
	name string
	// weight is its share among all actions.
	weight int
	// act sends the messages of one such action and tells how many transactions it
	// causes until nothing is on its way any more; 0 when nobody can do it now.
	act func(*step) int
}

// byUser is an action of a user who has so many tons.
func byUser(tons float64, act func(*step, *person) int) func(*step) int {
	return func(s *step) int {
		if p := s.anyone(tons); p != nil {
			return act(s, p)
		}
		return 0
	}
}

// byHolder is an action of a user with jettons of a kind.
func byHolder(pick func(*rand.Rand, []*jetton) *jetton, act func(s *step, j *jetton, p *person, balance *big.Int) int) func(*step) int {
	return func(s *step) int {
		j := pick(s.chance, s.jettons)
		if p, balance := s.holder(j); p != nil {
			return act(s, j, p, balance)
		}
		return 0
	}
}

// byOwner is an action with an item of a collection, whose owner is a user.
func byOwner(of func(*step) *collection, act func(s *step, c *collection, item *address.Address, owner *person) int) func(*step) int {
	return func(s *step) int {
		c := of(s)
		if item, owner := s.item(c); item != nil {
			return act(s, c, item, owner)
		}
		return 0
	}
}

// byDomainOwner is an action with a name whose owner is a user.
func byDomainOwner(act func(*step, *domain) int) func(*step) int {
	return func(s *step) int {
		if d := s.ownDomain(); d != nil {
			return act(s, d)
		}
		return 0
	}
}

// byCaller is an action of a user with a forwarder.
func byCaller(tons float64, act func(s *step, p *person, at *address.Address) int) func(*step) int {
	return func(s *step) int {
		if p, at := s.anyone(tons), s.relay(); p != nil && at != nil {
			return act(s, p, at)
		}
		return 0
	}
}

// kinds are all that people do.
func kinds() []kind {
	return []kind{
		{"transfer", 240, byUser(20, (*step).transfer)},
		{"transfer with comment", 160, byUser(20, (*step).comment)},
		{"encrypted comment", 20, byUser(20, (*step).encryptedComment)},
		{"transfer from or to the masterchain", 12, (*step).crossing},
		{"transfer to several", 30, byUser(50, (*step).several)},
		{"payout", 8, (*step).payout},
		{"newcomer", 20, byUser(20, (*step).newcomer)},
		{"tenant", 8, byUser(20, (*step).tenant)},
		{"jetton transfer", 200, byHolder(among[*jetton], (*step).jettonTransfer)},
		{"jetton burn", 12, byHolder(among[*jetton], (*step).jettonBurn)},
		{"jetton mint", 8, (*step).jettonMint},
		{"jetton airdrop", 3, (*step).jettonAirdrop},
		{"jetton wallet asked for", 6, (*step).jettonWalletAsked},
		{"NFT mint", 16, (*step).nftMint},
		{"NFT transfer", 40, byOwner((*step).tradable, (*step).nftTransfer)},
		{"NFT asked for data", 4, (*step).nftAsked},
		{"SBT mint", 3, (*step).sbtMint},
		{"SBT proof", 4, byOwner((*step).bound, (*step).sbtProof)},
		{"SBT revoked or destroyed", 2, byOwner((*step).bound, (*step).sbtEnd)},
		{"NFT put on sale", 8, byOwner((*step).tradable, (*step).nftSale)},
		{"NFT bought", 8, (*step).nftPurchase},
		{"NFT sale changed", 3, (*step).nftSaleChanged},
		{"NFT put up for auction", 5, byOwner((*step).tradable, (*step).nftAuction)},
		{"NFT bid", 10, (*step).nftBid},
		{"NFT auction ended", 5, (*step).nftAuctionEnd},
		{"domain asked for", 6, byUser(20, (*step).domainAsked)},
		{"domain bid", 6, byUser(80, (*step).domainBid)},
		{"domain record", 6, byDomainOwner((*step).domainRecord)},
		{"domain renewed", 3, byDomainOwner((*step).domainRenewal)},
		{"domain transferred", 3, byDomainOwner((*step).domainTransfer)},
		{"multisig order", 5, (*step).multisigOrder},
		{"multisig approval", 8, (*step).multisigApproval},
		{"vesting transfer", 6, (*step).vestingTransfer},
		{"vesting list", 2, (*step).vestingList},
		{"pool deposit", 4, (*step).poolDeposit},
		{"pool withdrawal", 2, (*step).poolWithdrawal},
		{"pool deposit of the validator", 1, (*step).poolValidatorDeposit},
		{"swap of toncoins", 20, byUser(40, (*step).swapToncoins)},
		{"swap of jettons", 20, (*step).swapJettons},
		{"swap of toncoins in vain", 3, byUser(40, (*step).swapToncoinsInVain)},
		{"swap of jettons in vain", 3, (*step).swapJettonsInVain},
		{"liquidity brought", 10, (*step).bringLiquidity},
		{"liquidity taken", 5, (*step).takeLiquidity},
		{"wide trace", 4, byCaller(50, (*step).fanOut)},
		{"deep trace", 4, byCaller(50, (*step).deepTrace)},
		{"failing contract", 6, byCaller(5, (*step).failing)},
		{"short life", 3, byUser(5, (*step).shortLife)},
		{"wrong signature", 2, byUser(5, (*step).wrongSignature)},
		{"old seqno", 2, byUser(5, (*step).oldSeqno)},
		{"no funds", 5, byUser(5, (*step).noFunds)},
		{"bounced by nobody", 6, byUser(20, (*step).toNobody)},
		{"bounced by a contract", 6, (*step).unknownMessage},
		{"more jettons than there are", 5, byHolder(oneOf[*jetton], (*step).tooManyJettons)},
		{"not the owner", 3, byOwner((*step).tradable, (*step).notTheOwner)},
		{"value below the gas", 4, byHolder(oneOf[*jetton], (*step).tooLittle)},
	}
}

// fill acts until enough transactions are under way. The last action happens by
// chance, so that the mean is what was asked for even when one action is more.
func (s *step) fill() {
	total := 0
	for _, k := range s.kinds {
		total += k.weight
	}
	for idle := 0; s.left > 0 && idle < 200 && s.err == nil; {
		k := s.pick(s.chance.IntN(total))
		before, refused := len(s.messages), s.refused
		cost := k.act(s)
		switch {
		case len(s.messages) == before:
			idle++
			continue
		case cost == 0: // refused on purpose
			s.done[k.name]++
			continue
		case float64(cost) > s.left && s.chance.Float64()*float64(cost) > s.left:
			s.messages, s.refused, s.left = s.messages[:before], refused, 0
			return
		}
		s.count(k.name, cost)
	}
	s.rush()
}

// rush lets the payers send what the others cannot, since each of those sends
// one order a block.
func (s *step) rush() {
	for range 2 * payers {
		if s.left < 20 || s.err != nil {
			return
		}
		s.count("payout", s.payout())
	}
}

func (s *step) pick(at int) kind {
	for _, k := range s.kinds {
		if at -= k.weight; at < 0 {
			return k
		}
	}
	return s.kinds[0]
}

// count adds up what an action causes; 0 is none.
func (s *step) count(name string, cost int) {
	if cost > 0 {
		s.done[name]++
		s.caused[name] += float64(cost)
		s.left -= float64(cost)
	}
}
