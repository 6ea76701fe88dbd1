package lite

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/test/support/litetest"
)

func asksForState(query any) bool {
	_, ok := query.(ton.GetState)
	return ok
}

// zerostates of the chain: of the masterchain, and of the basechain.
func zerostates(t *testing.T, d *litetest.Devnet) map[*ton.BlockIDExt][]byte {
	t.Helper()
	all := map[*ton.BlockIDExt][]byte{}
	for _, workchain := range []int32{-1, 0} {
		z, err := d.Store.Zerostate(workchain)
		if err != nil {
			t.Fatal(err)
		}
		all[z.ID] = z.Data
	}
	return all
}

func TestZerostatesComeFromWhoGivesTheRightOnes(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	for name, fault := range map[string]litetest.Fault{
		"refuses": func(context.Context, litetest.Request, litetest.Handler) any {
			return ton.LSError{Code: 0, Text: "cannot request total state: possibly too large"}
		},
		"changes them": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			state := honest(ctx, r).(ton.BlockState)
			state.Data[len(state.Data)/2] ^= 1
			return state
		},
		"gives another one": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			id := *r.Query.(ton.GetState).ID
			for other := range zerostates(t, d) {
				if other.Workchain != id.Workchain {
					return honest(ctx, litetest.Request{Query: ton.GetState{ID: other}})
				}
			}
			return nil
		},
		"answers something else": func(ctx context.Context, _ litetest.Request, honest litetest.Handler) any {
			return honest(ctx, litetest.Request{Query: ton.GetTime{}})
		},
	} {
		t.Run("the other "+name, func(t *testing.T) {
			bad := litetest.NewFaulty(d.Handle)
			bad.BreakFor(asksForState, fault)
			p := onDevnet(t, d, litetest.Listen(t, bad.Handle), litetest.Listen(t, d.Handle))
			if _, err := p.WaitHead(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
			goesFirst(t, p, 5)
			for id, want := range zerostates(t, d) {
				got, err := p.Zerostate(t.Context(), id)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("workchain %d: %d bytes, want %d (%v)", id.Workchain, len(got), len(want), err)
				}
			}
			if bad.Count() == 0 {
				t.Error("the bad server was not asked")
			}
		})
	}
}

func TestZerostateThatNobodyGivesIsDeniedAndAServerThatIsSilentIsNot(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	server := litetest.NewFaulty(d.Handle)
	c := quick()
	c.Config = litetest.GlobalConfig(t, d.Zero(), d.Init(), litetest.Listen(t, server.Handle))
	c.AttemptTimeout = time.Second
	p := start(t, c)
	server.BreakFor(asksForState, func(context.Context, litetest.Request, litetest.Handler) any {
		return ton.LSError{Code: 651, Text: "state not in db"}
	})
	if _, err := p.Zerostate(t.Context(), d.Zero()); !IsDenied(err) {
		t.Errorf("refused: %v, want a denial", err)
	}
	server.BreakFor(asksForState, func(ctx context.Context, _ litetest.Request, _ litetest.Handler) any {
		<-ctx.Done()
		return nil
	})
	waiting, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Zerostate(waiting, d.Zero()); IsDenied(err) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("silent: %v, want %v", err, ErrUnavailable)
	}
}
