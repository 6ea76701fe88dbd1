package lite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/report"
	"tonscribe/test/support/litetest"
)

func TestHeadIsProvenByTheSignaturesOfMainnetsValidators(t *testing.T) {
	chain := mainnet(t, firstSigned+1)
	p := follow(t, chain, litetest.Listen(t, chain.Handle))
	for seqno := uint32(firstSigned + 1); seqno <= lastSigned; seqno++ {
		chain.Show(seqno)
		head, err := p.WaitHead(t.Context(), seqno)
		if err != nil {
			t.Fatal(err)
		}
		if want := chain.ID(-1, litetest.MasterShard, seqno); !head.Equals(want) {
			t.Fatalf("head %s, want %s", Format(head), Format(want))
		}
	}
}

func TestMastersBeforeTheHeadFollowFromItsReferences(t *testing.T) {
	chain := mainnet(t, lastSigned)
	p := follow(t, chain, litetest.Listen(t, chain.Handle))
	for seqno := uint32(lastSigned); seqno >= firstSigned; seqno -= 4 {
		id, err := p.Master(t.Context(), seqno)
		if err != nil {
			t.Fatal(err)
		}
		if want := chain.ID(-1, litetest.MasterShard, seqno); !id.Equals(want) {
			t.Errorf("block %d: %s, want %s", seqno, Format(id), Format(want))
		}
	}
}

func TestForgedHeadsAreNotBelieved(t *testing.T) {
	proofOf := func(change func(*ton.BlockLinkForward)) litetest.Fault {
		return func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			answer := honest(ctx, r)
			if part, ok := answer.(ton.PartialBlockProof); ok {
				link := part.Steps[0].(ton.BlockLinkForward)
				change(&link)
				part.Steps = []any{link}
				return part
			}
			return answer
		}
	}
	// A fork: the server names block 3082190 as 3082200.
	renamed := func(id *ton.BlockIDExt) *ton.BlockIDExt {
		other := id.Copy()
		other.SeqNo = 3082200
		return other
	}
	for name, fault := range map[string]litetest.Fault{
		"a signature": proofOf(func(l *ton.BlockLinkForward) {
			set := l.SignatureSet.(ton.SignatureSet)
			set.Signatures = append([]ton.Signature{}, set.Signatures...)
			forged := append([]byte{}, set.Signatures[0].Signature...)
			forged[5] ^= 1
			set.Signatures[0].Signature = forged
			l.SignatureSet = set
		}),
		"too few signatures": proofOf(func(l *ton.BlockLinkForward) {
			set := l.SignatureSet.(ton.SignatureSet)
			set.Signatures = set.Signatures[:len(set.Signatures)/2]
			l.SignatureSet = set
		}),
		"no signatures": proofOf(func(l *ton.BlockLinkForward) { l.SignatureSet = ton.SignatureSet{} }),
		"another seqno": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			switch q := r.Query.(type) {
			case ton.GetMasterchainInf:
				info, ok := honest(ctx, r).(ton.MasterchainInfo)
				if !ok {
					return nil
				}
				info.Last = renamed(info.Last)
				return info
			case ton.GetBlockProof:
				target := q.TargetBlock.Copy()
				target.SeqNo = 3082190
				part := honest(ctx, litetest.Request{Query: ton.GetBlockProof{Mode: 1, KnownBlock: q.KnownBlock, TargetBlock: target}}).(ton.PartialBlockProof)
				link := part.Steps[0].(ton.BlockLinkForward)
				part.To, link.To = renamed(part.To), renamed(link.To)
				part.Steps = []any{link}
				return part
			}
			return honest(ctx, r)
		},
		"another file hash": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			swap := func(id *ton.BlockIDExt) *ton.BlockIDExt {
				other := id.Copy()
				other.FileHash[3] ^= 1
				return other
			}
			switch q := r.Query.(type) {
			case ton.GetMasterchainInf:
				info, ok := honest(ctx, r).(ton.MasterchainInfo)
				if !ok {
					return nil
				}
				info.Last = swap(info.Last)
				return info
			case ton.GetBlockProof:
				part := honest(ctx, litetest.Request{Query: ton.GetBlockProof{Mode: 1, KnownBlock: q.KnownBlock, TargetBlock: swap(q.TargetBlock)}}).(ton.PartialBlockProof)
				link := part.Steps[0].(ton.BlockLinkForward)
				part.To, link.To = swap(part.To), swap(link.To)
				part.Steps = []any{link}
				return part
			}
			return honest(ctx, r)
		},
		"an empty proof": func(ctx context.Context, r litetest.Request, honest litetest.Handler) any {
			if q, ok := r.Query.(ton.GetBlockProof); ok {
				return ton.PartialBlockProof{Complete: true, From: q.KnownBlock, To: q.TargetBlock}
			}
			return honest(ctx, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			chain := mainnet(t, 3082190)
			liar := litetest.NewFaulty(chain.Handle)
			liar.Break(fault)
			lying := litetest.Listen(t, liar.Handle)
			alone := follow(t, chain, lying)
			await(t, alone, "the liar is left out", func() bool { return alone.strikes(lying) == 1 })
			if head, _ := alone.chain.get(); head != nil {
				t.Errorf("head %s by the word of a liar", Format(head))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := alone.Head(ctx); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "wrong") {
				t.Errorf("error %v, want one that says what was wrong", err)
			}

			both := follow(t, chain, lying, litetest.Listen(t, chain.Handle))
			head, err := both.WaitHead(t.Context(), 3082190)
			if err != nil {
				t.Fatal(err)
			}
			if want := chain.ID(-1, litetest.MasterShard, 3082190); !head.Equals(want) {
				t.Errorf("head %s, want %s", Format(head), Format(want))
			}
		})
	}
}

