package devnet

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// cast is who lives in a town besides its usual people: every version of a
// wallet, contracts that mean harm, and a director who orders transfers of
// jettons that end in every way.
type cast struct {
	director contracts.Wallet
	key      ed25519.PrivateKey
	minter   contracts.JettonMinter
	// deaf are owners at whose wallets' addresses stand wallets of another jetton,
	// which nobody has heard of: they refuse every transfer.
	deaf []*address.Address
}

const (
	deafPeople    = 3
	directorsCoin = 1_000_000_000
)

func newCast() *cast {
	c := &cast{key: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))}
	c.director = contracts.NewWallet(contracts.WalletV5R1, c.key.Public().(ed25519.PublicKey), -3)
	c.minter = contracts.JettonMinter{Admin: c.director.Address(0), Content: contracts.OnchainContent(map[string]string{"name": "Stage Money", "symbol": "STAGE", "decimals": "3"})}
	for n := range deafPeople {
		c.deaf = append(c.deaf, nobody(uint64(1000+n)))
	}
	return c
}

// nobody is an address without an account.
func nobody(n uint64) *address.Address {
	return address.NewAddress(0, 0, binary.BigEndian.AppendUint64(bytes.Repeat([]byte{0xda}, 24), n*0x9e3779b97f4a7c15))
}

// accounts of the zerostate.
func (c *cast) accounts() []chain.Account {
	var all []chain.Account
	add := func(at *address.Address, code, data *cell.Cell, coins int64) {
		all = append(all, chain.Account{ID: [32]byte(at.Data()), Code: code, Data: data, Balance: big.NewInt(coins * 1e9)})
	}
	deploy := func(init *tlb.StateInit, coins int64) { add(contracts.AddressOf(0, init), init.Code, init.Data, coins) }
	deploy(c.director.StateInit(), 1_000_000)
	deploy(c.minter.StateInit(), 10)
	code := contracts.Code(contracts.JettonWalletCode)
	add(c.purse(c.director.Address(0)), code, purseData(c.director.Address(0), c.minter.Address(0), directorsCoin), 10)
	add(forged, code, purseData(c.director.Address(0), c.minter.Address(0), directorsCoin), 10)
	for _, who := range c.deaf {
		add(c.purse(who), code, purseData(who, nobody(3000), 5), 1)
	}
	deploy(contracts.Endless{ID: 1}.StateInit(), 1)
	for n, content := range []*cell.Cell{contracts.DeepContent(300), contracts.SharedContent(100), contracts.HugeContent(100_000)} {
		deploy(contracts.Bomb{ID: uint64(n), Content: content}.StateInit(), 1)
	}
	for n, w := range everyWallet() {
		deploy(w, int64(1+n))
	}
	return all
}

// forged is an account with the code and data of a jetton wallet, at an address
// that is not the master's.
var forged = nobody(2000)

func (c *cast) purse(owner *address.Address) *address.Address {
	return c.minter.Wallet(0, owner).Address(0)
}

// purseData is the data of a jetton wallet with jettons.
func purseData(owner, minter *address.Address, jettons int64) *cell.Cell {
	return cell.BeginCell().MustStoreBigCoins(big.NewInt(jettons)).MustStoreAddr(owner).MustStoreAddr(minter).
		MustStoreRef(contracts.Code(contracts.JettonWalletCode)).EndCell()
}

