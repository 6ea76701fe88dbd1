package v2

import (
	"slices"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/query/api"
	"tonscribe/query/node"
)

type (
	proof    = *node.ShardProof
	backLink = ton.BlockLinkBackward
)

// namedWhenMissing are parameters whose names are the answer when they are missing.
func namedWhenMissing(params []Param) []Param {
	params = slices.Clone(params)
	for i := range params {
		params[i].Missing = params[i].Name + " required"
	}
	return params
}

var getShardBlockProof = &Method{
	Name: "getShardBlockProof", Tag: tagBlocks, Summary: "Shard block proof",
	Description: "A chain of proofs from a masterchain block back to a block of any shard.",
	Params: slices.Concat(namedWhenMissing(blockParams[:3]), []Param{
		{Name: "from_seqno", Kind: Int32Kind, Min: bound(0), Description: "masterchain block that the proof starts from; without it the newest one"},
	}),
	Cache:  keepBlocks,
	ofHead: func(v *Values) bool { return !v.sent("from_seqno") },
	Errors: append(ofNode(node.ErrTooOld), *failed("lookup from block error: <text>")),
	Result: of(api.Typed("ShardBlockProof", "blocks.shardBlockProof",
		api.PartOf("from", blockID, func(p proof) *ton.BlockIDExt { return p.From }),
		api.PartOf("mc_id", blockID, func(p proof) *ton.BlockIDExt { return p.Master }),
		api.List("links", api.Typed("ShardBlockLink", "blocks.shardBlockLink",
			api.PartOf("id", blockID, func(l ton.ShardBlockLink) *ton.BlockIDExt { return l.ID }),
			api.Bytes("proof", func(l ton.ShardBlockLink) []byte { return l.Proof }),
		), func(p proof) []ton.ShardBlockLink { return p.Links }, api.Same[ton.ShardBlockLink]),
		api.List("mc_proof", api.Typed("BlockLinkBack", "blocks.blockLinkBack",
			api.Bool("to_key_block", func(l backLink) bool { return l.ToKeyBlock }),
			api.PartOf("from", blockID, func(l backLink) *ton.BlockIDExt { return l.From }),
			api.PartOf("to", blockID, func(l backLink) *ton.BlockIDExt { return l.To }),
			api.Bytes("dest_proof", func(l backLink) []byte { return l.DestProof }),
			api.Bytes("proof", func(l backLink) []byte { return l.Proof }),
			api.Bytes("state_proof", func(l backLink) []byte { return l.StateProof }),
		), func(p proof) []backLink { return p.Back }, api.Same[backLink]),
	), func(c *call) (proof, error) { return c.ShardProof(c, c.lookup(), c.optionalSeqno("from_seqno")) }),
}

// signed is a masterchain block and its signatures.
type signed struct {
	id  *ton.BlockIDExt
	set any
}

// signatureMembers are those of the signatures of both consensuses.
var signatureMembers = []api.Member[signed]{
	api.PartOf("id", blockID, func(s signed) *ton.BlockIDExt { return s.id }),
	api.List("signatures", api.Typed("BlockSignature", "blocks.signature",
		api.Bytes("node_id_short", func(s ton.Signature) []byte { return s.NodeIDShort }),
		api.Bytes("signature", func(s ton.Signature) []byte { return s.Signature }),
	), func(s signed) []ton.Signature {
		switch set := s.set.(type) {
		case ton.SignatureSetSimplex:
			return set.Signatures
		case ton.SignatureSetOrdinary:
			return set.Signatures
		}
		return s.set.(ton.SignatureSet).Signatures
	}, api.Same[ton.Signature]),
}

func (s signed) simplex() (set ton.SignatureSetSimplex, ok bool) {
	set, ok = s.set.(ton.SignatureSetSimplex)
	return set, ok
}

func (s signed) slot() (set ton.SignatureSetSimplex) {
	set, _ = s.simplex()
	return set
}

var getMasterchainBlockSignatures = &Method{
	Name: "getMasterchainBlockSignatures", Tag: tagBlocks, Summary: "Masterchain block signatures",
	Description: "The validators' signatures of a masterchain block.",
	Params:      []Param{masterSeqno}, Cache: keepBlocks,
	Result: of(api.OneOf("SignatureSet",
		api.When(api.Typed("BlockSignatures", "blocks.blockSignatures", signatureMembers...), func(s signed) (signed, bool) {
			_, simplex := s.simplex()
			return s, !simplex
		}),
		api.Is[signed](api.Typed("BlockSignaturesSimplex", "blocks.blockSignatures.simplex", append(signatureMembers[:2:2],
			api.Bytes("session_id", func(s signed) []byte { return s.slot().SessionID }),
			api.Int32("slot", func(s signed) int32 { return s.slot().Slot }),
			api.Bytes("candidate", func(s signed) []byte { return s.slot().Candidate }),
		)...)),
	), func(c *call) (s signed, err error) {
		s.id, s.set, err = c.Signatures(c, uint32(c.number("seqno")))
		return s, err
	}),
}
