package action

import (
	"bytes"

	"tonscribe/ton/address"
)

// opLockedTransfer is the internal transfer of USDe that are locked for a while.
const opLockedTransfer = 0xb2583ed5

// The masters of USDe and of tsUSDe, which is what one gets for a stake of USDe.
var (
	usdeMaster   = address.MustParse("0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC")
	tsUSDeMaster = address.MustParse("0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D")
)

// ethena are stakes of USDe.
var ethena = &Protocol{
	Name: "ethena",
	Rules: []Rule{
		{
			Name:  "withdrawal from Ethena",
			Order: orderEthenaRequest,
			Block: "ethena_withdrawal_request",
			Pattern: Call(opJettonTransfer).As("transfer").With(
				Call(opJettonInternalTransfer).As("internal transfer").With(
					Call(opJettonNotify).With(
						Call(opJettonMint).As("mint").With(Call(opLockedTransfer).As("locked")),
					),
				),
			),
			Make: makeEthenaRequest,
		},
		{
			Name:  "deposit at Ethena",
			Order: orderEthenaDeposit,
			Block: "ethena_deposit",
			Pattern: Is(jettonTransfer).As("transfer").Where(func(b *Block) bool { return bytes.Equal(jettonTransfer.Of(b).Asset, usdeMaster[:]) }).With(
				Is(jettonMint).As("mint").Where(func(b *Block) bool { return bytes.Equal(jettonMint.Of(b).Asset, tsUSDeMaster[:]) }),
			),
			Make: makeEthenaDeposit,
		},
	},
}

func makeEthenaDeposit(m *Match) *Made {
	t, mint := jettonTransfer.Of(m.Block), jettonMint.Of(m.One("mint"))
	return stakeDeposit.Make(&stakeStart{
		Provider: ethenaStaking, StakeHolder: t.Sender, Pool: t.Receiver, Amount: t.Amount,
		TokensMinted: mint.Amount, Asset: mint.Asset, SourceAsset: t.Asset,
	}).Fails(m.Aborted("transfer") || !mintThere(m.One("mint")))
}

// makeEthenaRequest checks the wallets as far as they are known: tsUSDe go back to their
// master, which is no wallet and so no receiver of a jetton transfer, and it tells the
// pool, which mints a locked amount into the holder's wallet.
func makeEthenaRequest(m *Match) *Made {
	b, internal, locked := m.Block, m.One("internal transfer"), m.One("locked")
	master := internal.Destination()
	if !bytes.Equal(master, tsUSDeMaster[:]) || !bytes.Equal(locked.Source(), master) {
		return nil
	}
	for _, account := range []Address{b.Destination(), locked.Destination()} {
		w := m.Contract(account).GetJettonWallet()
		if w != nil && (!bytes.Equal(w.Owner, b.Source()) || !bytes.Equal(w.Master, master)) {
			return nil
		}
	}
	burnt, ok := readInternalTransfer(internal)
	r := locked.Body()
	r.Skip(64) // query_id
	minted := r.Coins()
	if !ok || r.Failed() {
		return nil
	}
	return stakeRequest.Make(&stakeEndRequest{
		Provider: ethenaStaking, StakeHolder: b.Source(), Pool: m.One("mint").Source(), Asset: master,
		TokensBurnt: burnt.Amount, TokensMinted: minted,
	}).Fails(m.Aborted("transfer", "internal transfer", "mint", "locked"))
}