func TestTrustGoesOnFromTheSavedKeyBlock(t *testing.T) {
	chain := mainnet(t, lastSigned)
	c := quick()
	server := litetest.Listen(t, chain.Handle)
	c.Config = litetest.GlobalConfig(t, zeroState(0), nil, server) // no init_block
	c.TrustedFile = filepath.Join(t.TempDir(), "deep", "trusted.json")
	p := start(t, c)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := p.Head(ctx); err == nil {
		t.Error("a head without a block to start from")
	}
	p.saveTrusted(chain.Key())
	if _, err := start(t, c).WaitHead(t.Context(), lastSigned); err != nil {
		t.Errorf("from the saved block: %v", err)
	}

	other := c
	other.Config = litetest.GlobalConfig(t, zeroState(1), nil, server)
	made, err := New(other, Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	if _, trusted := made.chain.get(); trusted != nil {
		t.Errorf("the block of another network is trusted: %s", Format(trusted))
	}
	if err := os.WriteFile(c.TrustedFile, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(c, Dependencies{Report: report.Silent()}); err == nil || !strings.Contains(err.Error(), c.TrustedFile) {
		t.Errorf("error %v, want one that names the file", err)
	}
}

func TestAServerOfAnotherNetworkIsLeftOut(t *testing.T) {
	chain := mainnet(t, lastSigned)
	server := litetest.Listen(t, chain.Handle)
	c := quick()
	c.Config = litetest.GlobalConfig(t, zeroState(7), chain.Key(), server)
	p := start(t, c)
	await(t, p, "the server is left out", func() bool { return p.strikes(server) == 1 })
	if err := p.Problem(); err == nil || !strings.Contains(err.Error(), "another network") {
		t.Errorf("problem %v, want another network", err)
	}
}

// zeroState is the id of a made-up zerostate; 0 is that of the test servers.
func zeroState(n byte) *ton.BlockIDExt {
	hash := make([]byte, 32)
	hash[0] = n
	return &ton.BlockIDExt{Workchain: -1, Shard: litetest.MasterShard, RootHash: hash, FileHash: hash}
}
