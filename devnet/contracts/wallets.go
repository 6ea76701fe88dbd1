package contracts

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// WalletVersion is one of the public wallet contracts.
type WalletVersion int

// The wallets of the devnet.
const (
	WalletV3R2 WalletVersion = iota
	WalletV4R2
	WalletV5R1
	WalletHighloadV3
)

// walletMessages is the most messages that one order holds.
var walletMessages = map[WalletVersion]int{WalletV3R2: 4, WalletV4R2: 4, WalletV5R1: 255, WalletHighloadV3: 253}

// Wallet is a wallet contract of a public key.
type Wallet struct {
	Version WalletVersion
	Key     ed25519.PublicKey
	// Subwallet is the wallet id of v3, v4 and highload (usually
	// wallet.DefaultSubwallet), and the number of the subwallet of v5 (usually 0).
	Subwallet uint32
	// NetworkID is the global id of the network; only v5 has it in its wallet id.
	NetworkID int32
	// Timeout of highload orders in seconds; only highload has it.
	Timeout uint32
}

// NewWallet is a wallet of the basechain with the usual wallet id.
func NewWallet(version WalletVersion, key ed25519.PublicKey, networkID int32) Wallet {
	w := Wallet{Version: version, Key: key, Subwallet: wallet.DefaultSubwallet}
	switch version {
	case WalletV5R1:
		w.Subwallet, w.NetworkID = 0, networkID
	case WalletHighloadV3:
		// The id that wallets of this version have everywhere.
		w.Subwallet, w.Timeout = 0x10ad, 3600
	}
	return w
}

// StateInit is of a wallet that has not sent anything.
func (w Wallet) StateInit() *tlb.StateInit {
	init, err := wallet.GetStateInit(w.Key, w.version(), w.Subwallet)
	if err != nil {
		panic(fmt.Sprintf("wallet: %v", err))
	}
	return init
}

// Address is where StateInit is deployed.
func (w Wallet) Address(workchain int32) *address.Address {
	return AddressOf(workchain, w.StateInit())
}

// MaxMessages is how many messages one order of the wallet can send.
func (w Wallet) MaxMessages() int {
	return walletMessages[w.Version]
}

func (w Wallet) version() wallet.VersionConfig {
	switch w.Version {
	case WalletV3R2:
		return wallet.V3R2
	case WalletV4R2:
		return wallet.V4R2
	case WalletV5R1:
		return wallet.ConfigV5R1Final{NetworkGlobalID: w.NetworkID}
	default:
		return wallet.ConfigHighloadV3{MessageTTL: w.Timeout}
	}
}

// Send modes, as TVM's SENDRAWMSG has them.
const (
	ModePayFees      = 1
	ModeIgnoreErrors = 2
	ModeRemaining    = 64
	ModeAllBalance   = 128
)

// Message is an internal message that a wallet sends.
type Message struct {
	To        *address.Address
	Value     *big.Int // nanotons
	Bounce    bool
	Body      *cell.Cell     // nil: empty
	StateInit *tlb.StateInit // deploys To
	// Mode is of SENDRAWMSG. Wallet v5 sends nothing by an external message without
	// ModeIgnoreErrors.
	Mode uint8
}

// Cell is the message as the action list carries it.
func (m Message) Cell() *cell.Cell {
	body := m.Body
	if body == nil {
		body = cell.BeginCell().EndCell()
	}
	return toCell(&tlb.InternalMessage{
		IHRDisabled: true, Bounce: m.Bounce, DstAddr: m.To, Amount: tlb.FromNanoTON(amount(m.Value)),
		StateInit: m.StateInit, Body: body,
	})
}

// Order is what a wallet is told to do by a signed external message.
type Order struct {
	Messages []Message
	// Seqno is the wallet's; highload takes QueryID instead.
	Seqno uint32
	// ValidUntil is a Unix time. Highload counts its timeout from CreatedAt.
	ValidUntil uint32
	// QueryID is below 1<<23, each once within the timeout. Its low ten bits are
	// below 1023.
	QueryID   uint32
	CreatedAt uint64
	// Deploy carries the state init, for a wallet that is not active yet.
	Deploy bool
}

