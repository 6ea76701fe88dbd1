package lite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// BlockData gives the bytes of a block, checked against the file hash of its
// complete id. after is the masterchain block from which on servers have it; 0
// is unknown.
func (p *Pool) BlockData(ctx context.Context, id *ton.BlockIDExt, after uint32) ([]byte, string, error) {
	var data ton.BlockData
	_, from, err := p.Query(ctx, Query{
		Request: ton.GetBlockData{ID: id}, Seqno: after,
		Check: func(answer any) (err error) {
			if data, err = as[ton.BlockData]("getBlock", answer); err != nil {
				return err
			}
			if sum := sha256.Sum256(data.Payload); !bytes.Equal(sum[:], id.FileHash) {
				return lie("block %s: the file hash of its answer is %X", Format(id), sum)
			}
			return nil
		},
	})
	if err != nil {
		return nil, from, err
	}
	return data.Payload, from, nil
}

// Block gives a block with a complete id: its bytes and its root cell, file hash
// and root hash checked, and that it is where the id says.
func (p *Pool) Block(ctx context.Context, id *ton.BlockIDExt) ([]byte, *cell.Cell, error) {
	data, from, err := p.BlockData(ctx, id, masterSeqno(id))
	if err != nil {
		return nil, nil, err
	}
	var root *cell.Cell
	err = guarded(func() (err error) {
		if root, err = cell.FromBOC(data); err != nil {
			return err
		}
		if !bytes.Equal(root.Hash(), id.RootHash) {
			return fmt.Errorf("its root hash is %X: no such block exists", root.Hash())
		}
		block, err := parseBlock(root)
		if err != nil {
			return err
		}
		return standsAt(&block.BlockInfo, id)
	})
	if err != nil {
		return nil, nil, fmt.Errorf("block %s from %s: %w", Format(id), from, err)
	}
	return data, root, nil
}

// Lookup is how a block is looked up: by one of Seqno, LT and UTime.
type Lookup struct {
	Workchain int32
	Shard     int64
	Seqno     uint32
	LT        uint64
	UTime     uint32
}

func (l Lookup) request() ton.LookupBlock {
	r := ton.LookupBlock{ID: &ton.BlockInfoShort{Workchain: l.Workchain, Shard: l.Shard, Seqno: int32(l.Seqno)}}
	switch {
	case l.LT != 0:
		r.Mode, r.LT = 2, l.LT
	case l.UTime != 0:
		r.Mode, r.UTime = 4, l.UTime
	default:
		r.Mode = 1
	}
	return r
}

// fits checks the header that a look-up gave against what was asked.
func (l Lookup) fits(id *ton.BlockIDExt, header *tlb.BlockHeader) error {
	if id.Workchain != l.Workchain || !ShardsMeet(uint64(id.Shard), uint64(l.Shard)) {
		return fmt.Errorf("lookupBlock: asked for shard (%d,%016x), got %s", l.Workchain, uint64(l.Shard), shortID(id))
	}
	switch {
	case l.LT != 0:
		if header.EndLt < l.LT {
			return fmt.Errorf("lookupBlock: asked for lt %d, got %s, which ends at %d", l.LT, shortID(id), header.EndLt)
		}
	case l.UTime != 0:
		if header.GenUtime < l.UTime {
			return fmt.Errorf("lookupBlock: asked for time %d, got %s, which was made at %d", l.UTime, shortID(id), header.GenUtime)
		}
	case id.SeqNo != l.Seqno:
		return fmt.Errorf("lookupBlock: asked for seqno %d, got %s", l.Seqno, shortID(id))
	}
	return nil
}

// isFirst checks that a block which was looked up by lt or time is the first that
// fits: the one before it does not. Of blocks of the same second servers may give any.
// What servers do not have any more is not checked.
func (p *Pool) isFirst(ctx context.Context, l Lookup, header *tlb.BlockHeader) error {
	if l.LT == 0 && l.UTime == 0 || l.LT != 0 && header.StartLt <= l.LT || l.LT == 0 && header.GenUtime == l.UTime {
		return nil
	}
	parents, err := ton.GetParentBlocks(header)
	if err != nil {
		return nil //nolint:nilerr // the proof of the header does not show them
	}
	for _, id := range parents { // of those that were merged one is of the account that leads to the block
		if id.SeqNo == 0 {
			return nil
		}
		before, err := p.Header(ctx, id)
		var denied ton.LSError
		switch {
		case errors.As(err, &denied):
			return nil
		case err != nil:
			return err
		case l.LT != 0 && before.EndLt < l.LT, l.LT == 0 && before.GenUtime < l.UTime:
			return nil
		}
	}
	return fmt.Errorf("lookupBlock: asked for lt %d or time %d, got the block after %s", l.LT, l.UTime, shortID(parents[0]))
}

