package chain

import (
	"crypto/ed25519"
	"crypto/sha256"

	"github.com/xssnick/tonutils-go/adnl/keys"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Consensus is the protocol by which validators agree on blocks. It decides what
// they sign, and config param 30.
type Consensus string

// The protocols. Public networks left catchain for simplex in 2026.
const (
	// Simplex validators sign a vote that finalizes a candidate of a slot.
	Simplex Consensus = "simplex"
	// Catchain validators sign the id of the block.
	Catchain Consensus = "catchain"
)

// Candidate is what the validators of a simplex session finalized: the block, or
// an empty candidate after it.
type Candidate struct {
	SessionID []byte
	Slot      uint32
	// Data is the boxed consensus.CandidateHashData (ton_api.tl), which names the
	// block. Votes name the candidate by the sha256 of it.
	Data []byte
}

// SignatureSet is the liteServer.SignatureSet (lite_api.tl) of the bundle's
// masterchain block.
func (b *Bundle) SignatureSet() any {
	if b.Candidate == nil {
		return ton.SignatureSet{
			ValidatorSetHash: int32(b.ValidatorSetHash), CatchainSeqno: int32(b.CatchainSeqno), Signatures: b.Signatures,
		}
	}
	return ton.SignatureSetSimplex{
		CCSeqno: int32(b.CatchainSeqno), ValidatorSetHash: int32(b.ValidatorSetHash), Signatures: b.Signatures,
		SessionID: b.Candidate.SessionID, Slot: int32(b.Candidate.Slot), Candidate: b.Candidate.Data,
	}
}

func init() {
	tl.Register(validatorGroup{}, "validator.groupNew workchain:int shard:long vertical_seqno:int last_key_block_seqno:int catchain_seqno:int config_hash:int256 members:(vector validator.groupMember) = validator.Group")
	tl.Register(groupMember{}, "validator.groupMember public_key_hash:int256 adnl:int256 weight:long = engine.validator.GroupMember")
}

// validatorGroup is what a session's id is the hash of.
type validatorGroup struct {
	Workchain    int32         `tl:"int"`
	Shard        int64         `tl:"long"`
	VertSeqno    int32         `tl:"int"`
	LastKeySeqno int32         `tl:"int"`
	Catchain     int32         `tl:"int"`
	ConfigHash   []byte        `tl:"int256"`
	Members      []groupMember `tl:"vector struct"`
}

type groupMember struct {
	PublicKeyHash []byte `tl:"int256"`
	ADNL          []byte `tl:"int256"`
	Weight        int64  `tl:"long"`
}

// emptySlots is how far apart empty slots are. Validators that have nothing to
// agree on, or wait for the masterchain, finalize a block by an empty candidate
// after it: clients have to take both forms.
const emptySlots = 8

// agree signs a masterchain block as the validators of the chain's consensus do.
// before is the block before it.
func (c *Chain) agree(b *Bundle, before header) {
	node := sure(tl.Hash(keys.PublicKeyED25519{Key: c.publicKey()}))
	var vote any = ton.BlockID{RootHash: b.Master.ID.RootHash, FileHash: b.Master.ID.FileHash}
	if c.settings.simplex {
		b.Candidate = c.nextCandidate(b, before.prevKey, node)
		finalize := sure(tl.Serialize(ton.ConsensusSimplexFinalizeVote{ID: b.Candidate.id()}, true))
		vote = ton.ConsensusDataToSign{SessionID: b.Candidate.SessionID, Data: finalize}
	}
	b.Signatures = []ton.Signature{{NodeIDShort: node, Signature: ed25519.Sign(c.key, sure(tl.Serialize(vote, true)))}}
}

func (c *Candidate) id() ton.ConsensusCandidateID {
	hash := sha256.Sum256(c.Data)
	return ton.ConsensusCandidateID{Slot: int32(c.Slot), Hash: hash[:]}
}

// nextCandidate follows the one that finalized the block before, or begins a
// session.
func (c *Chain) nextCandidate(b *Bundle, lastKey uint32, node []byte) *Candidate {
	session := c.sessionID(b.CatchainSeqno, lastKey, node)
	next := &Candidate{SessionID: session}
	var parent any = ton.ConsensusCandidateWithoutParents{}
	if last := c.candidate; last != nil && string(last.SessionID) == string(session) {
		next.Slot, parent = last.Slot+1, ton.ConsensusCandidateParent{ID: last.id()}
	}
	collated := sha256.Sum256(collatedData(b.Master.GenUtime))
	next.Data = sure(tl.Serialize(ton.ConsensusCandidateHashDataOrdinary{
		Block: *b.Master.ID, CollatedFileHash: collated[:], Parent: parent,
	}, true))
	if (next.Slot+2)%emptySlots != 0 {
		return next
	}
	empty := sure(tl.Serialize(ton.ConsensusCandidateHashDataEmpty{Block: *b.Master.ID, Parent: next.id()}, true))
	return &Candidate{SessionID: session, Slot: next.Slot + 1, Data: empty}
}

// sessionID is the hash of a validator group.
func (c *Chain) sessionID(catchain, lastKey uint32, node []byte) []byte {
	group := validatorGroup{
		Workchain: masterchain, Shard: -1 << 63, LastKeySeqno: int32(lastKey), Catchain: int32(catchain), ConfigHash: c.settings.consensusHash,
	}
	for _, v := range c.settings.validators {
		group.Members = append(group.Members, groupMember{PublicKeyHash: node, ADNL: v.ADNLAddr, Weight: int64(v.Weight)})
	}
	return sure(tl.Hash(group))
}

// consensusExtraTag is that of ConsensusExtraData (block.tlb).
const consensusExtraTag = 0x638eb292

// collatedData is what a collator sends along with a block, and what no block
// keeps: the time in milliseconds.
func collatedData(genUtime uint32) []byte {
	extra := cell.BeginCell().MustStoreUInt(consensusExtraTag, 32).MustStoreUInt(0, 32).MustStoreUInt(1000*uint64(genUtime), 64).EndCell()
	return extra.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})
}
