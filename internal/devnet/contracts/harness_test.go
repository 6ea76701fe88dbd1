package contracts_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/tuple"
	"github.com/xssnick/tonutils-go/tvm/vm"

	"tonscribe/internal/devnet/contracts"
	"tonscribe/internal/devnet/genesis"
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

// transaction is what one message did.
type transaction struct {
	account *address.Address
	message *tlb.Message
	*tvm.TransactionExecutionResult
	tx *tlb.Transaction
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
	relaxed, err := message.Cell()
	if err != nil {
		w.t.Fatal(err)
	}
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
		if message.Message().MsgType == tlb.MsgTypeExternalOut {
			continue
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
			queue = append(queue, out.Cell)
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

func (t transaction) aborted() bool {
	description, ok := t.tx.Description.(tlb.TransactionDescriptionOrdinary)
	return ok && description.Aborted
}

func (t transaction) op() uint32 {
	if t.message == nil {
		return 0
	}
	body, err := t.message.Msg.Payload().BeginParse()
	if err != nil || body.BitsLeft() < 32 {
		return 0
	}
	return uint32(body.MustLoadUInt(32))
}

// payload is the body behind the number.
func (t transaction) payload() *cell.Slice {
	body := t.message.Msg.Payload().MustBeginParse()
	body.MustLoadUInt(32)
	return body
}

func (t transaction) String() string {
	if t.tx == nil {
		return fmt.Sprintf("%s refused: exit %d", t.account.StringRaw()[:8], t.ExitCode)
	}
	action := int32(0)
	if description, ok := t.tx.Description.(tlb.TransactionDescriptionOrdinary); ok && description.ActionPhase != nil {
		action = description.ActionPhase.ResultCode
	}
	return fmt.Sprintf("%s op %08x exit %d action %d aborted %t", t.account.StringRaw()[:8], t.op(), t.ExitCode, action, t.aborted())
}

// expect checks the accounts and the numbers of the messages of a trace, in
// order, and that nothing was aborted.
func expect(t testing.TB, got []transaction, want ...hop) {
	t.Helper()
	same := len(got) == len(want)
	for i := 0; same && i < len(want); i++ {
		same = got[i].account.Equals(want[i].to) && got[i].op() == want[i].op && got[i].tx != nil
		same = same && (got[i].aborted() == want[i].fails || got[i].isUninit())
	}
	if !same {
		var what string
		for _, one := range want {
			what += fmt.Sprintf("\n  %s op %08x aborted %t", one.to.StringRaw()[:8], one.op, one.fails)
		}
		t.Fatalf("trace is %s\nwant %s", text(got), what)
	}
}

// isUninit says whether there is no contract: such a transaction is aborted and
// still takes the value.
func (t transaction) isUninit() bool {
	return t.NextAccount.State().Status != tlb.AccountStatusActive
}

type hop struct {
	to    *address.Address
	op    uint32
	fails bool
}

func text(got []transaction) (all string) {
	for _, one := range got {
		all += "\n  " + one.String()
	}
	return all
}

// get runs a get-method and returns its results, bottom first.
func (w *world) get(of *address.Address, method string, arguments ...any) []any {
	w.t.Helper()
	exit, _, stack := w.tryGet(of, 1_000_000, method, arguments...)
	if exit != 0 && exit != 1 {
		w.t.Fatalf("%s of %s ends with exit code %d", method, of, exit)
	}
	return stack
}

func (w *world) tryGet(of *address.Address, gas int64, method string, arguments ...any) (exit, used int64, results []any) {
	w.t.Helper()
	stack := vm.NewStack()
	for _, argument := range arguments {
		if n, ok := argument.(int); ok {
			argument = big.NewInt(int64(n))
		}
		if err := stack.PushAny(argument); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := stack.PushInt(new(big.Int).SetUint64(tlb.MethodNameHash(method))); err != nil {
		w.t.Fatal(err)
	}
	state := w.account(of).State()
	if state.StateInit == nil {
		w.t.Fatalf("%s of %s: no contract", method, of)
	}
	res, err := tvm.NewTVM().ExecuteGetMethod(state.StateInit.Code, state.StateInit.Data, w.c7(of, state),
		vm.GasWithLimit(gas), stack, tvm.ExecutionConfig{Config: w.config})
	if err != nil {
		w.t.Fatalf("%s of %s: %v", method, of, err)
	}
	for res.Stack.Len() > 0 {
		value, err := res.Stack.PopAny()
		if err != nil {
			w.t.Fatal(err)
		}
		results = append([]any{value}, results...)
	}
	return res.ExitCode, res.GasUsed, results
}

func (w *world) c7(of *address.Address, state *tlb.AccountState) tuple.Tuple {
	unpacked, _ := w.block().UnpackedConfig()
	return tuple.NewTupleValue(tuple.NewTupleValue(
		big.NewInt(0x076ef1ea), big.NewInt(0), big.NewInt(0), big.NewInt(int64(w.now)),
		big.NewInt(int64(w.lt)), big.NewInt(int64(w.lt)), big.NewInt(1),
		tuple.NewTupleValue(state.Balance.Nano(), nil),
		cell.BeginCell().MustStoreAddr(of).ToSlice(), testConfig(), state.StateInit.Code,
		tuple.NewTupleValue(big.NewInt(0), nil), big.NewInt(0), nil, unpacked, big.NewInt(0), nil, nil,
	))
}

func slice(of *address.Address) *cell.Slice { return cell.BeginCell().MustStoreAddr(of).ToSlice() }

func intIn(t testing.TB, value any) *big.Int {
	t.Helper()
	number, ok := value.(*big.Int)
	if !ok {
		t.Fatalf("a number is %T", value)
	}
	return number
}

// show prints results of a get-method in one form: addresses raw, cells by
// their hash, other slices in hex.
func show(values ...any) (all []string) {
	for _, value := range values {
		switch v := value.(type) {
		case nil:
			all = append(all, "null")
		case bool:
			if v {
				all = append(all, "-1")
			} else {
				all = append(all, "0")
			}
		case *address.Address:
			all = append(all, "address "+v.StringRaw())
		case *cell.Slice:
			if found, err := v.Copy().LoadAddr(); err == nil && (v.BitsLeft() == 267 || v.BitsLeft() == 2) {
				all = append(all, "address "+found.StringRaw())
			} else {
				all = append(all, fmt.Sprintf("bits %x", v.Copy().MustLoadSlice(v.BitsLeft())))
			}
		case *cell.Cell:
			if v == nil {
				all = append(all, "null")
				continue
			}
			all = append(all, fmt.Sprintf("cell %x", v.Hash()))
		case []byte:
			all = append(all, fmt.Sprintf("bits %x", v))
		default:
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

func expectValues(t testing.TB, what string, got []any, want ...any) {
	t.Helper()
	if g, w := fmt.Sprint(show(got...)), fmt.Sprint(show(want...)); g != w {
		t.Errorf("%s is\n  %s\nwant\n  %s", what, g, w)
	}
}

// none is addr_none.
var none = address.NewAddressNone()

func seed(n uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 24), n)
}

func refOf(from *cell.Slice) *cell.Cell {
	ref, err := from.LoadRefCell()
	if err != nil {
		panic(err)
	}
	return ref
}

// list is a list of TVM as a slice, and its tuples as slices.
func list(t testing.TB, from any) (all []any) {
	t.Helper()
	for from != nil {
		link := from.(tuple.Tuple)
		head, err := link.Index(0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, flat(head))
		if from, err = link.Index(1); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func flat(value any) any {
	from, ok := value.(tuple.Tuple)
	if !ok {
		return value
	}
	var all []any
	for i := range from.Len() {
		one, err := from.Index(i)
		if err != nil {
			panic(err)
		}
		all = append(all, flat(one))
	}
	return all
}

func account(of *address.Address) *big.Int { return new(big.Int).SetBytes(of.Data()) }

func pair(workchain int64, of *address.Address) []any {
	return []any{big.NewInt(workchain), account(of)}
}