// notBeyond checks that a masterchain block which was looked up by lt or time is not
// after the head, to be waited for, where the head is later already.
func (p *Pool) notBeyond(ctx context.Context, l Lookup, id *ton.BlockIDExt) error {
	head, err := p.Head(ctx)
	if err != nil || id.SeqNo <= head.SeqNo {
		return err
	}
	header, err := p.Header(ctx, head)
	if err == nil && (l.LT != 0 && header.EndLt >= l.LT || l.UTime != 0 && header.GenUtime > l.UTime) {
		err = fmt.Errorf("lookupBlock: asked for lt %d or time %d, got %s, the chain is there since %s", l.LT, l.UTime, shortID(id), shortID(head))
	}
	return err
}

// ShardsMeet reports whether two shards have accounts in common. Shards carry
// their tag bit.
func ShardsMeet(a, b uint64) bool {
	x, y := a&-a, b&-b
	mask := ^(max(x, y)<<1 - 1)
	return a&mask == b&mask
}

// Lookup finds a block. The header that the server adds is checked against the
// id, and a masterchain block against the proven chain. Whether a shard block is
// in the chain is not checked: its masterchain block tells that.
func (p *Pool) Lookup(ctx context.Context, l Lookup) (*ton.BlockIDExt, *tlb.BlockHeader, error) {
	return p.lookup(ctx, l, true)
}

func (p *Pool) lookup(ctx context.Context, l Lookup, prove bool) (*ton.BlockIDExt, *tlb.BlockHeader, error) {
	var id *ton.BlockIDExt
	var header *tlb.BlockHeader
	query := Query{Request: l.request(), Check: func(answer any) (err error) {
		var block *tlb.Block
		if id, block, err = ReadHeader(answer); err != nil {
			return err
		}
		header = &block.BlockInfo
		if err := l.fits(id, header); err != nil {
			return err
		}
		if prove && isMaster(id) {
			if err := p.notBeyond(ctx, l, id); err != nil {
				return err
			}
			if err := p.ProveBlock(ctx, id); err != nil {
				return err
			}
		}
		return p.isFirst(ctx, l, header)
	}}
	if l.Workchain == masterWorkchain && l.LT == 0 && l.UTime == 0 {
		query.Seqno = l.Seqno
	}
	if _, _, err := p.Query(ctx, query); err != nil {
		return nil, nil, err
	}
	return id, header, nil
}

// Header gives the header of a block with a complete id.
func (p *Pool) Header(ctx context.Context, id *ton.BlockIDExt) (*tlb.BlockHeader, error) {
	return checked(ctx, p, Query{Request: ton.GetBlockHeader{ID: id}, Seqno: masterSeqno(id)}, func(answer any) (*tlb.BlockHeader, error) {
		got, block, err := ReadHeader(answer)
		if err != nil {
			return nil, err
		}
		if !got.Equals(id) {
			return nil, fmt.Errorf("getBlockHeader: asked for %s, got %s", Format(id), Format(got))
		}
		return &block.BlockInfo, nil
	})
}

// ReadHeader checks a liteServer.blockHeader: its proof is a part of the block with
// the root hash of its id, and shows the header at least.
func ReadHeader(answer any) (*ton.BlockIDExt, *tlb.Block, error) {
	got, err := as[ton.BlockHeader]("block header", answer)
	if err != nil {
		return nil, nil, err
	}
	if !complete(got.ID) {
		return nil, nil, errors.New("block header: incomplete id")
	}
	proof, err := cell.FromBOC(got.HeaderProof)
	if err != nil {
		return nil, nil, fmt.Errorf("block header: %w", err)
	}
	if _, err := destination(got.ID, proof); err != nil {
		return nil, nil, fmt.Errorf("block header: %w", err)
	}
	block, err := ton.CheckBlockProof(proof, got.ID.RootHash)
	if err != nil {
		return nil, nil, err
	}
	return got.ID, block, nil
}

// AllShards gives the newest shard blocks that a masterchain block commits.
// The answer is checked against the block's root hash.
func (p *Pool) AllShards(ctx context.Context, master *ton.BlockIDExt) ([]*ton.BlockIDExt, error) {
	return checked(ctx, p, Query{Request: ton.GetAllShardsInfo{ID: master}, Seqno: master.SeqNo}, func(answer any) ([]*ton.BlockIDExt, error) {
		return readShards(ctx, answer, master)
	})
}

// readShards checks a liteServer.allShardsInfo. Its data must be a dictionary
// that is there: the library compares the dictionary's cell with the proof's,
// but reads it only if the bit before it says so.
func readShards(ctx context.Context, answer any, master *ton.BlockIDExt) ([]*ton.BlockIDExt, error) {
	got, err := as[ton.AllShardsInfo]("getAllShardsInfo", answer)
	if err != nil {
		return nil, err
	}
	data, err := got.Data.BeginParse()
	if err != nil {
		return nil, fmt.Errorf("getAllShardsInfo: %w", err)
	}
	there, err := data.LoadBoolBit()
	if err != nil || !there || data.BitsLeft() != 0 || data.RefsNum() != 1 {
		return nil, errors.New("getAllShardsInfo: no dictionary of shards")
	}
	return replay(answer).GetBlockShardsInfo(ctx, master)
}
