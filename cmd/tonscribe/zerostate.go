package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// zerostates finds the states that workchains begin with: files with "zerostate"
// in their names in the folders of decode.zerostates and of the source, and what
// lite servers give, which stays in the data folder.
type zerostates struct {
	folders []string
	kept    string             // what lite servers gave
	servers lite.Configuration // without a config there are none
	log     zerolog.Logger
	asking  sync.Mutex
	absent  map[[sha256.Size]byte]bool // by file hash: nobody has it, which was told
}

func (p *process) newZerostates() (*zerostates, error) {
	s := p.settings
	for _, folder := range s.Decode.Zerostates {
		if _, err := os.ReadDir(folder); err != nil {
			return nil, fmt.Errorf("decode.zerostates: %w", err)
		}
	}
	z := &zerostates{
		folders: s.Decode.Zerostates, kept: filepath.Join(s.Data, "zerostates"), servers: s.nodeAccess().Lite,
		log: p.report.For("zerostates").Log, absent: map[[sha256.Size]byte]bool{},
	}
	for _, prefix := range []string{"files:", "archive:"} {
		if dir, ok := strings.CutPrefix(s.Ingest.Source, prefix); ok {
			z.folders = append(z.folders[:len(z.folders):len(z.folders)], dir, filepath.Join(dir, "states"), filepath.Join(dir, "..", "states"), filepath.Join(dir, "..", "..", "states"))
		}
	}
	z.servers.Proofs = lite.Off // a state is known by its hashes
	return z, nil
}

// find gives the state with a complete id, nil when nobody has it.
func (z *zerostates) find(ctx context.Context, id *record.BlockId) ([]byte, error) {
	z.asking.Lock()
	defer z.asking.Unlock()
	hash := [sha256.Size]byte(id.FileHash)
	if z.absent[hash] {
		return nil, nil
	}
	for _, folder := range append(z.folders[:len(z.folders):len(z.folders)], z.kept) {
		if boc, err := zerostateIn(folder, hash); boc != nil || err != nil {
			return boc, err
		}
	}
	boc, why := z.fetch(ctx, id)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if why != nil {
		z.absent[hash] = true
		z.log.Warn().Err(why).Int32("workchain", id.Workchain).
			Msg("the state that the workchain begins with is not at hand: accounts that it holds are known when they change, and code that they began with stays unknown")
		return nil, nil
	}
	return boc, z.keep(id, boc)
}

// zerostateIn is the file in a folder that has the hash, nil when none has.
func zerostateIn(folder string, hash [sha256.Size]byte) ([]byte, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("zerostates: %w", err)
	}
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), "zerostate") {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if stat, err := os.Stat(path); err == nil && stat.IsDir() {
			continue
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("zerostate: %w", err)
		}
		if sha256.Sum256(boc) == hash {
			return boc, nil
		}
	}
	return nil, nil
}

// Lite servers that do not answer are asked again for so long: the first block,
// which names the state, came from them.
const (
	fetchZerostateFor   = 3 * time.Minute
	fetchZerostatePause = time.Second
)

// fetch asks lite servers. Its error is told to the user.
func (z *zerostates) fetch(ctx context.Context, id *record.BlockId) ([]byte, error) {
	if z.servers.Config == "" {
		return nil, errors.New("no folder has it, and there are no lite servers to ask")
	}
	pool, err := lite.New(z.servers, lite.Dependencies{Report: report.Reporter{Log: z.log, Metrics: prometheus.NewRegistry()}})
	if err != nil {
		return nil, err
	}
	if err := pool.Start(ctx); err != nil {
		return nil, err
	}
	defer func() { _ = pool.Stop(context.WithoutCancel(ctx)) }() // it only fails when its time is over
	ctx, cancel := context.WithTimeout(ctx, fetchZerostateFor)
	defer cancel()
	for {
		boc, err := pool.Zerostate(ctx, lite.BlockOf(id))
		if err == nil || lite.IsDenied(err) || ctx.Err() != nil {
			return boc, err
		}
		z.log.Info().Err(err).Int32("workchain", id.Workchain).Msg("asking lite servers again for the state that the workchain begins with")
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(fetchZerostatePause):
		}
	}
}

// keep stores a state, so that it need not be fetched again.
func (z *zerostates) keep(id *record.BlockId, boc []byte) error {
	err := os.MkdirAll(z.kept, 0o700)
	name := filepath.Join(z.kept, fmt.Sprintf("zerostate_%d_%x.boc", id.Workchain, id.FileHash))
	if err == nil {
		err = replaceFile(name, boc)
	}
	if err != nil {
		return fmt.Errorf("zerostate: %w", err)
	}
	z.log.Info().Int32("workchain", id.Workchain).Int("bytes", len(boc)).Str("file", name).
		Msg("lite servers gave the state that the workchain begins with")
	return nil
}
