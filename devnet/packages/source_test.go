package packages

import (
	"bytes"
	"testing"

	"tonscribe/ingest"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

func TestSourcesReadBackEveryBlock(t *testing.T) {
	_, bundles := nodePackage(t)
	for _, c := range []struct {
		name, source string
		writer       func(dir string) Writer
	}{
		{"files", "files:", func(dir string) Writer { return NewFiles(dir) }},
		{"long names", "archive:", func(dir string) Writer { return NewArchive(dir, LongNames) }},
		{"short names", "archive:", func(dir string) Writer { return NewArchive(dir, ShortNames) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writer := c.writer(dir)
			for _, b := range bundles {
				if err := writer.Write(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			configuration := ingest.DefaultConfiguration()
			configuration.Source = c.source + dir
			source, err := ingest.NewSource(configuration, report.Silent())
			if err != nil {
				t.Fatal(err)
			}
			if err := source.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			for _, b := range bundles {
				seqno := b.Master.ID.SeqNo
				for _, block := range blocksOf(b) {
					id := block.ID
					ask := &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
					var blob ingest.Blob
					if isMaster(id) {
						blob, err = source.Master(t.Context(), seqno, 0)
					} else {
						blob, err = source.Block(t.Context(), ask, seqno, 0)
					}
					if err != nil {
						t.Fatalf("block %d:%x:%d: %v", id.Workchain, uint64(id.Shard), id.SeqNo, err)
					}
					if !bytes.Equal(blob.BOC, block.Data) {
						t.Fatalf("block %d:%x:%d: %d bytes come back of %d", id.Workchain, uint64(id.Shard), id.SeqNo, len(blob.BOC), len(block.Data))
					}
				}
			}
		})
	}
}
