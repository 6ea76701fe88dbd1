package contracts_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/devnet/genesis"
)

// world is a set of accounts whose messages are executed by the TVM in the
// order in which they are sent.
type world struct {
	t        testing.TB
	config   *tvm.PreparedBlockchainConfig
	accounts map[string]*tvm.PreparedAccount
	now      uint32
	lt       uint64
}

// emulation is a transaction for another emulator to execute. Message is empty
// for a tick or a tock.
type emulation struct {
	Account, Message, Which string
	Now                     uint32
	LT                      int64
	Seed                    string
	Hash, After             string
}

// record, when it is set, gets every transaction.
var record func(emulation)

func (w *world) note(before *tvm.PreparedAccount, message *cell.Cell, which string, res *tvm.TransactionExecutionResult) {
	if record == nil {
		return
	}
	one := emulation{Account: boc(before.ShardAccountCell()), Which: which, Now: w.now, LT: int64(w.lt), Seed: fmt.Sprintf("%064x", 0)}
	if message != nil {
		one.Message = boc(message)
	}
	if res.TransactionCell != nil {
		one.Hash = fmt.Sprintf("%x", res.TransactionCell.Hash())
		one.After = fmt.Sprintf("%x", res.NextAccount.ShardAccountCell().Hash())
	}
	record(one)
}

func boc(root *cell.Cell) string { return base64.StdEncoding.EncodeToString(root.ToBOC()) }

func newWorld(t testing.TB) *world {
	t.Helper()
	config, err := tvm.PrepareBlockchainConfig(testConfig())
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, config: config, accounts: map[string]*tvm.PreparedAccount{}, now: 1_700_000_000, lt: 1000}
}

// testConfig is the config of the devnet.
func testConfig() *cell.Cell {
	network := genesis.Default()
	network.Gas.Basechain.FreezeDue, network.Gas.Basechain.DeleteDue = 100_000_000, 1_000_000_000 // as on mainnet: time passes quickly here
	params, err := network.Params(genesis.Facts{BaseRootHash: make([]byte, 32), BaseFileHash: make([]byte, 32)})
	if err != nil {
		panic(err)
	}
	root, err := genesis.Dict(params)
	if err != nil {
		panic(err)
	}
	return root
}

func user(n byte) *address.Address { return userOf(0, n) }

func userOf(workchain int32, n byte) *address.Address {
	return address.NewAddress(0, byte(workchain), bytes.Repeat([]byte{n}, 32))
}

func ton(n float64) *big.Int { return big.NewInt(int64(n * 1e9)) }

func (w *world) put(to *address.Address, state *cell.Cell) {
	w.t.Helper()
	account, err := tvm.PrepareAccount(&tlb.ShardAccount{Account: state, LastTransHash: make([]byte, 32)}, to)
	if err != nil {
		w.t.Fatal(err)
	}
	w.accounts[to.StringRaw()] = account
}

