package lite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Zerostate gives the state that a workchain begins with, a bag of cells with
// the file hash and the root hash of its complete id. Servers may have it no
// more or find it too large to send: IsDenied tells such an error from servers
// that do not answer.
func (p *Pool) Zerostate(ctx context.Context, id *ton.BlockIDExt) ([]byte, error) {
	state, err := p.zerostate(ctx, id, false)
	if !IsDenied(err) || errors.Is(err, ErrNoArchive) {
		return state, err
	}
	if !p.FindArchive(ctx) { // who keeps old blocks keeps old states too
		return nil, err
	}
	return p.zerostate(ctx, id, true)
}

func (p *Pool) zerostate(ctx context.Context, id *ton.BlockIDExt, archival bool) ([]byte, error) {
	query := Query{Request: ton.GetState{ID: id}, Archival: archival, Once: true}
	state, err := checked(ctx, p, query, func(answer any) (ton.BlockState, error) {
		state, err := as[ton.BlockState]("getState", answer)
		if err == nil {
			err = checkState(state.Data, id)
		}
		return state, err
	})
	if err != nil {
		return nil, fmt.Errorf("zerostate %s: %w", shortID(id), err)
	}
	return state.Data, nil
}

func checkState(data []byte, id *ton.BlockIDExt) error {
	if sum := sha256.Sum256(data); !bytes.Equal(sum[:], id.FileHash) {
		return lie("zerostate %s: the file hash of its answer is %X", Format(id), sum)
	}
	root, err := cell.FromBOC(data)
	if err != nil {
		return fmt.Errorf("zerostate %s: %w", Format(id), err)
	}
	if !bytes.Equal(root.Hash(), id.RootHash) {
		return fmt.Errorf("zerostate %s: the root hash of its answer is %X", Format(id), root.Hash())
	}
	return nil
}

// IsDenied reports whether an error of a request is the servers' answer: they have
// not got what was asked for, or do not give it. Asking again is of no use.
func IsDenied(err error) bool {
	var e ton.LSError
	return errors.As(err, &e) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNoArchive)
}
