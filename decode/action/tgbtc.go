package action

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
)

// Opcodes of tgBTC, whose names nobody has told but those of its logs.
const (
	opTgBTCMintStart   = 0x3f781d24
	opTgBTCMintEnd     = 0xe42a879b
	opTgBTCBurnt       = 0x587643a2 // in the place of a burn notification
	opTgBTCPegout      = 0xbe44e7a6
	opTgBTCPegoutReady = 0x1a84c0e0
	opTgBTCKeyReady    = 0x690f357a
	logTgBTCMint       = 0x77a80ef3
	logTgBTCBurn       = 0xca444ce6
	logTgBTCNewKey     = 0x27756729
	logTgBTCKeyMade    = 0x453443a6
)

// maxMintSteps is the greatest number of messages between the beginning and the end
// of a mint, in which signatures of Bitcoin are checked one by one.
const maxMintSteps = 64

var (
	tgBTCMint       = NewType[pegIn]("tgbtc_mint", Unversioned, "tgbtc")
	tgBTCBurn       = NewType[pegOut]("tgbtc_burn", Unversioned, "tgbtc")
	tgBTCNewKey     = NewType[pegKey]("tgbtc_new_key", Unversioned, "tgbtc")
	tgBTCMintLog    = NewType[pegIn]("tgbtc_mint_fallback", Unversioned, "tgbtc")
	tgBTCBurnLog    = NewType[pegOut]("tgbtc_burn_fallback", Unversioned, "tgbtc")
	tgBTCNewKeyLog  = NewType[pegKey]("tgbtc_new_key_fallback", Unversioned, "tgbtc")
	tgBTCKeyMadeLog = NewType[pegKeyMade]("tgbtc_dkg_log_fallback", Unversioned, "tgbtc")
)

type pegIn struct {
	Source            Address  `detail:"source,account"`
	Destination       Address  `detail:"destination,account"`
	Amount            *big.Int `detail:"amount"`
	Asset             Address  `detail:"asset"`
	BitcoinTxID       string   `detail:"bitcoin_tx_id"`
	DestinationWallet Address  `detail:"destination_wallet,account"`
}

type pegOut struct {
	Source       Address  `detail:"source,account"`
	SourceWallet Address  `detail:"source_wallet,account"`
	Destination  Address  `detail:"destination,account"` // the contract that pays out
	Amount       *big.Int `detail:"amount"`
	Asset        Address  `detail:"asset"`
}

type pegKey struct {
	Source      Address  `detail:"source,account"`
	Pubkey      string   `detail:"pubkey"`
	Coordinator Address  `detail:"coordinator,account"`
	Pegout      Address  `detail:"pegout,account"`
	Amount      *big.Int `detail:"amount"`
	Asset       Address  `detail:"asset"`
}

type pegKeyMade struct {
	Coordinator Address `detail:"coordinator,account"`
	Pubkey      string  `detail:"pubkey"`
	Timestamp   uint64  `detail:"timestamp"`
}

// tgBTC are bitcoins on TON: mints for a deposit on Bitcoin, burns for a payout there,
// and keys that its validators make. Each is told by a log, which is an action by
// itself where the rest is not as it is today.
var tgBTC = &Protocol{
	Name:  "tgbtc",
	Types: []typed{tgBTCMint, tgBTCBurn, tgBTCNewKey, tgBTCMintLog, tgBTCBurnLog, tgBTCNewKeyLog, tgBTCKeyMadeLog},
	Rules: []Rule{
		{
			Name:    "tgBTC minted",
			Order:   orderTgBTCMint,
			Pattern: Call(opTgBTCMintEnd).With(Log(logTgBTCMint).As("log"), Is(jettonMint).As("mint")),
			Make:    makeTgBTCMint,
		},
		{
			Name:  "tgBTC burnt",
			Order: orderTgBTCBurn,
			Pattern: Is(jettonBurn).With(
				Call(opJettonBurnNotification, opTgBTCBurnt).As("burnt").With(Log(logTgBTCBurn).As("log"), pegout()),
			),
			Make: makeTgBTCBurn,
		},
		{
			Name:  "new key of tgBTC",
			Order: orderTgBTCNewKey,
			Pattern: Call(opTgBTCKeyReady).With(Log(logTgBTCNewKey).As("log"), pegout()).
				Below(Any().With(Log(logTgBTCKeyMade).As("made"))),
			Make: makeTgBTCNewKey,
		},
		{Name: "log of tgBTC minted", Order: orderTgBTCMintLog, Block: "tgbtc_mint", Pattern: Log(logTgBTCMint), Make: makeTgBTCMintLog},
		{Name: "log of tgBTC burnt", Order: orderTgBTCBurnLog, Block: "tgbtc_burn", Pattern: Log(logTgBTCBurn), Make: makeTgBTCBurnLog},
		{Name: "log of a new key of tgBTC", Order: orderTgBTCNewKeyLog, Block: "tgbtc_new_key", Pattern: Log(logTgBTCNewKey), Make: makeTgBTCNewKeyLog},
		{Name: "log of a key made for tgBTC", Order: orderTgBTCDKGLog, Block: "tgbtc_dkg_log", Pattern: Log(logTgBTCKeyMade), Make: makeTgBTCKeyMadeLog},
	},
}