// place puts an account there as a zerostate does. Without an init it is
// uninitialised.
func (w *world) place(to *address.Address, init *tlb.StateInit, balance *big.Int) {
	w.t.Helper()
	storage := tlb.AccountStorage{Status: tlb.AccountStatusUninit, Balance: tlb.FromNanoTON(balance)}
	if init != nil {
		storage.Status, storage.StateInit = tlb.AccountStatusActive, init
	}
	state, err := tlb.ToCell(&tlb.AccountState{
		IsValid: true, Address: to, AccountStorage: storage,
		StorageInfo: tlb.StorageInfo{
			StorageUsed:  tlb.StorageUsed{CellsUsed: big.NewInt(1), BitsUsed: big.NewInt(1)},
			StorageExtra: tlb.StorageExtraNone{}, LastPaid: w.now,
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(to, state)
}

func (w *world) account(of *address.Address) *tvm.PreparedAccount {
	w.t.Helper()
	if w.accounts[of.StringRaw()] == nil {
		w.put(of, cell.BeginCell().MustStoreBoolBit(false).EndCell())
	}
	return w.accounts[of.StringRaw()]
}

func (w *world) balance(of *address.Address) *big.Int {
	w.t.Helper()
	return w.account(of).State().Balance.Nano()
}

func (w *world) active(of *address.Address) bool {
	w.t.Helper()
	return w.account(of).State().Status == tlb.AccountStatusActive
}

// placeTickTock puts a special contract of the masterchain there.
func (w *world) placeTickTock(to *address.Address, init *tlb.StateInit, balance *big.Int) {
	w.t.Helper()
	init.TickTock = &tlb.TickTock{Tick: true, Tock: true}
	w.place(to, init, balance)
}

// deploy sends the state init with a value from user 0xee.
func (w *world) deploy(to *address.Address, init *tlb.StateInit, value *big.Int) {
	w.t.Helper()
	w.run(contracts.Message{To: to, Value: value, StateInit: init}, user(0xee))
	if !w.active(to) {
		w.t.Fatalf("%s was not deployed", to)
	}
}

// send gives a bounceable message to an account and follows all that comes of
// it. The sender need not exist.
func (w *world) send(from, to *address.Address, value *big.Int, body *cell.Cell) []transaction {
	w.t.Helper()
	return w.run(contracts.Message{To: to, Value: value, Body: body, Bounce: true}, from)
}

func (w *world) run(message contracts.Message, from *address.Address) []transaction {
	w.t.Helper()
	w.lt += 100
	relaxed := message.Cell()
	var full tlb.InternalMessage
	if err := tlb.Parse(&full, relaxed); err != nil {
		w.t.Fatal(err)
	}
	full.SrcAddr, full.CreatedLT, full.CreatedAt, full.FwdFee = from, w.lt, w.now, tlb.MustFromTON("0.0002")
	root, err := tlb.ToCell(&full)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.deliver(root)
}

// deliver executes a message and everything that it causes.
func (w *world) deliver(root *cell.Cell) []transaction {
	w.t.Helper()
	var done []transaction
	for queue := []*cell.Cell{root}; len(queue) > 0; queue = queue[1:] {
		message, err := tvm.PrepareMessage(queue[0])
		if err != nil {
			w.t.Fatal(err)
		}
		if len(done) > 1000 {
			w.t.Fatal("a trace without an end")
		}
		to := message.Message().Msg.DestAddr()
		before := w.account(to)
		res, err := tvm.NewTVM().EmulateTransaction(w.block(), before, message, tvm.TransactionOptions{LogicalTime: int64(w.lt)})
		if err != nil {
			w.t.Fatal(err)
		}
		w.note(before, queue[0], "", res)
		one := transaction{account: to, message: message.Message(), TransactionExecutionResult: res}
		if res.TransactionCell != nil {
			if one.tx, err = res.ParseTransaction(); err != nil {
				w.t.Fatal(err)
			}
			w.accounts[to.StringRaw()] = res.NextAccount
			w.lt = max(w.lt, res.EndLT)
		}
		done = append(done, one)
		for _, out := range res.OutMessages {
			if out.Msg.MsgType != tlb.MsgTypeExternalOut {
				queue = append(queue, out.Cell)
			}
		}
	}
	return done
}

func (w *world) block() *tvm.BlockContext {
	w.t.Helper()
	block, err := w.config.NewBlockContext(tvm.BlockOptions{Now: w.now, BlockLT: int64(w.lt), RandSeed: make([]byte, 32)})
	if err != nil {
		w.t.Fatal(err)
	}
	return block
}

// tick runs a tick or a tock of an account of the masterchain.
func (w *world) tick(of *address.Address, tock bool) transaction {
	w.t.Helper()
	w.lt += 100
	before := w.account(of)
	res, err := tvm.NewTVM().EmulateTickTockTransaction(w.block(), before, tock, tvm.TransactionOptions{LogicalTime: int64(w.lt)})
	if err != nil {
		w.t.Fatal(err)
	}
	w.note(before, nil, map[bool]string{false: "tick", true: "tock"}[tock], res)
	tx, err := res.ParseTransaction()
	if err != nil {
		w.t.Fatal(err)
	}
	w.accounts[of.StringRaw()] = res.NextAccount
	return transaction{account: of, TransactionExecutionResult: res, tx: tx}
}

// none is addr_none.
var none = address.NewAddressNone()
