package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// ErrNotFound is a source's answer when it has no block for a question, or no
// further one.
var ErrNotFound = errors.New("block not found")

// ErrUnavailable is a source that cannot be asked at present. It says nothing
// about the block: no bundle is skipped for it.
var ErrUnavailable = errors.New("source cannot be asked")

// Source gives blocks, unverified. It is asked by many goroutines at once.
//
// A question carries an attempt number: how many answers to it were refused so
// far. A source with several copies, or several servers, gives another one for
// every attempt and ErrNotFound when there is none left.
type Source interface {
	// Check says what is wrong with the place that blocks come from, without
	// looking at what is there.
	Check() error
	// Open looks at what there is.
	Open(ctx context.Context) error
	// Range is the lowest and the highest masterchain seqno to be had now. The
	// highest grows as the source is refreshed.
	Range() (first, last uint32)
	// Refresh looks for blocks that have come since. It returns once the
	// masterchain block may be there, and after a few seconds at the latest.
	Refresh(ctx context.Context, seqno uint32) error
	// Master gives the masterchain block with a seqno.
	Master(ctx context.Context, seqno uint32, attempt int) (Blob, error)
	// Block gives the shard block with a complete id. The bundle it is wanted
	// for is a hint: archives are laid out by it.
	Block(ctx context.Context, id *record.BlockId, bundle uint32, attempt int) (Blob, error)
	// Close ends everything that Open started.
	Close() error
}

// Blob is a source's answer.
type Blob struct {
	// BOC of the block.
	BOC []byte
	// Claim is the complete id under which the source keeps the block; nil when
	// it keeps none. It is checked like any other.
	Claim *record.BlockId
	// Origin says where the block came from, for messages.
	Origin string
}

// NewSource makes the source that a configuration names: files:DIR, archive:DIR
// or liteserver:CONFIG.json. It is inert until its Open is called.
func NewSource(c Configuration, r report.Reporter) (Source, error) {
	setting := c.Source
	kind, where, _ := strings.Cut(setting, ":")
	switch {
	case setting == "":
		return nil, errors.New("no source of blocks: set --source to files:DIR, archive:DIR or liteserver:CONFIG.json, or name a --network to follow")
	case where == "" && slices.Contains([]string{"files", "archive", "liteserver"}, kind):
		return nil, fmt.Errorf("source %q: a folder or file must follow the colon", setting)
	case kind == "files":
		return newFiles(where, r, c.MaxBlockBytes), nil
	case kind == "archive":
		return newArchive(where, r, c.MaxBlockBytes), nil
	case kind == "liteserver":
		return newLiteserver(where, c, r), nil
	}
	return nil, fmt.Errorf("source %q: unknown kind %q: want devnet (of up and repair; of one that runs elsewhere liteserver:DATA/devnet/global.config.json), network (the lite servers of --network), files:DIR, archive:DIR or liteserver:CONFIG.json", setting, kind)
}
