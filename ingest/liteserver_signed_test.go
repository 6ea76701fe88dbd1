package ingest

import (
	"context"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/test/support/litetest"
)

// signedBlocks is how long the chain of these tests is.
const signedBlocks = 60

// overSigned is a configuration that follows a signed chain from its init block.
func overSigned(t testing.TB, d *litetest.Devnet, to uint32, servers ...*litetest.Server) Configuration {
	t.Helper()
	c := overLite(t, 1, to, servers...)
	c.Source, c.Proofs = "liteserver:"+litetest.GlobalConfig(t, d.Zero(), d.Init(), servers...), lite.Secure
	return c
}

// compareSigned tests a stream against that of the chain's files.
func compareSigned(t *testing.T, d *litetest.Devnet, got *tape, to uint32) {
	t.Helper()
	dir := t.TempDir()
	d.Write(t, dir)
	want := newTape(1)
	publish(t, configure("files:"+dir, 1, to), want)
	if a, b := text(want.read(t, 0)), text(got.read(t, 0)); !slices.Equal(a, b) {
		t.Errorf("from lite servers %d records, from files %d, or they differ", len(b), len(a))
	}
}

// forgeries are what a server may do against the proofs of the masterchain.
func forgeries(t *testing.T, d *litetest.Devnet) map[string]litetest.Fault {
	other := litetest.NewDevnet(t, 2, signedBlocks+10)
	return map[string]litetest.Fault{
		"forges signatures": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			answer := honest(ctx, r)
			part, ok := answer.(ton.PartialBlockProof)
			if !ok {
				return answer
			}
			for i, step := range part.Steps {
				if link, ok := step.(ton.BlockLinkForward); ok {
					switch set := link.SignatureSet.(type) {
					case ton.SignatureSet:
						set.Signatures[0].Signature[9] ^= 4
					case ton.SignatureSetOrdinary:
						set.Signatures[0].Signature[9] ^= 4
					case ton.SignatureSetSimplex:
						set.Signatures[0].Signature[9] ^= 4
					}
					part.Steps[i] = link
				}
			}
			return part
		},
		"serves another chain": func(ctx context.Context, r litetest.Request, _ litetest.Handler) any {
			answer := other.Handle(ctx, r)
			if info, ok := answer.(ton.MasterchainInfo); ok {
				info.Init = &ton.ZeroStateIDExt{Workchain: -1, RootHash: d.Zero().RootHash, FileHash: d.Zero().FileHash}
				return info
			}
			return answer
		},
		"dies": func(_ context.Context, r litetest.Request, _ litetest.Handler) any { return nil },
	}
}

func TestASignedChainIsReadAsFromFilesBesideAForger(t *testing.T) {
	d := litetest.NewDevnet(t, 1, signedBlocks)
	for name, fault := range forgeries(t, d) {
		t.Run("one server "+name, func(t *testing.T) {
			bad := litetest.NewFaulty(d.Handle)
			bad.Break(fault)
			c := overSigned(t, d, signedBlocks, litetest.Listen(t, bad.Handle), litetest.Listen(t, d.Handle))
			got := newTape(1)
			publish(t, c, got)
			compareSigned(t, d, got, signedBlocks)
			if bad.Count() == 0 {
				t.Error("the bad server was not asked")
			}
		})
	}
}

func TestAForgerAloneMovesNothing(t *testing.T) {
	d := litetest.NewDevnet(t, 1, 5)
	whys := map[string]string{"forges signatures": "signature", "serves another chain": "cannot prove", "dies": "no lite server answers"}
	for name, fault := range forgeries(t, d) {
		t.Run("it "+name, func(t *testing.T) {
			bad := litetest.NewFaulty(d.Handle)
			c := overSigned(t, d, 0, litetest.Listen(t, bad.Handle))
			got := newTape(1)
			made := component(t, c, got)
			begin(t, made)
			before := uint32(len(d.Bundles))
			got.await(t, before)
			bad.Break(fault)
			d.Grow(t, 3, 10)
			awaitWaiting(t, made, whys[name])
			if _, last := made.source.Range(); last != before {
				t.Errorf("the source reaches to %d by a forger's word, want %d", last, before)
			}
			bad.Break(nil)
			got.await(t, before+3)
		})
	}
}
