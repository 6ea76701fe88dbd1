package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/devnet"
	"tonscribe/schema/record"
)

// town loads a devnet's chain with tokens, names, multisigs and vesting.
func town(t testing.TB, transactions uint64, partitions int) *tables {
	t.Helper()
	l := emptyTables(t)
	l.fillTown(transactions, partitions)
	return l
}

func (l *tables) fillTown(transactions uint64, partitions int) {
	l.Helper()
	g := devnet.DefaultGeneration()
	g.Out, g.Transactions, g.PerBlock, g.Seed = filepath.Join(l.TempDir(), "chain"), transactions, 100, 5
	done, err := devnet.Generate(l.Context(), g)
	if err != nil {
		l.Fatal(err)
	}
	l.source.Source, l.to, l.states = "files:"+g.Out, done.Seqno, g.Out
	l.fill(partitions)
}

// zerostate finds the state with an id below the folder of states, nil when it is
// not there.
func (l *tables) zerostate(_ context.Context, id *record.BlockId) (found []byte, err error) {
	err = filepath.WalkDir(l.states, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(entry.Name(), "zerostate") {
			return err
		}
		raw, err := os.ReadFile(path)
		if sum := sha256.Sum256(raw); bytes.Equal(sum[:], id.FileHash) {
			found = raw
		}
		return err
	})
	return found, err
}