// External is the signed external message of an order. The same order gives the
// same message.
func (w Wallet) External(workchain int32, key ed25519.PrivateKey, order Order) (*cell.Cell, error) {
	if n := len(order.Messages); n == 0 || n > w.MaxMessages() {
		return nil, fmt.Errorf("wallet order of %d messages: from 1 to %d can be sent", n, w.MaxMessages())
	}
	if !slices.Equal(w.Key, key.Public().(ed25519.PublicKey)) {
		return nil, errors.New("wallet order: the key is another wallet's")
	}
	body, err := w.body(workchain, key, order)
	if err != nil {
		return nil, fmt.Errorf("wallet order: %w", err)
	}
	message := &tlb.ExternalMessage{DstAddr: w.Address(workchain), Body: body}
	if order.Deploy {
		message.StateInit = w.StateInit()
	}
	return tlb.ToCell(message)
}

func (w Wallet) body(workchain int32, key ed25519.PrivateKey, order Order) (*cell.Cell, error) {
	switch w.Version {
	case WalletV5R1:
		return w.bodyV5(key, order), nil
	case WalletHighloadV3:
		return w.bodyHighload(workchain, key, order)
	}
	payload := cell.BeginCell().
		MustStoreUInt(uint64(w.Subwallet), 32).
		MustStoreUInt(uint64(order.ValidUntil), 32).
		MustStoreUInt(uint64(order.Seqno), 32)
	if w.Version == WalletV4R2 {
		payload.MustStoreUInt(0, 8) // plain send
	}
	for _, message := range order.Messages {
		payload.MustStoreUInt(uint64(message.Mode), 8).MustStoreRef(message.Cell())
	}
	signature := payload.EndCell().Sign(key)
	return cell.BeginCell().MustStoreSlice(signature, 512).MustStoreBuilder(payload).EndCell(), nil
}

func (w Wallet) bodyV5(key ed25519.PrivateKey, order Order) *cell.Cell {
	id := wallet.V5R1ID{NetworkGlobalID: w.NetworkID, SubwalletNumber: uint16(w.Subwallet)}
	payload := cell.BeginCell().
		MustStoreUInt(0x7369676e, 32).
		MustStoreUInt(uint64(id.Serialized()), 32).
		MustStoreUInt(uint64(order.ValidUntil), 32).
		MustStoreUInt(uint64(order.Seqno), 32).
		MustStoreMaybeRef(outList(order.Messages)).
		MustStoreBoolBit(false)
	signature := payload.EndCell().Sign(key)
	return cell.BeginCell().MustStoreBuilder(payload).MustStoreSlice(signature, 512).EndCell()
}

func (w Wallet) bodyHighload(workchain int32, key ed25519.PrivateKey, order Order) (*cell.Cell, error) {
	if order.QueryID >= 1<<23 || order.QueryID&1023 == 1023 {
		return nil, fmt.Errorf("query id %d is not one of a highload wallet", order.QueryID)
	}
	message := order.Messages[0]
	// The contract refuses a state init here, so such a message goes the way of
	// many: through a message to itself.
	if len(order.Messages) > 1 || message.StateInit != nil {
		message = w.toItself(workchain, order)
	}
	payload := cell.BeginCell().
		MustStoreUInt(uint64(w.Subwallet), 32).
		MustStoreRef(message.Cell()).
		MustStoreUInt(uint64(message.Mode), 8).
		MustStoreUInt(uint64(order.QueryID), 23).
		MustStoreUInt(order.CreatedAt, 64).
		MustStoreUInt(uint64(w.Timeout), 22).EndCell()
	return cell.BeginCell().MustStoreSlice(payload.Sign(key), 512).MustStoreRef(payload).EndCell(), nil
}

// toItself is the internal_transfer of a highload wallet, with what its actions
// and their gas need.
func (w Wallet) toItself(workchain int32, order Order) Message {
	const gas, gasOfOne = 10_000_000, 7_000_000
	value := big.NewInt(gas + gasOfOne*int64(len(order.Messages)))
	for _, message := range order.Messages {
		value.Add(value, amount(message.Value))
	}
	return Message{
		To: w.Address(workchain), Value: value, Mode: ModePayFees | ModeIgnoreErrors,
		Body: body(0xae42e5a4, uint64(order.QueryID)).MustStoreRef(outList(order.Messages)).EndCell(),
	}
}

// outList is an OutList of action_send_msg.
func outList(messages []Message) *cell.Cell {
	list := cell.BeginCell().EndCell()
	for _, message := range messages {
		list = cell.BeginCell().MustStoreRef(list).
			MustStoreUInt(0x0ec3c86d, 32).
			MustStoreUInt(uint64(message.Mode), 8).
			MustStoreRef(message.Cell()).EndCell()
	}
	return list
}
