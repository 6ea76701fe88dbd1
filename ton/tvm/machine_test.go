package tvm_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/configtest"
	"tonscribe/test/support/costtest"
	"tonscribe/ton/tvm"
)

const (
	// makeBomb leaves a cell that is 2^61 as a tree: NEWC, ENDC, 60 times
	// { DUP, NEWC, STREF, STREF, ENDC }.
	makeBomb = "C8C9803C9520C8CCCCC9E4"
	// makeMessage makes a valid message to the contract itself, with the cell on
	// top as its body.
	makeMessage = "C88018" + "01CB05" + "F828CF16" + "70FA02" + "7101CB6A" + "CCC9"
)

// doubledCell is a cell that refers twice to the next, and so on.
func doubledCell(levels int) *cell.Cell {
	c := cell.BeginCell().MustStoreUInt(1, 8).EndCell()
	for i := range levels {
		c = cell.BeginCell().MustStoreUInt(uint64(i), 16).MustStoreRef(c).MustStoreRef(c).EndCell()
	}
	return c
}

// ends fails the test when what should be bounded is not, and lets it go on.
func ends(t *testing.T, name string, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatalf("%s goes on after a minute", name)
	}
}

func TestActionsThatAreLargeAsATreeAreACellOverflow(t *testing.T) {
	for name, code := range map[string]string{
		"SENDRAWMSG":  makeBomb + "70FB00",
		"SENDMSG":     makeBomb + makeMessage + "70FB08", // which computes fees as well
		"RAWRESERVEX": "70" + makeBomb + "70FB03",
		"POP c5":      makeBomb + "ED55",
		"POPSAVE c5":  makeBomb + "ED95",
		"POPCTRX":     makeBomb + "75EDE1",
		"SETCONTCTR":  makeBomb + "90ED65D8",
		"SETRETCTR":   makeBomb + "ED75",
		"SETALTCTR":   makeBomb + "ED85",
		"SETCONTCTRX": makeBomb + "9075EDE2D8",
	} {
		ends(t, name, func() {
			in := hostileInput(t, assembly(t, code), 1_000_000)
			in.Config = configtest.Of(t, nil, nil)
			result, err := tvm.Run(t.Context(), in)
			if err != nil || result.ExitCode != 8 {
				t.Errorf("%s: exit code %d (%v), want 8", name, result.ExitCode, err)
			}
		})
	}
}

func TestACellLargeAsATreeMayBeDataAndIsNotWrittenOutForDebugging(t *testing.T) {
	for name, c := range map[string]struct {
		code *cell.Cell
		exit int
	}{
		"POP c4":      {assembly(t, makeBomb+"ED54"), 0},
		"DUMP":        {assembly(t, makeBomb+"FE20"), 0},
		"DUMPSTK":     {assembly(t, makeBomb+"FE00"), 0},
		"STRDUMP":     {assembly(t, makeBomb+"D0FE14"), 0},
		"no opcode":   {cell.BeginCell().MustStoreUInt(0xC7_FF, 16).MustStoreRef(doubledCell(60)).EndCell(), 6},
		"no argument": {cell.BeginCell().MustStoreUInt(0xF4A4_00>>8, 16).MustStoreRef(doubledCell(60)).EndCell(), 6},
	} {
		ends(t, name, func() {
			result, err := tvm.Run(t.Context(), hostileInput(t, c.code, 1_000_000))
			if err != nil || result.ExitCode != c.exit {
				t.Errorf("%s: exit code %d (%v), want %d", name, result.ExitCode, err, c.exit)
			}
		})
	}
}

// sender is an active account that sends what it makes, or what it is given.
func sender(t *testing.T, code string) tvm.Delivery {
	t.Helper()
	to := address.NewAddress(0, 0xff, bytes.Repeat([]byte{5}, 32)) // the masterchain is always there
	state := &tlb.StateInit{Code: assembly(t, code), Data: cell.BeginCell().EndCell()}
	return tvm.Delivery{
		Context: tvm.Context{Config: configtest.Of(t, nil, nil), Now: noon, LT: 10_000},
		Account: activeAccount(t, to, state, 5_000_000_000), Message: incoming(t, to, 1_000_000_000, true),
	}
}

