package decode

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tonscribe/test/support/realdata"
)

// blockFile is one line of blocks.tsv with the block it describes.
type blockFile struct {
	boc    []byte
	fields map[string]string
}

func (f blockFile) number(t testing.TB, field string) int64 {
	n, err := strconv.ParseInt(f.fields[field], 10, 64)
	if err != nil {
		t.Fatalf("%s: %s: %v", f.fields["file"], field, err)
	}
	return n
}

func blockFiles(t testing.TB) []blockFile {
	dir := realdata.Path(t)
	table, err := os.ReadFile(filepath.Join(dir, "blocks.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	names := strings.Split(lines[0], "\t")
	var files []blockFile
	for _, line := range lines[1:] {
		f := blockFile{fields: map[string]string{}}
		for i, value := range strings.Split(line, "\t") {
			f.fields[names[i]] = value
		}
		if f.boc, err = os.ReadFile(filepath.Join(dir, f.fields["file"])); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

func TestEveryBlockHasTheListedHeaderAndCounts(t *testing.T) {
	var d Decoder
	for _, f := range blockFiles(t) {
		t.Run(f.fields["file"], func(t *testing.T) {
			r, err := d.Block(f.boc, 7)
			if err != nil {
				t.Fatal(err)
			}
			b := r.Block
			for _, c := range []struct{ field, got string }{
				{"root_hash", hex.EncodeToString(b.Id.RootHash)},
				{"file_sha256", hex.EncodeToString(b.Id.FileHash)},
				{"workchain", strconv.Itoa(int(b.Id.Workchain))},
				{"shard", fmt.Sprintf("%016x", b.Id.Shard)},
				{"seqno", strconv.Itoa(int(b.Id.Seqno))},
				{"global_id", strconv.Itoa(int(b.GlobalId))},
				{"gen_utime", strconv.Itoa(int(b.GenUtime))},
				{"key", strconv.FormatBool(b.KeyBlock)},
				{"after_merge", strconv.FormatBool(b.AfterMerge)},
				{"after_split", strconv.FormatBool(b.AfterSplit)},
				{"master_ref", strconv.Itoa(int(b.MasterRefSeqno))},
				{"gen_software", strconv.Itoa(int(b.GenSoftwareVersion))},
				{"txs", strconv.Itoa(len(r.Transactions))},
			} {
				if c.got != f.fields[c.field] {
					t.Errorf("%s: %s, listed %s", c.field, c.got, f.fields[c.field])
				}
			}
		})
	}
}
