package strangers

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/harness"
)

// sharedCells is 2^levels cells as a tree, and few as they lie in a bag.
func sharedCells(levels int) *cell.Cell {
	c := cell.BeginCell().MustStoreUInt(1, 8).EndCell()
	for i := range levels {
		c = cell.BeginCell().MustStoreUInt(uint64(i), 16).MustStoreRef(c).MustStoreRef(c).EndCell()
	}
	return c
}

func base64Of(c *cell.Cell) string { return base64.StdEncoding.EncodeToString(c.ToBOC()) }

// bombCode accepts, makes a cell that it doubles 60 times, and sends itself a
// message with that as its body.
func bombCode(t testing.TB) *cell.Cell {
	t.Helper()
	return codeOf(t, "F800 C8C9803C9520C8CCCCC9E4 C8801801CB05F828CF1670FA027101CB6ACCC9 810080FB00")
}

// funded is the address of a contract that is not deployed, with some tons on it.
func funded(t *testing.T, at *target, init *tlb.StateInit) *address.Address {
	t.Helper()
	c, err := tlb.ToCell(init)
	if err != nil {
		t.Fatal(err)
	}
	to := address.NewAddress(0, 0, c.Hash())
	out, err := exec.Command(harness.Binary(t), "devnet", "send", "--data", at.data, "--to", to.Bounce(false).String(), "--amount", "3").CombinedOutput()
	if err != nil {
		t.Fatalf("devnet send: %v\n%s", err, out)
	}
	return to
}

// deploy is an external message that brings its contract along.
func deploy(t testing.TB, to *address.Address, init *tlb.StateInit, body *cell.Cell) *cell.Cell {
	t.Helper()
	c, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: to, StateInit: init, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// estimateBomb asks for the fees of a message with a body of shared cells.
var estimateBomb = attack{
	name: "estimateFee of shared cells", strangers: 2,
	prepare: func(_ *testing.T, at *target) shot {
		body := bombBody()
		return func(ctx context.Context) error {
			status, text, err := at.post(ctx, "/api/v2/estimateFee", body)
			if err != nil || status != http.StatusInternalServerError || !strings.Contains(text, "too large") {
				return fmt.Errorf("%d %.200s (%v), want a refusal because of its size", status, text, err) //nolint:errorlint // it may be nil
			}
			return nil
		}
	},
}

// estimateBuilder asks for the fees of a message to a contract that makes shared
// cells and sends them.
var estimateBuilder = attack{
	name: "estimateFee of code that makes shared cells", strangers: 2,
	prepare: func(t *testing.T, at *target) shot {
		init := &tlb.StateInit{Code: bombCode(t), Data: cell.BeginCell().MustStoreUInt(1, 8).EndCell()}
		to := funded(t, at, init)
		body := fmt.Sprintf(`{"address":%q,"body":%q,"init_code":%q,"init_data":%q}`,
			to.StringRaw(), base64Of(cell.BeginCell().EndCell()), base64Of(init.Code), base64Of(init.Data))
		return func(ctx context.Context) error {
			status, text, err := at.post(ctx, "/api/v2/estimateFee", body)
			// On a busy machine its process may be ended by the deadline.
			if err != nil || status != http.StatusOK && !strings.Contains(text, "takes too long") {
				return fmt.Errorf("%d %.200s (%v), want 200 or that it takes too long", status, text, err) //nolint:errorlint // it may be nil
			}
			return nil
		}
	},
}

// deployBomb sends such a contract, and data and bodies of shared cells, to the
// devnet.
var deployBomb = attack{
	name: "deploys of shared cells", strangers: 1,
	prepare: func(t *testing.T, at *target) shot {
		small := cell.BeginCell().EndCell()
		builder := &tlb.StateInit{Code: bombCode(t), Data: cell.BeginCell().MustStoreUInt(2, 8).EndCell()}
		accept := cell.BeginCell().MustStoreUInt(0xF800, 16).EndCell()
		carrier := &tlb.StateInit{Code: accept, Data: sharedCells(60)}
		plain := &tlb.StateInit{Code: accept, Data: small}
		messages := []*cell.Cell{
			deploy(t, funded(t, at, builder), builder, small),
			deploy(t, funded(t, at, carrier), carrier, small),
			deploy(t, funded(t, at, plain), plain, sharedCells(60)),
		}
		return func(ctx context.Context) error {
			for i, m := range messages {
				// Whether one is taken depends on what became of the one before.
				status, text, err := at.post(ctx, "/api/v3/message", `{"boc":`+strconv.Quote(base64Of(m))+`}`)
				if err != nil || status != http.StatusOK && status != http.StatusInternalServerError {
					return fmt.Errorf("message %d: %d %.200s (%v), want 200 or 500", i, status, text, err) //nolint:errorlint // it may be nil
				}
			}
			return nil
		}
	},
}

// spelt is an empty cell in the form of JSON, in cells that each refer twice to
// the next, written out: 2^levels of them.
func spelt(levels int) string {
	text := `{"data":{"b64":"","len":0},"refs":[]}`
	for range levels {
		text = `{"data":{"b64":"","len":0},"refs":[` + text + `,` + text + `]}`
	}
	return text
}

// estimateSpelt asks the same with cells written out, as many as a body may hold.
var estimateSpelt = attack{"estimateFeeSimple of cells written out", 1, func(_ *testing.T, at *target) shot {
	body := fmt.Sprintf(`{"address":"0:%064x","body":%s}`, sha256.Sum256(nil), spelt(13))
	return func(ctx context.Context) error {
		status, text, err := at.post(ctx, "/api/v2/estimateFeeSimple", body)
		if err != nil || status >= http.StatusInternalServerError && !strings.Contains(text, "too large") {
			return fmt.Errorf("%d %.200s (%v), want a refusal because of its size", status, text, err) //nolint:errorlint // it may be nil
		}
		return nil
	}
}}

// estimateV3 is estimateBomb by the other API.
var estimateV3 = attack{"v3 estimateFee of shared cells", 2, func(_ *testing.T, at *target) shot {
	return refused(at, "/api/v3/estimateFee", bombBody(), http.StatusInternalServerError)
}}

func bombBody() string {
	return fmt.Sprintf(`{"address":"0:%064x","body":%q}`, sha256.Sum256(nil), base64Of(sharedCells(60)))
}

// sendBombs sends external messages with such a body, by every method that sends.
var sendBombs = attack{"messages of shared cells", 2, func(t *testing.T, at *target) shot {
	to := address.NewAddress(0, 0, make([]byte, 32))
	boc := `{"boc":` + strconv.Quote(base64Of(deploy(t, to, nil, sharedCells(60)))) + `}`
	return func(ctx context.Context) error {
		for _, path := range []string{"/api/v2/sendBoc", "/api/v2/sendBocReturnHash", "/api/v3/message"} {
			if err := refused(at, path, boc, http.StatusInternalServerError)(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}}

// hangingUp sends estimates that are executed, and such that are not, and never
// waits for their answers.
var hangingUp = attack{"clients that hang up", 2, func(t *testing.T, at *target) shot {
	to := deployedEndless(t, at)
	endless := `{"address":"` + to + `","body":` + strconv.Quote(base64Of(empty)) + `}`
	return func(ctx context.Context) error {
		for i, body := range []string{bombBody(), endless} {
			short, cancel := context.WithTimeout(ctx, time.Duration(5+40*i)*time.Millisecond)
			_, _, _ = at.post(short, "/api/v2/estimateFee", body) // nobody waits for it
			cancel()
		}
		return nil
	}
}}