func TestAMessageThatCodeMakesLargeAsATreeFailsItsTransaction(t *testing.T) {
	ends(t, "the transaction", func() {
		outcome, err := tvm.Deliver(sender(t, makeBomb+makeMessage+"8040FB00"))
		if err != nil || !outcome.Accepted || outcome.ExitCode != 8 || outcome.Transaction == nil {
			t.Errorf("accepted %t, exit code %d (%v), want a transaction with exit code 8", outcome.Accepted, outcome.ExitCode, err)
		}
	})
	// One of ordinary size is sent.
	outcome, err := tvm.Deliver(sender(t, "C8C9"+makeMessage+"8040FB00"))
	if err != nil || outcome.ExitCode != 0 || len(outcome.Messages) != 1 {
		t.Errorf("exit code %d, %d messages (%v), want 0 and one", outcome.ExitCode, len(outcome.Messages), err)
	}
}

// TestManyMessagesWithOneLargeBodyAreCountedTogether sends a body of 2^15 cells
// as a tree again and again: each is allowed, the list of them is not.
func TestManyMessagesWithOneLargeBodyAreCountedTogether(t *testing.T) {
	body := "C8C9800E9520C8CCCCC9E4" // 14 doublings
	ends(t, "the transaction", func() {
		outcome, err := tvm.Deliver(sender(t, body+makeMessage+"70FB00"))
		if err != nil || outcome.ExitCode != 0 {
			t.Errorf("one: exit code %d (%v), want 0", outcome.ExitCode, err)
		}
		// 20 times { DUP, 0, SENDRAWMSG }
		outcome, err = tvm.Deliver(sender(t, body+makeMessage+"801494"+"2070FB00"+"E4"))
		if err != nil || outcome.ExitCode != 8 {
			t.Errorf("20: exit code %d (%v), want 8", outcome.ExitCode, err)
		}
	})
}

func TestAnInboundMessageLargeAsATreeIsNotExecuted(t *testing.T) {
	bomb, small := doubledCell(60), cell.BeginCell().EndCell()
	to := address.NewAddress(0, 0, make([]byte, 32))
	library := cell.BeginCell().MustStoreUInt(0, 8).EndCell()
	for range 255 { // a dictionary of 2^255 libraries
		library = cell.BeginCell().MustStoreUInt(0, 2).MustStoreRef(library).MustStoreRef(library).EndCell()
	}
	for name, m := range map[string]*tlb.ExternalMessage{
		"body":      {DstAddr: to, Body: bomb},
		"code":      {DstAddr: to, Body: small, StateInit: &tlb.StateInit{Code: bomb, Data: small}},
		"data":      {DstAddr: to, Body: small, StateInit: &tlb.StateInit{Code: small, Data: bomb}},
		"libraries": {DstAddr: to, Body: small, StateInit: &tlb.StateInit{Code: small, Data: small, Lib: library.AsDict(256)}},
	} {
		message, err := tlb.ToCell(m)
		if err != nil {
			t.Fatal(err)
		}
		in := sender(t, "30F800")
		in.Message = message
		ends(t, name, func() {
			if _, err := tvm.Deliver(in); !errors.Is(err, tvm.ErrMessageTooLarge) {
				t.Errorf("%s: delivered: %v, want %v", name, err, tvm.ErrMessageTooLarge)
			}
		})
	}
}

// FuzzCode runs code of strangers: whatever it is, it ends.
func FuzzCode(f *testing.F) {
	for _, text := range []string{makeBomb + "70FB00", makeBomb + "FE20", "3090EA", makeBomb + "ED55", makeBomb + makeMessage + "8040FB00"} {
		f.Add(assembly(f, text).ToBOC())
	}
	config := emptyConfig(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		code, err := cell.FromBOC(raw)
		if err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		costtest.Within(t, time.Second, 1<<30, func() {
			_, _ = tvm.Run(ctx, tvm.Input{
				Context: tvm.Context{Config: config, Now: noon}, Address: address.NewAddress(0, 0, make([]byte, 32)),
				Code: code, Data: code, Balance: big.NewInt(1), GasLimit: 100_000,
			})
		})
	})
}
