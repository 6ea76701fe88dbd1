package packages

import (
	"fmt"
	"os"
	"path/filepath"

	"tonscribe/devnet/chain"
)

// filesPerFolder is how many bundles share a folder.
const filesPerFolder = 1000

// Files writes one file per block: dir/blocks/000000/-1_8000000000000000_1.boc.
type Files struct {
	dir    string
	folder string // the last one made
}

// NewFiles makes the writer; folders are made when the first block comes.
func NewFiles(dir string) *Files { return &Files{dir: dir} }

// Write implements Writer.
func (f *Files) Write(b *chain.Bundle) error {
	start := b.Master.ID.SeqNo / filesPerFolder * filesPerFolder
	folder := filepath.Join(f.dir, "blocks", fmt.Sprintf("%06d", start))
	if folder != f.folder {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		f.folder = folder
	}
	for _, block := range blocksOf(b) {
		id := block.ID
		name := fmt.Sprintf("%d_%016x_%d.boc", id.Workchain, uint64(id.Shard), id.SeqNo)
		if err := os.WriteFile(filepath.Join(folder, name), block.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Close implements Writer.
func (f *Files) Close() error { return nil }
