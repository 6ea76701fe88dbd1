package lite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// proveClaim has a server prove the block that it names, from the newest trusted
// key block on (liteServer.getBlockProof, as many parts as it takes).
func (p *Pool) proveClaim(ctx context.Context, c claim) error {
	_, from := p.chain.get()
	if from == nil {
		return fmt.Errorf("TON global config %s names no validator.init_block, so no masterchain block can be proven: add one, or switch proofs off", p.network.source)
	}
	if from.SeqNo == 0 {
		return fmt.Errorf("validator.init_block of TON global config %s is the zerostate: name a key block, or switch proofs off", p.network.source)
	}
	for {
		part, err := p.askProof(ctx, c.server, from, c.id)
		if err != nil {
			c.server.couldNotProve()
			return fmt.Errorf("%s cannot prove its masterchain block %d: %w", c.server.host, c.id.SeqNo, err)
		}
		reached, err := p.climb(part, from, c.id)
		if err != nil {
			err = fmt.Errorf("its proof of masterchain block %d is wrong: %w", c.id.SeqNo, err)
			p.strike(c.server, err)
			return fmt.Errorf("%s: %w", c.server.host, err)
		}
		if reached.SeqNo == c.id.SeqNo {
			p.moved(reached)
			return nil
		}
		from = reached
	}
}

func (p *Pool) askProof(ctx context.Context, s *server, from, to *ton.BlockIDExt) (*ton.PartialBlockProof, error) {
	if from.SeqNo == to.SeqNo {
		if !from.Equals(to) {
			err := lie("masterchain block %d is %X, proven is %X", to.SeqNo, to.RootHash, from.RootHash)
			p.strike(s, err)
			return nil, err
		}
		return &ton.PartialBlockProof{From: from, To: to, Complete: true}, nil
	}
	answer, err := p.askAt(ctx, s, Query{Request: ton.GetBlockProof{Mode: 1, KnownBlock: from, TargetBlock: to}}, to.SeqNo)
	if err != nil {
		return nil, err
	}
	part, ok := answer.(ton.PartialBlockProof)
	if !ok {
		err := fmt.Errorf("getBlockProof: answered with %T", answer)
		p.strike(s, err)
		return nil, err
	}
	return &part, nil
}

// climb checks one part of a proof that leads forward. Key blocks on the way
// become trusted.
func (p *Pool) climb(part *ton.PartialBlockProof, from, to *ton.BlockIDExt) (*ton.BlockIDExt, error) {
	at := from
	if !complete(part.From) || !part.From.Equals(from) {
		return at, errors.New("it starts at another block")
	}
	for i, link := range part.Steps {
		next := at
		var key bool
		err := guarded(func() (err error) {
			next, key, err = checkLink(at, link)
			return err
		})
		if err != nil {
			return at, fmt.Errorf("step %d: %w", i+1, err)
		}
		if at = next; key && p.chain.trust(at) {
			p.metrics.trusted.Set(float64(at.SeqNo))
			p.saveTrusted(at)
		}
	}
	switch {
	case !complete(part.To) || !part.To.Equals(at):
		return at, errors.New("it ends at another block than it says")
	case at.SeqNo > to.SeqNo, at.SeqNo == to.SeqNo && !at.Equals(to):
		return at, fmt.Errorf("it leads to %s", Format(at))
	case at.SeqNo <= from.SeqNo && from.SeqNo != to.SeqNo:
		return at, errors.New("it leads nowhere")
	}
	return at, nil
}

// checkLink checks one step of a proof, and reports whether it ends at a key
// block which was signed, or is behind a proven one.
func checkLink(from *ton.BlockIDExt, link any) (to *ton.BlockIDExt, key bool, err error) {
	switch l := link.(type) {
	case ton.BlockLinkForward:
		return checkForward(l, from)
	case ton.BlockLinkBackward:
		return checkBackward(l, from)
	}
	return to, false, fmt.Errorf("a link of type %T", link)
}

// errElsewhere is that of a step which does not begin where the one before ended.
var errElsewhere = errors.New("it goes on from another block")

func checkForward(l ton.BlockLinkForward, from *ton.BlockIDExt) (to *ton.BlockIDExt, key bool, err error) {
	if !complete(l.From) || !l.From.Equals(from) {
		return to, false, errElsewhere
	}
	if !complete(l.To) || !isMaster(l.To) {
		return to, false, errors.New("it names no masterchain block")
	}
	dest, err := cell.FromBOC(l.DestProof)
	if err != nil {
		return to, false, fmt.Errorf("dest_proof: %w", err)
	}
	config, err := cell.FromBOC(l.ConfigProof)
	if err != nil {
		return to, false, fmt.Errorf("config_proof: %w", err)
	}
	if err := ton.CheckForwardBlockProof(l.From, l.To, l.ToKeyBlock, config, dest, l.SignatureSet); err != nil {
		return to, false, err
	}
	to, err = destination(l.To, dest)
	return to, l.ToKeyBlock, err
}

