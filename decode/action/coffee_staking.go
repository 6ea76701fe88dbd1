package action

import "math/big"

// Opcodes of staking at Swap Coffee.
const (
	opCoffeeStake        = 0xf9471134 // of a vault to the master; an event too
	opCoffeeStakeInit    = 0xbe5a7595 // of the master to a new item
	opCoffeeUnstake      = 0xcb03bfaf // of the owner to his item, of that to the master, of that to a vault
	opCoffeeClaimRewards = 0xb30c7310
)

var (
	coffeeStaking   = NewType[coffeeStake]("coffee_staking_deposit", V2, "coffee")
	coffeeUnstaking = NewType[coffeeUnstake]("coffee_staking_withdraw", V2, "coffee")
	coffeeClaim     = NewType[coffeeRewards]("coffee_staking_claim_rewards", V2, "coffee")
)

type coffeeStake struct {
	Source             Address  `detail:"source,account"`
	SourceJettonWallet Address  `detail:"source_jetton_wallet,account"`
	Pool               Address  `detail:"pool,account"`
	PoolJettonWallet   Address  `detail:"pool_jetton_wallet,account"`
	Asset              Address  `detail:"asset"`
	Amount             *big.Int `detail:"amount"`
	MintedItemAddress  Address  `detail:"minted_item_address,account"`
	MintedItemIndex    *big.Int `detail:"minted_item_index"`
}

type coffeeUnstake struct {
	Source             Address  `detail:"source,account"`
	SourceJettonWallet Address  `detail:"source_jetton_wallet,account"`
	Pool               Address  `detail:"pool,account"` // what the order went to: the item
	PoolJettonWallet   Address  `detail:"pool_jetton_wallet,account"`
	Asset              Address  `detail:"asset"`
	Amount             *big.Int `detail:"amount"`
	NFTAddress         Address  `detail:"nft_address,account"`
	NFTIndex           *big.Int `detail:"nft_index"`
	Points             *big.Int `detail:"points"`
}

type coffeeRewards struct {
	Pool                  Address  `detail:"pool,account"`
	PoolJettonWallet      Address  `detail:"pool_jetton_wallet,account"`
	Recipient             Address  `detail:"recipient,account"`
	RecipientJettonWallet Address  `detail:"recipient_jetton_wallet,account"`
	Asset                 Address  `detail:"asset"`
	Amount                *big.Int `detail:"amount"`
}

// coffeeStakes are stakes at Swap Coffee: jettons in a vault, and an NFT item for each of
// them.
var coffeeStakes = &Protocol{
	Name:  "coffee staking",
	Types: []typed{coffeeStaking, coffeeUnstaking, coffeeClaim},
	Rules: []Rule{
		{
			Name:  "stake at Swap Coffee",
			Order: orderCoffeeStakingDeposit,
			Pattern: Is(jettonTransfer).As("in").With(
				Call(opCoffeeStake).As("stake").With(
					Log(opCoffeeStake).As("event").Maybe(),
					OneOf(Is(nftMint).Where(isCoffeeStake), Call(opCoffeeStakeInit)).As("item"),
				),
			),
			Make: makeCoffeeStake,
		},
		{
			Name:  "end of a stake at Swap Coffee",
			Order: orderCoffeeStakingWithdraw,
			Pattern: Call(opCoffeeUnstake).As("item").With(
				Call(opCoffeeUnstake).As("master").With(
					Log(opCoffeeUnstake).Maybe(),
					Call(opCoffeeUnstake).As("vault").With(delivered().As("out")),
				),
			),
			Make: makeCoffeeUnstake,
		},
		{
			Name:  "rewards of a stake at Swap Coffee",
			Order: orderCoffeeStakingClaim,
			Pattern: Call(opCoffeeClaimRewards).As("claim").With(
				Log(opCoffeeClaimRewards).Maybe(),
				delivered().As("out"),
			),
			Make: makeCoffeeRewards,
		},
	},
}

func isCoffeeStake(b *Block) bool { return b.First().IsCall(opCoffeeStakeInit) }

func makeCoffeeStake(m *Match) *Made {
	t, item := jettonTransfer.Of(m.Block), m.One("item")
	s := &coffeeStake{Source: t.Sender, SourceJettonWallet: t.SenderJettonWallet, Pool: m.One("stake").Destination(),
		PoolJettonWallet: t.ReceiverJettonWallet, Asset: t.Asset, Amount: t.Amount, MintedItemAddress: item.First().Destination()}
	if minted := nftMint.Of(item); minted != nil {
		s.MintedItemIndex = minted.NFTItemIndex
	} else if event := m.One("event"); event != nil {
		r := event.Body()
		r.Skip(64) // query_id
		s.MintedItemIndex = r.Big(64)
		if r.Failed() {
			return nil
		}
	}
	return coffeeStaking.Make(s).Fails(m.Aborted("in", "stake", "item"))
}

func makeCoffeeUnstake(m *Match) *Made {
	out, lost := m.transferred(m.One("out"))
	if out == nil {
		return nil
	}
	item := m.One("item")
	r := m.One("master").Body()
	r.Skip(64) // query_id
	u := &coffeeUnstake{Source: item.Source(), SourceJettonWallet: out.DestinationJettonWallet, Pool: item.Destination(),
		PoolJettonWallet: out.SourceJettonWallet, Asset: out.Asset, Amount: out.Amount, NFTAddress: item.Destination(), NFTIndex: r.Big(64)}
	r.Address() // owner
	if u.Points = r.Coins(); r.Failed() {
		return nil
	}
	return coffeeUnstaking.Make(u).Fails(lost || m.Aborted("item", "master", "vault"))
}

func makeCoffeeRewards(m *Match) *Made {
	out, lost := m.transferred(m.One("out"))
	if out == nil {
		return nil
	}
	return coffeeClaim.Make(&coffeeRewards{Pool: m.Block.Destination(), PoolJettonWallet: out.SourceJettonWallet, Recipient: out.Destination,
		RecipientJettonWallet: out.DestinationJettonWallet, Asset: out.Asset, Amount: out.Amount}).Fails(lost || m.Aborted("claim"))
}
