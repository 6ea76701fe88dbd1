package traffic

// kind is something that people do.
type kind struct {
	name string
	// weight is its share among all actions.
	weight int
	// act sends the messages of one such action and tells how many transactions it
	// causes until nothing is on its way any more; 0 when nobody can do it now.
	act func(*step) int
}

// kinds are all that people do.
func kinds() []kind {
	return []kind{
		{"transfer", 240, (*step).transfer},
		{"transfer with comment", 160, (*step).comment},
		{"encrypted comment", 20, (*step).encryptedComment},
		{"transfer from or to the masterchain", 12, (*step).crossing},
		{"transfer to several", 30, (*step).several},
		{"payout", 8, (*step).payout},
		{"newcomer", 20, (*step).newcomer},
		{"tenant", 8, (*step).tenant},
		{"jetton transfer", 200, (*step).jettonTransfer},
		{"jetton burn", 12, (*step).jettonBurn},
		{"jetton mint", 8, (*step).jettonMint},
		{"jetton airdrop", 3, (*step).jettonAirdrop},
		{"jetton wallet asked for", 6, (*step).jettonWalletAsked},
		{"NFT mint", 16, (*step).nftMint},
		{"NFT transfer", 40, (*step).nftTransfer},
		{"NFT asked for data", 4, (*step).nftAsked},
		{"SBT mint", 3, (*step).sbtMint},
		{"SBT proof", 4, (*step).sbtProof},
		{"SBT revoked or destroyed", 2, (*step).sbtEnd},
		{"NFT put on sale", 8, (*step).nftSale},
		{"NFT bought", 8, (*step).nftPurchase},
		{"NFT sale changed", 3, (*step).nftSaleChanged},
		{"NFT put up for auction", 5, (*step).nftAuction},
		{"NFT bid", 10, (*step).nftBid},
		{"NFT auction ended", 5, (*step).nftAuctionEnd},
		{"domain asked for", 6, (*step).domainAsked},
		{"domain bid", 6, (*step).domainBid},
		{"domain record", 6, (*step).domainRecord},
		{"domain renewed", 3, (*step).domainRenewal},
		{"domain transferred", 3, (*step).domainTransfer},
		{"multisig order", 5, (*step).multisigOrder},
		{"multisig approval", 8, (*step).multisigApproval},
		{"vesting transfer", 6, (*step).vestingTransfer},
		{"vesting list", 2, (*step).vestingList},
		{"pool deposit", 4, (*step).poolDeposit},
		{"pool withdrawal", 2, (*step).poolWithdrawal},
		{"pool deposit of the validator", 1, (*step).poolValidatorDeposit},
		{"wide trace", 4, (*step).fanOut},
		{"deep trace", 4, (*step).deepTrace},
		{"failing contract", 6, (*step).failing},
		{"short life", 3, (*step).shortLife},
		{"wrong signature", 2, (*step).wrongSignature},
		{"old seqno", 2, (*step).oldSeqno},
		{"no funds", 5, (*step).noFunds},
		{"bounced by nobody", 6, (*step).toNobody},
		{"bounced by a contract", 6, (*step).unknownMessage},
		{"more jettons than there are", 5, (*step).tooManyJettons},
		{"not the owner", 3, (*step).notTheOwner},
		{"value below the gas", 4, (*step).tooLittle},
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
		cost := float64(k.act(s))
		if len(s.messages) == before {
			idle++
			continue
		}
		if cost > s.left && s.chance.Float64()*cost > s.left {
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
		if cost := s.payout(); cost > 0 {
			s.count("payout", float64(cost))
		}
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

func (s *step) count(name string, cost float64) {
	s.done[name]++
	s.caused[name] += cost
	s.left -= cost
}
