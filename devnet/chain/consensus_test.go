package chain

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
)

// Constructors of ton_api.tl, as the official node has them.
const (
	candidateOrdinary = 0xe8f9bcdc // consensus.candidateHashDataOrdinary
	candidateEmpty    = 0x72b4d933 // consensus.candidateHashDataEmpty
	candidateID       = 0xb691cd3f // consensus.candidateId
	finalizeVote      = 0x40a7e105 // consensus.simplex.finalizeVote
	dataToSign        = 0xa8e33df8 // consensus.dataToSign
	blockID           = 0xc50b6e70 // ton.blockId
)

func tag(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// signedBytes is what a validator signs, byte by byte, without a TL library.
func signedBytes(set any, id *ton.BlockIDExt) []byte {
	s, ok := set.(ton.SignatureSetSimplex)
	if !ok {
		return slices.Concat(tag(blockID), id.RootHash, id.FileHash)
	}
	hash := sha256.Sum256(s.Candidate)
	vote := slices.Concat(tag(finalizeVote), tag(candidateID), tag(uint32(s.Slot)), hash[:])
	return slices.Concat(tag(dataToSign), s.SessionID, []byte{byte(len(vote))}, vote, make([]byte, 3))
}

func blockBytes(id *ton.BlockIDExt) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(id.Workchain))
	b = binary.LittleEndian.AppendUint64(b, uint64(id.Shard))
	return slices.Concat(binary.LittleEndian.AppendUint32(b, id.SeqNo), id.RootHash, id.FileHash)
}

// chainOf makes so many masterchain blocks, some seconds apart.
func chainOf(t *testing.T, o Options, blocks, seconds uint32) (*Chain, []*Bundle) {
	t.Helper()
	c, err := New(o)
	must(t, err)
	var bundles []*Bundle
	for range blocks {
		bundle, err := c.Step(o.GenUtime+uint32(len(bundles)+1)*seconds, nil)
		must(t, err)
		bundles = append(bundles, bundle)
	}
	return c, bundles
}

func TestSimplexSignaturesAreOverAFinalizedCandidateOfTheBlock(t *testing.T) {
	c, bundles := chainOf(t, Options{GenUtime: genUtime}, 40, 20) // a session lasts 250 seconds
	sessions, empty := map[string]int{}, 0
	var last ton.SignatureSetSimplex
	for _, b := range bundles {
		id := b.Master.ID
		set, ok := b.SignatureSet().(ton.SignatureSetSimplex)
		if !ok {
			t.Fatalf("block %d is signed by %T", id.SeqNo, b.SignatureSet())
		}
		if !ed25519.Verify(c.publicKey(), signedBytes(set, id), set.Signatures[0].Signature) {
			t.Errorf("block %d: the signature is not over its candidate", id.SeqNo)
		}
		if !bytes.Equal(set.Candidate[4:84], blockBytes(id)) {
			t.Errorf("block %d: its candidate names %x, want %x", id.SeqNo, set.Candidate[4:84], blockBytes(id))
		}
		begins := string(set.SessionID) != string(last.SessionID)
		if begins == (uint32(set.CCSeqno) == uint32(last.CCSeqno)) && last.SessionID != nil {
			t.Errorf("block %d: session %x of catchain seqno %d follows %x of %d", id.SeqNo, set.SessionID, set.CCSeqno, last.SessionID, last.CCSeqno)
		}
		lastHash := sha256.Sum256(last.Candidate)
		switch kind := binary.LittleEndian.Uint32(set.Candidate); {
		case kind == candidateEmpty:
			empty++
			if len(set.Candidate) != 4+80+4+32 || binary.LittleEndian.Uint32(set.Candidate[84:]) != uint32(set.Slot-1) {
				t.Errorf("block %d: empty candidate %x of slot %d", id.SeqNo, set.Candidate, set.Slot)
			}
		case kind != candidateOrdinary:
			t.Errorf("block %d: candidate %x", id.SeqNo, set.Candidate)
		case begins:
			if set.Slot != 0 || len(set.Candidate) != 4+80+32+4 {
				t.Errorf("block %d begins a session with slot %d and candidate %x", id.SeqNo, set.Slot, set.Candidate)
			}
		default:
			want := slices.Concat(tag(candidateID), tag(uint32(last.Slot)), lastHash[:])
			if set.Slot != last.Slot+1 || !bytes.Equal(set.Candidate[len(set.Candidate)-len(want):], want) {
				t.Errorf("block %d: slot %d with parent %x after slot %d, %x", id.SeqNo, set.Slot, set.Candidate[116:], last.Slot, lastHash)
			}
		}
		sessions[string(set.SessionID)]++
		last = set
	}
	if len(sessions) < 3 || empty == 0 {
		t.Errorf("%d sessions and %d empty candidates in %d blocks, want some of each", len(sessions), empty, len(bundles))
	}
}

func TestCatchainSignaturesAreOverTheBlockID(t *testing.T) {
	c, bundles := chainOf(t, Options{GenUtime: genUtime, Consensus: Catchain}, 3, 1)
	for _, b := range bundles {
		set, ok := b.SignatureSet().(ton.SignatureSet)
		if !ok || !ed25519.Verify(c.publicKey(), signedBytes(set, b.Master.ID), set.Signatures[0].Signature) {
			t.Errorf("block %d: %T, not over its id", b.Master.ID.SeqNo, b.SignatureSet())
		}
	}
}

func TestConfigSaysWhichConsensusSigns(t *testing.T) {
	for consensus, want := range map[Consensus]bool{"": true, Simplex: true, Catchain: false} {
		c, err := New(Options{GenUtime: genUtime, Consensus: consensus})
		must(t, err)
		all, err := tlb.BlockchainConfig{Root: c.Config()}.GetNewConsensusConfig()
		if !want {
			if param, err := (tlb.BlockchainConfig{Root: c.Config()}).GetParam(30); err == nil {
				t.Errorf("consensus %q: config param 30 is %s", consensus, param.Dump())
			}
			continue
		}
		must(t, err)
		for name, config := range map[string]any{"masterchain": all.Masterchain, "shards": all.Shard} {
			v2, ok := config.(tlb.NewConsensusConfigSimplexV2)
			if !ok || !v2.UseQUIC || v2.SlotsPerLeaderWindow != 4 {
				t.Errorf("consensus %q, %s: %+v", consensus, name, config)
			}
		}
	}
}

// What a session needs is in the head, or its slots would begin anew.
func TestResumedChainSignsTheSameCandidates(t *testing.T) {
	o := Options{GenUtime: genUtime}
	c, bundles := chainOf(t, o, 5, 1)
	master, shards := c.Head()
	again, err := Resume(o, Head{
		Master: master, Shards: shards, Candidate: bundles[4].Candidate,
		Earlier: []*Block{bundles[0].Master, bundles[1].Master, bundles[2].Master, bundles[3].Master},
	})
	must(t, err)
	want, err := c.Step(genUtime+6, nil)
	must(t, err)
	got, err := again.Step(genUtime+6, nil)
	must(t, err)
	if got.Candidate.Slot != want.Candidate.Slot || !bytes.Equal(got.Candidate.Data, want.Candidate.Data) {
		t.Errorf("slot %d, candidate %x; want %d, %x", got.Candidate.Slot, got.Candidate.Data, want.Candidate.Slot, want.Candidate.Data)
	}
}
