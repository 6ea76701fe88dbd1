package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mendDatabases writes the definitions of databases again that are empty: a disk
// that was full when the database was made leaves them so, the engine goes on with
// what it has in memory, and does not start with them again. The definition is the
// database's UUID, which its folder has as its name.
func mendDatabases(data string) error {
	files, err := filepath.Glob(filepath.Join(data, "metadata", "*.sql"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Size() > 0 {
			continue // of what is no file the engine tells
		}
		folder, err := os.Readlink(strings.TrimSuffix(file, ".sql"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = os.Remove(file) // it has no tables, and is made again
		case err == nil:
			err = writeFile(file, fmt.Appendf(nil, "ATTACH DATABASE _ UUID '%s'\nENGINE = Atomic\n", filepath.Base(folder)))
		}
		if err != nil {
			return fmt.Errorf("%s is empty, and cannot be written again: %w", file, err)
		}
	}
	return nil
}