// oldWallets are the public codes of the first versions, as bags of cells; their
// data is a seqno and a key.
var oldWallets = []string{
	"b5ee9c72410101010044000084ff0020dda4f260810200d71820d70b1fed44d0d31fd3ffd15112baf2a122f901541044f910f2a2f80001d31f3120d74a96d307d402fb00ded1a4c8cb1fcbffc9ed5441fdf089",                                                               // v1r1
	"b5ee9c724101010100530000a2ff0020dd2082014c97ba9730ed44d0d70b1fe0a4f260810200d71820d70b1fed44d0d31fd3ffd15112baf2a122f901541044f910f2a2f80001d31f3120d74a96d307d402fb00ded1a4c8cb1fcbffc9ed54d0e2786f",                                 // v1r2
	"b5ee9c7241010101005f0000baff0020dd2082014c97ba218201339cbab19c71b0ed44d0d31fd70bffe304e0a4f260810200d71820d70b1fed44d0d31fd3ffd15112baf2a122f901541044f910f2a2f80001d31f3120d74a96d307d402fb00ded1a4c8cb1fcbffc9ed54b5b86e42",         // v1r3
	"b5ee9c724101010100570000aaff0020dd2082014c97ba9730ed44d0d70b1fe0a4f2608308d71820d31fd31f01f823bbf263ed44d0d31fd3ffd15131baf2a103f901541042f910f2a2f800029320d74a96d307d402fb00e8d1a4c8cb1fcbffc9ed54a1370bb6",                         // v2r1
	"b5ee9c724101010100630000c2ff0020dd2082014c97ba218201339cbab19c71b0ed44d0d31fd70bffe304e0a4f2608308d71820d31fd31f01f823bbf263ed44d0d31fd3ffd15131baf2a103f901541042f910f2a2f800029320d74a96d307d402fb00e8d1a4c8cb1fcbffc9ed54044cd7a1", // v2r2
}

// everyWallet is one of each version that the library knows or is above, with
// what the town's people do not have.
func everyWallet() (all []*tlb.StateInit) {
	keyOf := func(n int) ed25519.PublicKey {
		return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(20 + n)}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	}
	for n, text := range oldWallets {
		boc, err := hex.DecodeString(text)
		if err != nil {
			panic(err)
		}
		code, err := cell.FromBOC(boc)
		if err != nil {
			panic(err)
		}
		all = append(all, &tlb.StateInit{Code: code, Data: cell.BeginCell().MustStoreUInt(uint64(70+n), 32).MustStoreSlice(keyOf(n), 256).EndCell()})
	}
	for n, version := range []wallet.VersionConfig{wallet.V3R1, wallet.V3R2, wallet.V4R1, wallet.V4R2,
		wallet.ConfigV5R1Beta{NetworkGlobalID: -3}, wallet.ConfigV5R1Final{NetworkGlobalID: -3}, wallet.HighloadV2R2, wallet.HighloadV2Verified} { //nolint:staticcheck // deprecated contracts are on the chain
		init, err := wallet.GetStateInit(keyOf(100+n), version, uint32(100+n))
		if err != nil {
			panic(fmt.Sprintf("wallet %v: %v", version, err))
		}
		all = append(all, init)
	}
	return all
}

// messages of the director for a block: one order with jetton transfers that
// arrive, that come back, that the wallet refuses, that nobody pays for, and
// that a forged wallet sends; and a burn that the master refuses.
func (c *cast) messages(w *town, seqno, now uint32) []*cell.Cell {
	w.Helper()
	if seqno < 3 {
		return nil
	}
	me := c.director.Address(0)
	account, err := w.chain.Account(0, [32]byte(me.Data()))
	w.must(err)
	var state tlb.AccountState
	w.must(tlb.Parse(&state, account.Account))
	data := state.StateInit.Data.MustBeginParse()
	data.MustLoadUInt(1)
	order := contracts.Order{Seqno: uint32(data.MustLoadUInt(32)), ValidUntil: now + 600}
	say := func(to *address.Address, coins float64, body *cell.Cell) {
		order.Messages = append(order.Messages, contracts.Message{To: to, Value: big.NewInt(int64(coins * 1e9)), Bounce: true, Body: body,
			Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors})
	}
	transfer := func(from *address.Address, to *address.Address, jettons int64, coins float64) {
		say(from, coins, contracts.JettonTransferBody(contracts.JettonTransfer{
			QueryID: uint64(seqno)<<16 | uint64(len(order.Messages)), Amount: big.NewInt(jettons), Destination: to, Response: me}))
	}
	mine := c.purse(me)
	transfer(mine, nobody(uint64(seqno%40)), 100, 0.2)
	transfer(mine, c.deaf[seqno%deafPeople], 200, 0.2)
	transfer(mine, nobody(1), 1000*directorsCoin, 0.2)
	transfer(mine, nobody(2), 300, 0.0002)
	transfer(forged, nobody(3), 400, 0.2)
	say(mine, 0.2, contracts.JettonBurnBody(uint64(seqno), big.NewInt(50), me))
	message, err := c.director.External(0, c.key, order)
	w.must(err)
	return []*cell.Cell{message}
}
