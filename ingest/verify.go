package ingest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// Reason is why a block was refused, the label of the metric.
type Reason string

// The reasons.
const (
	ReasonUnreadable  Reason = "unreadable"  // the source failed to hand it out
	ReasonUnavailable Reason = "unavailable" // the source cannot be asked now
	ReasonSize        Reason = "size"        // larger than a block may be
	ReasonLimits      Reason = "limits"      // too deep, or of too many cells
	ReasonBOC         Reason = "boc"         // no bag of cells, or no block in it
	ReasonIdentity    Reason = "identity"    // another block than the one asked for
	ReasonFileHash    Reason = "file_hash"
	ReasonRootHash    Reason = "root_hash"
	ReasonParent      Reason = "parent"     // does not continue the chain
	ReasonSuccessor   Reason = "successor"  // the blocks after it continue another one
	ReasonTime        Reason = "lt"         // logical times overlap
	ReasonMasterRef   Reason = "master_ref" // refers to a masterchain block that is not in the chain
	ReasonNetwork     Reason = "global_id"  // of another network
)

var reasons = []Reason{
	ReasonUnreadable, ReasonUnavailable, ReasonSize, ReasonLimits, ReasonBOC, ReasonIdentity, ReasonFileHash, ReasonRootHash,
	ReasonParent, ReasonSuccessor, ReasonTime, ReasonMasterRef, ReasonNetwork,
}

// Refusal is a block that failed verification.
type Refusal struct {
	ID     string // as complete as it was asked for
	Reason Reason
	Detail string
	Origin string
}

func (r *Refusal) Error() string {
	if r.Reason == ReasonUnavailable {
		return fmt.Sprintf("block %s cannot be asked for: %s", r.ID, r.Detail)
	}
	return fmt.Sprintf("block %s from %s is refused (%s): %s", r.ID, r.Origin, r.Reason, r.Detail)
}

// hopeless reports whether asking on would ask the same again.
func (r *Refusal) hopeless() bool { return r.Reason == ReasonUnavailable }

// block is a block that is what it says it is.
type block struct {
	*decode.BlockInfo
	boc    []byte
	origin string
}

// verifyMaster checks a masterchain block as far as it can be checked alone:
// only its neighbours know its hashes.
func (v *verifier) verifyMaster(seqno uint32, blob Blob) (*block, *Refusal) {
	refuse := refuser(masterID(seqno).String(), blob.Origin)
	if blob.Claim != nil {
		if got := blockIDOf(blob.Claim); got != masterID(seqno) {
			return nil, refuse(ReasonIdentity, "the source gave block %s", got)
		}
		return v.verifyNamed(blob.Claim, blob)
	}
	if len(blob.BOC) > v.maxBytes {
		return nil, v.tooLarge(blob, refuse)
	}
	info, refusal := v.header(blob, sha256.Sum256(blob.BOC), refuse)
	if refusal != nil {
		return nil, refusal
	}
	if got := blockIDOf(info.ID); got != masterID(seqno) {
		return nil, refuse(ReasonIdentity, "it is block %s", got)
	}
	return v.verifyAlone(info, blob, refuse)
}

// verifyNamed checks that a blob is the block with a complete id.
func (v *verifier) verifyNamed(id *record.BlockId, blob Blob) (*block, *Refusal) {
	refuse := refuser(FormatID(id), blob.Origin)
	if len(blob.BOC) > v.maxBytes {
		return nil, v.tooLarge(blob, refuse)
	}
	sum := sha256.Sum256(blob.BOC)
	if !bytes.Equal(sum[:], id.FileHash) {
		return nil, refuse(ReasonFileHash, "its file hash is %X", sum)
	}
	info, refusal := v.header(blob, sum, refuse)
	if refusal != nil {
		return nil, refusal
	}
	if !bytes.Equal(info.ID.RootHash, id.RootHash) {
		return nil, refuse(ReasonRootHash, "its root hash is %X", info.ID.RootHash)
	}
	if got := blockIDOf(info.ID); got != blockIDOf(id) {
		return nil, refuse(ReasonIdentity, "it is block %s", got)
	}
	return v.verifyAlone(info, blob, refuse)
}

// verifier checks blocks one by one.
type verifier struct {
	maxBytes int
}

func (v *verifier) tooLarge(blob Blob, refuse refuseFunc) *Refusal {
	return refuse(ReasonSize, "%d bytes, more than the %d allowed", len(blob.BOC), v.maxBytes)
}

// header reads the header of a blob whose SHA-256 is known.
func (v *verifier) header(blob Blob, sum [32]byte, refuse refuseFunc) (*decode.BlockInfo, *Refusal) {
	info, err := decode.HeaderOf(blob.BOC, sum)
	if errors.Is(err, cell.ErrLimit) {
		return nil, refuse(ReasonLimits, "%v", err)
	}
	if err != nil {
		return nil, refuse(ReasonBOC, "%v", err)
	}
	return info, nil
}

// verifyAlone checks what a header says of itself.
func (v *verifier) verifyAlone(info *decode.BlockInfo, blob Blob, refuse refuseFunc) (*block, *Refusal) {
	if info.EndLT <= info.StartLT {
		return nil, refuse(ReasonTime, "it ends at lt %d, not after its start %d", info.EndLT, info.StartLT)
	}
	highest := uint32(0)
	for _, prev := range info.Prev {
		highest = max(highest, prev.Seqno)
	}
	want := 1
	if info.AfterMerge {
		want = 2
	}
	if len(info.Prev) != want {
		return nil, refuse(ReasonParent, "it names %d parents, not %d", len(info.Prev), want)
	}
	if info.ID.Seqno != highest+1 {
		return nil, refuse(ReasonParent, "it follows seqno %d", highest)
	}
	return &block{BlockInfo: info, boc: blob.BOC, origin: blob.Origin}, nil
}

// refuse makes a refusal of a block that was read.
func (b *block) refuse(reason Reason, format string, args ...any) *Refusal {
	return refuser(FormatID(b.ID), b.origin)(reason, format, args...)
}

type refuseFunc func(reason Reason, format string, args ...any) *Refusal

func refuser(id, origin string) refuseFunc {
	return func(reason Reason, format string, args ...any) *Refusal {
		return &Refusal{ID: id, Reason: reason, Detail: fmt.Sprintf(format, args...), Origin: origin}
	}
}

// unreadable turns a source's failure into a refusal, unless it is one already.
func unreadable(err error, id, origin string) *Refusal {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		refusal.ID, refusal.Origin = id, origin
		return refusal
	}
	return &Refusal{ID: id, Reason: ReasonUnreadable, Detail: err.Error(), Origin: origin}
}
