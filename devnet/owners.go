package devnet

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/devnet/genesis"
	toncell "tonscribe/ton/cell"
)

const (
	// Owners is how many funded wallets there are for whoever uses the devnet.
	Owners = 16
	// ownersBalance of each at the beginning, in TON.
	ownersBalance = 1_000_000
	// ownersJettons of each, whole ones.
	ownersJettons = 1_000_000
	// setUpEvery is how many blocks the first order has before it is repeated, and
	// setUpValid how long it is valid, in seconds.
	setUpEvery = 8
	setUpValid = 600
)

// nanotons of one TON, and units of one jetton of the owners.
var nanotons = big.NewInt(1_000_000_000)

// GlobalID is that of every devnet (config parameter 19).
var GlobalID = sync.OnceValue(func() int32 { return genesis.Default().GlobalID })

// Owner is a funded wallet of the devnet, without code that only we know: v5r1,
// v4r2 and v3r2 in turn, in the basechain. Its key follows from the seed and is
// no secret. Traffic leaves it alone. The first one has a jetton, of which each
// got its share, and a collection, of which each got the item with its number.
type Owner struct {
	contracts.Wallet
	Key ed25519.PrivateKey
}

// OwnerOf is the wallet number index (0 to Owners-1) of the devnet with a seed.
func OwnerOf(seed uint64, index int) Owner {
	text := binary.BigEndian.AppendUint64([]byte("tonscribe devnet owner"), seed)
	keySeed := sha256.Sum256(binary.BigEndian.AppendUint32(text, uint32(index)))
	key := ed25519.NewKeyFromSeed(keySeed[:])
	version := []contracts.WalletVersion{contracts.WalletV5R1, contracts.WalletV4R2, contracts.WalletV3R2}[index%3]
	return Owner{Wallet: contracts.NewWallet(version, key.Public().(ed25519.PublicKey), GlobalID()), Key: key}
}

// OwnersJetton is the jetton of the owners' own.
func OwnersJetton(seed uint64) contracts.JettonMinter {
	return contracts.JettonMinter{
		Admin: OwnerOf(seed, 0).Address(0),
		Content: contracts.OnchainContent(map[string]string{
			"name": "Devnet Coin", "symbol": "DEVC", "decimals": "9", "description": "The jetton of the devnet's funded wallets",
		}),
	}
}

// OwnersCollection is the NFT collection of the owners' own.
func OwnersCollection(seed uint64) contracts.NFTCollection {
	first := OwnerOf(seed, 0).Address(0)
	return contracts.NFTCollection{
		Owner:         first,
		Content:       contracts.OffchainContent("https://devnet.example/collection.json"),
		CommonContent: contracts.SnakeText("https://devnet.example/"),
		Royalty:       contracts.Royalty{Numerator: 5, Denominator: 100, Destination: first},
	}
}

// owners are all funded wallets of a seed.
type owners struct {
	seed uint64
	all  [Owners]Owner
}

func newOwners(seed uint64) *owners {
	o := &owners{seed: seed}
	for i := range o.all {
		o.all[i] = OwnerOf(seed, i)
	}
	return o
}

// accounts is what must be in the zerostate.
func (o *owners) accounts() []chain.Account {
	var accounts []chain.Account
	for _, owner := range o.all {
		init := owner.StateInit()
		accounts = append(accounts, chain.Account{
			ID:   [32]byte(contracts.AddressOf(0, init).Data()),
			Code: init.Code, Data: init.Data,
			Balance: tons(ownersBalance),
		})
	}
	return accounts
}

// setUp is the message by which the first owner deploys the jetton and the
// collection and gives each owner a share. It is sent every few blocks until
// they are there: what had no room is forgotten when the devnet stops. The first
// block has the first try, so that the wallet's next number is not taken under
// whoever sends from it.
func (o *owners) setUp(at *chain.Chain, seqno, now uint32) (*cell.Cell, error) {
	if seqno%setUpEvery != 1 {
		return nil, nil
	}
	first := o.all[0]
	collection, err := at.State(0, [32]byte(OwnersCollection(o.seed).Address(0).Data()))
	if err != nil || collection != nil {
		return nil, err
	}
	number, err := o.orders(at, first)
	if err != nil {
		return nil, fmt.Errorf("first owner: %w", err)
	}
	order := contracts.Order{Messages: o.deployments(), Seqno: number, ValidUntil: now + setUpValid}
	return first.External(0, first.Key, order)
}

// orders is the number of the next order of a wallet v5.
func (o *owners) orders(at *chain.Chain, owner Owner) (uint32, error) {
	root, err := at.State(0, [32]byte(owner.Address(0).Data()))
	if err != nil {
		return 0, err
	}
	var state tlb.AccountState
	if root == nil || tlb.Parse(&state, root) != nil || state.StateInit == nil || state.StateInit.Data == nil {
		return 0, errors.New("the wallet is not there")
	}
	data := toncell.NewReader(state.StateInit.Data)
	data.Skip(1)
	return uint32(data.Uint(32)), data.Err()
}

// deployments are the messages of the first order.
func (o *owners) deployments() []contracts.Message {
	first := o.all[0]
	minter, collection := OwnersJetton(o.seed), OwnersCollection(o.seed)
	var messages []contracts.Message
	var items []contracts.NFTInit
	for i, owner := range o.all {
		mint := contracts.Message{
			To: minter.Address(0), Value: share(20), Bounce: true, Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors,
			Body: contracts.JettonMintBody(contracts.JettonMint{
				QueryID: uint64(i), Amount: tons(ownersJettons),
				To: owner.Address(0), Value: share(10), Response: first.Address(0),
			}),
		}
		if i == 0 {
			mint.StateInit = minter.StateInit()
		}
		messages = append(messages, mint)
		items = append(items, contracts.NFTInit{
			Owner: owner.Address(0), Content: contracts.SnakeText(fmt.Sprintf("%d.json", i)), Value: share(5),
		})
	}
	messages = append(messages, contracts.Message{
		To: collection.Address(0), Value: share(200), Bounce: true, Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors,
		StateInit: collection.StateInit(), Body: contracts.NFTBatchDeployBody(0, 0, items),
	})
	return messages
}

// share is hundredths of a TON.
func share(hundredths int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(hundredths), big.NewInt(10_000_000))
}
