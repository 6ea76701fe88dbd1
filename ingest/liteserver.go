package ingest

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// liteserver is the lite servers of a TON global config. Masterchain blocks are
// those of the chain that ends with the proven head; every block is checked
// against its file hash, so there is one copy of each: a server that gives
// another one is left out by the pool, and the block is asked for elsewhere.
type liteserver struct {
	setting       string
	configuration lite.Configuration
	report        report.Reporter
	fromHead      bool // old blocks are not looked for

	// Range may be asked while Open still waits.
	pool  atomic.Pointer[lite.Pool] // nil before Open
	first atomic.Uint32
}

func newLiteserver(where string, c Configuration, r report.Reporter) *liteserver {
	zerostate, _ := parseHash(c.Zerostate) // Validate has looked at it
	configuration := lite.Configuration{Config: where, Zerostate: hex.EncodeToString(zerostate), Proofs: c.Proofs, Tuning: c.Lite}
	return &liteserver{setting: "liteserver:" + where, configuration: configuration, report: r, fromHead: c.FromHead}
}

// Check reads the configuration of the lite servers.
func (l *liteserver) Check() error {
	if _, err := lite.New(l.configuration, lite.Dependencies{Report: report.Silent()}); err != nil {
		return fmt.Errorf("source %s: %w", l.setting, err)
	}
	return nil
}

// Open waits for the first proven masterchain block, as long as ctx allows.
func (l *liteserver) Open(ctx context.Context) error {
	pool, err := lite.New(l.configuration, lite.Dependencies{Report: l.report})
	if err == nil {
		err = pool.Start(ctx)
	}
	var head *ton.BlockIDExt
	if err == nil {
		l.pool.Store(pool)
		head, err = l.awaitHead(ctx, pool)
	}
	if err != nil {
		return fmt.Errorf("source %s: %w", l.setting, err)
	}
	first := head.SeqNo
	if !l.fromHead && pool.FindArchive(ctx) {
		first = 1
	}
	l.first.Store(first)
	l.report.Log.Info().Str("source", l.setting).Str("head", lite.Format(head)).Bool("old_blocks", first == 1).Msg("lite servers found")
	return nil
}

// awaitHead says now and then what it waits for.
func (l *liteserver) awaitHead(ctx context.Context, pool *lite.Pool) (*ton.BlockIDExt, error) {
	for pause := 5 * time.Second; ; pause = stillWaiting {
		waiting, cancel := context.WithTimeout(ctx, pause)
		head, err := pool.Head(waiting)
		cancel()
		if err == nil || ctx.Err() != nil {
			return head, err
		}
		l.report.Log.Warn().Err(err).Str("source", l.setting).Msg("waiting for lite servers")
	}
}

// Range begins with block 1 if some server keeps old blocks and they are wanted,
// else with the newest block that there was when the source was opened: how far
// servers look back cannot be told.
func (l *liteserver) Range() (first, last uint32) {
	pool := l.pool.Load()
	if pool == nil {
		return 0, 0
	}
	head, err := pool.Head(passed)
	if err != nil {
		return l.first.Load(), 0
	}
	return l.first.Load(), head.SeqNo
}

// passed is a context that waits for nothing.
var passed = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// A new masterchain block is waited for this long in one go; that something is
// wrong with the servers is told sooner.
const (
	refreshFor  = 5 * time.Second
	problemsFor = 500 * time.Millisecond
)

// Refresh waits for a masterchain block to be proven.
func (l *liteserver) Refresh(ctx context.Context, seqno uint32) error {
	pool := l.pool.Load()
	for limit := time.Now().Add(refreshFor); time.Now().Before(limit); {
		waiting, cancel := context.WithTimeout(ctx, problemsFor)
		_, err := pool.WaitHead(waiting, seqno)
		cancel()
		if err == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := pool.Problem(); err != nil {
			return err
		}
	}
	return nil
}

// Master is part of Source.
func (l *liteserver) Master(ctx context.Context, seqno uint32, attempt int) (Blob, error) {
	if attempt > 0 {
		return Blob{}, ErrNotFound
	}
	id, err := l.pool.Load().Master(ctx, seqno)
	if err != nil {
		return Blob{Origin: l.setting}, l.failure(ctx, err)
	}
	return l.block(ctx, id, seqno)
}

// Block is part of Source.
func (l *liteserver) Block(ctx context.Context, id *record.BlockId, bundle uint32, attempt int) (Blob, error) {
	if attempt > 0 {
		return Blob{}, ErrNotFound
	}
	return l.block(ctx, &ton.BlockIDExt{
		Workchain: id.Workchain, Shard: int64(id.Shard), SeqNo: id.Seqno, RootHash: id.RootHash, FileHash: id.FileHash,
	}, bundle)
}

func (l *liteserver) block(ctx context.Context, id *ton.BlockIDExt, bundle uint32) (Blob, error) {
	data, from, err := l.pool.Load().BlockData(ctx, id, bundle)
	if err != nil {
		return Blob{Origin: l.setting}, l.failure(ctx, err)
	}
	claim := &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
	return Blob{BOC: data, Claim: claim, Origin: "lite server " + from}, nil
}

// failure tells a block that no server has from servers that do not answer.
func (l *liteserver) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if lite.IsMissing(err) && !errors.Is(err, lite.ErrRefused) {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}

// Close ends the connections.
func (l *liteserver) Close() error {
	pool := l.pool.Load()
	if pool == nil {
		return nil
	}
	return pool.Stop(context.Background())
}
