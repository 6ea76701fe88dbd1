// Package packages writes a devnet's blocks to disk. In come bundles in the
// order of the masterchain, out goes either a folder of block files or a folder
// of archive packages as a node keeps them, with the proof of every block. It
// must never change a byte of a block, and never read what it wrote.
package packages

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
)

// Writer takes the blocks of a chain.
type Writer interface {
	// Write adds a bundle. The next masterchain block must follow.
	Write(b *chain.Bundle) error
	// Close ends the writing. Nothing may be written after it.
	Close() error
}

// Formats of New.
const (
	FormatFiles   = "files"
	FormatArchive = "archive"
)

// New makes the writer of a format in the folder dir.
func New(format, dir string) (Writer, error) {
	switch format {
	case FormatFiles:
		return NewFiles(dir), nil
	case FormatArchive:
		return NewArchive(dir, LongNames), nil
	}
	return nil, fmt.Errorf("format %q: want %s or %s", format, FormatFiles, FormatArchive)
}

// StatesPath is where WriteZerostates puts them in dir.
func StatesPath(dir string) string { return filepath.Join(dir, "states") }

// WriteZerostates puts what the chain begins with into StatesPath, one bag of
// cells each.
func WriteZerostates(dir string, states ...*chain.Zerostate) error {
	dir = StatesPath(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, z := range states {
		if z == nil {
			continue
		}
		name := fmt.Sprintf("zerostate_%d_%X.boc", z.ID.Workchain, z.ID.FileHash)
		if err := os.WriteFile(filepath.Join(dir, name), z.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// blocksOf are the blocks of a bundle, the masterchain block first.
func blocksOf(b *chain.Bundle) []*chain.Block {
	return append([]*chain.Block{b.Master}, b.Shards...)
}

func isMaster(id *ton.BlockIDExt) bool { return id.Workchain == -1 }