// destination checks that the proven block stands where its id says: the
// signatures are for its hashes only.
func destination(id *ton.BlockIDExt, proof *cell.Cell) (*ton.BlockIDExt, error) {
	block, err := ton.CheckBlockProof(proof, id.RootHash)
	if err != nil {
		return nil, err
	}
	return id, standsAt(&block.BlockInfo, id)
}

// standsAt checks that a block is where its id says.
func standsAt(header *tlb.BlockHeader, id *ton.BlockIDExt) error {
	workchain, shard := tlb.ConvertShardIdentToShard(header.Shard)
	if header.SeqNo != id.SeqNo || workchain != id.Workchain || int64(shard) != id.Shard {
		return fmt.Errorf("the block with the hashes of %s is (%d,%016x,%d)", shortID(id), workchain, shard, header.SeqNo)
	}
	return nil
}

// CheckBackward checks a step of a proof from a masterchain block back to an earlier
// one, but not the proof of that one's header.
func CheckBackward(l ton.BlockLinkBackward, from *ton.BlockIDExt) error {
	_, _, err := checkBackward(l, from)
	return err
}

// checkBackward checks that a block is in the list of earlier masterchain blocks
// (OldMcBlocksInfo) in the state of a later one.
func checkBackward(l ton.BlockLinkBackward, from *ton.BlockIDExt) (to *ton.BlockIDExt, key bool, err error) {
	if !complete(l.From) || !l.From.Equals(from) {
		return to, false, errElsewhere
	}
	if !complete(l.To) || !isMaster(l.To) || !isMaster(l.From) || l.To.SeqNo >= l.From.SeqNo {
		return to, false, errors.New("it does not lead back in the masterchain")
	}
	proof, err := cell.FromBOC(l.Proof)
	if err != nil {
		return to, false, fmt.Errorf("proof: %w", err)
	}
	state, err := cell.FromBOC(l.StateProof)
	if err != nil {
		return to, false, fmt.Errorf("state_proof: %w", err)
	}
	entry, err := oldBlock(l.From, l.To.SeqNo, proof, state)
	if err != nil {
		return to, false, err
	}
	if entry.BlkRef.SeqNo != l.To.SeqNo || !bytes.Equal(entry.BlkRef.RootHash, l.To.RootHash) || !bytes.Equal(entry.BlkRef.FileHash, l.To.FileHash) {
		return to, false, fmt.Errorf("the chain has another block %d: %X", l.To.SeqNo, entry.BlkRef.RootHash)
	}
	if entry.IsKey != l.ToKeyBlock {
		return to, false, errors.New("key block or not: the chain says otherwise")
	}
	return l.To, l.ToKeyBlock, nil
}

// oldBlock reads one entry of OldMcBlocksInfo.
func oldBlock(of *ton.BlockIDExt, seqno uint32, proof, state *cell.Cell) (*tlb.KeyExtBlkRef, error) {
	extra, err := ton.CheckShardMcStateExtraProof(of, []*cell.Cell{proof, state})
	if err != nil {
		return nil, err
	}
	loader, err := extra.Info.BeginParse()
	if err != nil {
		return nil, err
	}
	var info tlb.McStateExtraBlockInfo
	if err := tlb.LoadFromCellAsProof(&info, loader); err != nil {
		return nil, err
	}
	value, _, err := info.PrevBlocks.LoadValueExtraByIntKey(new(big.Int).SetUint64(uint64(seqno)))
	if err != nil {
		return nil, fmt.Errorf("masterchain block %d is not among the earlier ones: %w", seqno, err)
	}
	var entry tlb.KeyExtBlkRef
	return &entry, tlb.LoadFromCellAsProof(&entry, value)
}

// ProveBlock checks that a masterchain block is in the chain of the proven head.
// With proofs off it does nothing.
func (p *Pool) ProveBlock(ctx context.Context, id *ton.BlockIDExt) error {
	if p.configuration.Proofs == Off || p.known.has(id) {
		return nil
	}
	head, err := p.WaitHead(ctx, id.SeqNo)
	if err != nil {
		return err
	}
	if id.SeqNo == head.SeqNo {
		if !id.Equals(head) {
			return lie("masterchain block %d is %X, not %X", id.SeqNo, head.RootHash, id.RootHash)
		}
		return nil
	}
	_, _, err = p.Query(ctx, Query{
		Request: ton.GetBlockProof{Mode: 1, KnownBlock: head, TargetBlock: id}, Seqno: head.SeqNo,
		Check: func(answer any) error { return descends(answer, head, id) },
	})
	if err == nil {
		p.known.add(id)
	}
	return err
}

// descends checks a complete proof that leads from a block to an earlier one.
func descends(answer any, from, to *ton.BlockIDExt) error {
	part, err := as[ton.PartialBlockProof]("getBlockProof", answer)
	if err != nil {
		return err
	}
	at := from
	for i, link := range part.Steps {
		next, _, err := checkLink(at, link)
		if err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		at = next
	}
	if !at.Equals(to) {
		return fmt.Errorf("it leads to %s", shortID(at))
	}
	return nil
}
