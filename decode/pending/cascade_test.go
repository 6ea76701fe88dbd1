package pending

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/devnet/genesis"
	"tonscribe/ton/address"
)

func TestAJettonTransferIsForeseenToItsEnd(t *testing.T) {
	h := newHousehold(t)
	message := h.order(t, h.transfer(account(9), 70))
	m := moment(t, nil)
	// The receiver lives in another shard than everybody else.
	m.Shards = []Shard{{0, 1 << 62}, {0, 3 << 62}}
	made, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil || made.Cut != nil {
		t.Fatal(err, made)
	}
	// wallet, its purse, the receiver's purse, the receiver, the rest back at the wallet
	opcodes := []uint32{0, 0x0f8a7ea5, 0x178d4519, 0x7362d09c, 0xd53276db}
	if len(made.Transactions) != len(opcodes) {
		t.Fatalf("%d transactions, want %d", len(made.Transactions), len(opcodes))
	}
	seen := map[uint32]bool{}
	last := map[string]int{}
	sent := map[string]uint64{}
	for i, tx := range made.Transactions {
		in := tx.InMsg
		if hash := message.HashKey(); i == 0 && !bytes.Equal(in.Hash, hash[:]) {
			t.Errorf("the first message is %x, want %x", in.Hash, hash)
		}
		if i > 0 {
			seen[in.GetOpcode()] = true
			lt, is := sent[string(in.Hash)]
			if !is || tx.Lt <= lt || tx.Lt < made.Transactions[i-1].Lt {
				t.Errorf("transaction %d received %x at lt %d, sent %v at %d", i, in.Hash, tx.Lt, is, lt)
			}
		}
		if before, is := last[string(tx.Account)]; is {
			if p := made.Transactions[before]; !bytes.Equal(tx.PrevTransHash, p.Hash) || tx.PrevTransLt != p.Lt || !bytes.Equal(tx.StateHashBefore, p.StateHashAfter) {
				t.Errorf("transaction %d does not follow transaction %d of the account", i, before)
			}
		}
		last[string(tx.Account)] = i
		if tx.Aborted != (in.GetOpcode() == 0x7362d09c) { // the receiver has no code
			t.Errorf("transaction %d of opcode %08x: aborted %v", i, in.GetOpcode(), tx.Aborted)
		}
		for _, out := range tx.OutMsgs {
			sent[string(out.Hash)] = out.CreatedLt
		}
		if tx.McSeqno != 0 || tx.Now != noon {
			t.Errorf("transaction %d is of bundle %d at %d", i, tx.McSeqno, tx.Now)
		}
		// A message to another shard comes two blocks later, one to the same at once.
		if i > 0 {
			parent := sent[string(in.Hash)] / ltAlign
			hops := tx.Lt/ltAlign - parent
			if same := m.shardOf(address.Address(tx.Account)) == m.shardOf(address.Address(in.Source)); same != (hops == 0) || hops != 0 && hops != hop {
				t.Errorf("transaction %d came %d blocks later, in the same shard: %v", i, hops, same)
			}
		}
	}
	for _, op := range opcodes[1:] {
		if !seen[op] {
			t.Errorf("no message %08x", op)
		}
	}
	again, err := Run(t.Context(), h, m, message, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Transactions {
		if !again.Transactions[i].EqualVT(made.Transactions[i]) {
			t.Errorf("transaction %d is another one the second time", i)
		}
	}
}

func TestWhatIsNotAcceptedIsNotForeseen(t *testing.T) {
	h := newHousehold(t)
	pay := contracts.Message{To: account(9), Value: noTON, Body: cell.BeginCell().EndCell()}
	late, err := h.External(0, h.key, contracts.Order{Messages: []contracts.Message{pay}, ValidUntil: noon - 1})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		message *cell.Cell
		want    error
	}{
		"late":                    {late, ErrNotAccepted},
		"to nobody":               {knock(t, account(3)), errAny},
		"no message":              {cell.BeginCell().EndCell(), ErrMessage},
		"nothing":                 {nil, ErrMessage},
		"a message of the inside": {letter(t, account(3), 1, cell.BeginCell().EndCell()), ErrMessage},
	} {
		if made, err := Run(t.Context(), h, moment(t, nil), c.message, DefaultLimits()); err == nil || !errors.Is(c.want, errAny) && !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v; want %v", what, made, err, c.want)
		}
	}
}

