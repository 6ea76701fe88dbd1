package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tonscribe/schema/record"
)

// zerostate finds the state that a workchain begins with: a file with
// "zerostate" in its name, in a folder of decode.zerostates or of the source.
// Without one the answer is nil.
func (s *settings) zerostate(_ context.Context, id *record.BlockId) ([]byte, error) {
	folders := s.Decode.Zerostates
	for _, prefix := range []string{"files:", "archive:"} {
		if dir, ok := strings.CutPrefix(s.Ingest.Source, prefix); ok {
			folders = append(folders[:len(folders):len(folders)], dir, filepath.Join(dir, "states"), filepath.Join(dir, "..", "states"), filepath.Join(dir, "..", "..", "states"))
		}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*zerostate*"))
		if err != nil {
			return nil, fmt.Errorf("zerostates in %s: %w", folder, err)
		}
		for _, file := range files {
			boc, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("zerostate: %w", err)
			}
			if sum := sha256.Sum256(boc); bytes.Equal(sum[:], id.FileHash) {
				return boc, nil
			}
		}
	}
	return nil, nil
}