// pegout is the deployment of the contract that pays out on Bitcoin.
func pegout() *Pattern {
	return Call(opTgBTCPegout).With(Call(opTgBTCPegoutReady).Maybe(), Plain().Maybe()).Maybe()
}

// readPegIn reads the log of a mint. Bitcoin writes the hash of a transaction from
// its end.
func readPegIn(b *Block) *pegIn {
	r := b.Body()
	p := &pegIn{Amount: r.Coins(), Destination: r.Address()}
	id := r.Hash()
	if r.Failed() {
		return nil
	}
	slices.Reverse(id)
	p.BitcoinTxID = hex.EncodeToString(id)
	return p
}

// readPegOut reads the log of a burn, with the one who burns in Source.
func readPegOut(b *Block) *pegOut {
	r := b.Body()
	p := &pegOut{Amount: r.Coins(), Source: r.Address(), Destination: r.Address()}
	if r.Failed() {
		return nil
	}
	return p
}

// readPegKey reads the log of a new key, whose sender is the coordinator.
func readPegKey(b *Block) *pegKey {
	r := b.Body()
	p := &pegKey{Amount: r.Coins(), Pubkey: r.Big(256).Text(16), Pegout: r.Address(), Coordinator: b.Source()}
	if r.Failed() {
		return nil
	}
	return p
}

// makeTgBTCMint looks for the beginning of the mint above its end.
func makeTgBTCMint(m *Match) *Made {
	mint, peg := jettonMint.Of(m.One("mint")), readPegIn(m.One("log"))
	if peg == nil {
		return nil
	}
	var above []*Block
	for b := m.Block.Parent; b != nil && b.kind == kindCall && len(above) < maxMintSteps; b = b.Parent {
		above = append(above, b)
		if !b.IsCall(opTgBTCMintStart) {
			continue
		}
		peg.Source, peg.Asset, peg.DestinationWallet = b.Source(), mint.Asset, mint.ReceiverJettonWallet
		return tgBTCMint.Make(peg).Consumes(above...).Fails(m.Block.Aborted() || !mintThere(m.One("mint")))
	}
	return nil
}

// makeTgBTCBurn takes the amount without fees from the log, and that of the burn where
// the log has other fields than today's: then its sender is not the owner.
func makeTgBTCBurn(m *Match) *Made {
	burn := jettonBurn.Of(m.Block)
	peg := &pegOut{Source: burn.Owner, SourceWallet: burn.OwnerJettonWallet, Amount: burn.Amount, Asset: burn.Asset}
	if log := readPegOut(m.One("log")); log != nil && bytes.Equal(log.Source, burn.Owner) {
		peg.Amount, peg.Destination = log.Amount, log.Destination
	}
	return tgBTCBurn.Make(peg).Fails(m.Block.Failed || m.Aborted("burnt"))
}

func makeTgBTCNewKey(m *Match) *Made {
	peg := readPegKey(m.One("log"))
	if peg == nil {
		return nil
	}
	peg.Source = m.One("made").Source()
	return tgBTCNewKey.Make(peg).Fails(m.Block.Aborted())
}

func makeTgBTCMintLog(m *Match) *Made {
	peg := readPegIn(m.Block)
	if peg == nil {
		return nil
	}
	peg.Source = m.Block.Source()
	return tgBTCMintLog.Make(peg)
}

func makeTgBTCBurnLog(m *Match) *Made {
	peg := readPegOut(m.Block)
	if peg == nil {
		return nil
	}
	return tgBTCBurnLog.Make(peg)
}

func makeTgBTCNewKeyLog(m *Match) *Made {
	peg := readPegKey(m.Block)
	if peg == nil {
		return nil
	}
	return tgBTCNewKeyLog.Make(peg)
}

func makeTgBTCKeyMadeLog(m *Match) *Made {
	r := m.Block.Body()
	made := &pegKeyMade{Coordinator: m.Block.Source(), Timestamp: r.Uint(64), Pubkey: r.Big(256).Text(16)}
	if r.Failed() {
		return nil
	}
	return tgBTCKeyMadeLog.Make(made)
}