var errAny = errors.New("some error")

// What fails in the midst leaves what was foreseen before.
func TestACascadeEndsWhereAStateCannotBeRead(t *testing.T) {
	h := newHousehold(t)
	purse := h.minter.Wallet(0, account(9)).Address(0)
	a := address.New(0, purse.Data())
	h.failing = &a
	made, err := Run(t.Context(), h, moment(t, nil), h.order(t, h.transfer(account(9), 70)), DefaultLimits())
	if err != nil || !errors.Is(made.Cut, context.DeadlineExceeded) || len(made.Transactions) != 2 {
		t.Errorf("%+v, %v; want two transactions and why there are no more", made, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, h, moment(t, nil), h.order(t, h.transfer(account(9), 70)), DefaultLimits()); !errors.Is(err, context.Canceled) {
		t.Errorf("without time: %v", err)
	}
}

// What is received in an earlier block comes first, also where it was sent later.
func TestMessagesAreReceivedInTheOrderOfBlocks(t *testing.T) {
	// twice sends the messages of two references with mode 1.
	const twice = "F800" + "88" + "71FB00" + "88" + "71FB00"
	empty := cell.BeginCell().EndCell()
	me, far, near, to, other := account(0x01), account(0x41), account(0x81), account(0x82), account(0x83)
	w := &town{}
	w.settle(t, me, program(t, twice, letter(t, far, 1e9, empty), letter(t, near, 1e9, empty)), empty, 100e9)
	w.settle(t, far, program(t, once, letter(t, to, 1e6, empty)), empty, 100e9)
	w.settle(t, near, program(t, twice, letter(t, other, 1e6, empty), letter(t, to, 1e6, empty)), empty, 100e9)
	for _, a := range []*tonutils.Address{to, other} {
		w.settle(t, a, program(t, "F800"), empty, 1e9)
	}
	m := moment(t, nil)
	m.Shards = []Shard{{0, 1 << 61}, {0, 3 << 61}, {0, 5 << 61}, {0, 7 << 61}}
	made, err := Run(t.Context(), w, m, knock(t, me), DefaultLimits())
	if err != nil || made.Cut != nil {
		t.Fatal(err, made)
	}
	var senders []address.Address
	for i, tx := range made.Transactions {
		if i > 0 && tx.Lt/ltAlign < made.Transactions[i-1].Lt/ltAlign {
			t.Errorf("transaction %d is of lt %d, behind %d", i, tx.Lt, made.Transactions[i-1].Lt)
		}
		if address.Address(tx.Account) == address.New(0, to.Data()) {
			senders = append(senders, address.Address(tx.InMsg.Source))
			t.Logf("from %s at %d", senders[len(senders)-1], tx.Lt)
		}
	}
	if want := []address.Address{address.New(0, near.Data()), address.New(0, far.Data())}; !slices.Equal(senders, want) {
		t.Errorf("received from %s, want %s", senders, want)
	}
}

// Programs (TVM). Each accepts whatever comes: F800.
const (
	// once sends the message of its first reference with mode 1.
	once = "F800" + "88" + "71FB00"
	// always the same 255 times: PUSHREF, 255, PUSHCONT {DUP 1 SENDRAWMSG}, REPEAT.
	many = "F800" + "88" + "8100FF" + "942071FB00" + "E4"
	// endless never ends.
	endless = "F800" + "3090EA"
)

// deep is a body that is large as a tree: 2^n times a cell.
func deep(n int) *cell.Cell {
	c := cell.BeginCell().MustStoreUInt(7, 64).EndCell()
	for range n {
		c = cell.BeginCell().MustStoreRef(c).MustStoreRef(c).EndCell()
	}
	return c
}

// wide is a tree of n different cells.
func wide(n int) *cell.Cell {
	level := make([]*cell.Cell, n)
	for i := range level {
		level[i] = cell.BeginCell().MustStoreUInt(uint64(i), 64).EndCell()
	}
	for len(level) > 1 {
		var next []*cell.Cell
		for i := 0; i < len(level); i += 4 {
			b := cell.BeginCell()
			for _, c := range level[i:min(i+4, len(level))] {
				b.MustStoreRef(c)
			}
			next = append(next, b.EndCell())
		}
		level = next
	}
	return level[0]
}

func TestHostileCascadesAreBounded(t *testing.T) {
	me := account(1)
	empty := cell.BeginCell().EndCell()
	limits := DefaultLimits()
	limits.Time = 30 * time.Second // the machine may be busy: time is not what is to end them
	for _, c := range []struct {
		what string
		code *cell.Cell
		data *cell.Cell
		// limits changes them
		limits       func(*Limits)
		transactions int // of the cascade, 0 for an error
		cut          error
	}{
		{what: "a contract that sends itself a message for ever", code: program(t, once, letter(t, me, 1e6, empty)), data: empty, transactions: 32, cut: ErrLimits},
		{what: "255 messages each time", code: program(t, many, letter(t, me, 1e6, empty)), data: empty, limits: func(l *Limits) { l.Bytes, l.Gas = 8<<20, 1<<40 }, transactions: 169, cut: ErrLimits},
		{what: "255 messages each time, by their number", code: program(t, many, letter(t, me, 1e6, empty)), data: empty, limits: func(l *Limits) { l.Transactions = 5 }, transactions: 5, cut: ErrLimits},
		{what: "255 messages each time, by their bytes", code: program(t, many, letter(t, me, 1e6, empty)), data: empty, transactions: 10, cut: ErrLimits},
		{what: "a loop without end", code: program(t, endless), data: empty, transactions: 1},
		{what: "gas of all", code: program(t, once, letter(t, me, 1e6, empty)), data: empty, limits: func(l *Limits) { l.Gas = 5000 }, transactions: 9, cut: ErrLimits},
		{what: "a body that is larger as a tree than anything", code: program(t, once, letter(t, me, 1e6, deep(50))), data: empty, transactions: 1},
		{what: "255 times a large body", code: program(t, many, letter(t, me, 1e6, wide(100))), data: empty, limits: func(l *Limits) { l.Bytes = 128 << 10 }, cut: ErrLimits},
		{what: "cells of states", code: program(t, once, letter(t, me, 1e6, empty)), data: empty, limits: func(l *Limits) { l.Cells = 10 * 4 }, transactions: 10, cut: ErrLimits},
		{what: "a huge state", code: program(t, once, letter(t, me, 1e6, empty)), data: wide(40_000), transactions: 4, cut: ErrLimits},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := &town{}
			w.settle(t, me, c.code, c.data, 1_000_000e9)
			l := limits
			if c.limits != nil {
				c.limits(&l)
			}
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			made, err := Run(t.Context(), w, moment(t, nil), knock(t, me), l)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			t.Logf("%d executions in %s, %d MiB allocated", w.executed, took.Round(time.Millisecond), (after.TotalAlloc-before.TotalAlloc)>>20)
			if c.transactions == 0 {
				if !errors.Is(err, c.cut) {
					t.Fatalf("%+v, %v; want %v", made, err, c.cut)
				}
				return
			}
			if err != nil || !errors.Is(made.Cut, c.cut) || len(made.Transactions) != c.transactions {
				t.Fatalf("%v, cut by %v after %d transactions; want %v after %d", err, made.Cut, len(made.Transactions), c.cut, c.transactions)
			}
			checkBounds(t, made, l)
		})
	}
}

// maxGas is what one transaction of the devnet may use more than the limit.
var maxGas = int64(genesis.Default().Gas.Basechain.Limit)

// checkBounds checks that a cascade is within its limits.
func checkBounds(t testing.TB, made *Cascade, l Limits) {
	t.Helper()
	size := 0
	for _, tx := range made.Transactions {
		size += tx.SizeVT()
	}
	if len(made.Transactions) == 0 || len(made.Transactions) > l.Transactions || size > l.Bytes || made.Gas >= l.Gas+maxGas {
		t.Errorf("%d transactions, %d bytes, %d gas: beyond %+v", len(made.Transactions), size, made.Gas, l)
	}
	if made.Cut != nil && !errors.Is(made.Cut, ErrLimits) {
		t.Errorf("cut by %v", made.Cut)
	}
}
