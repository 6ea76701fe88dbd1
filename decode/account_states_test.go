package decode

import (
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

func TestEveryAccountBlockOfRealChainsIsExplained(t *testing.T) {
	var d Decoder
	total, none, old, oldNone, partial := 0, 0, 0, 0, 0
	seen := map[string]bool{}
	for _, f := range append(blockFiles(t), packedBlocks(t)...) {
		r, err := d.Block(f.boc, 7)
		if err != nil {
			t.Fatalf("%s: %v", f.fields["file"], err)
		}
		if seen[string(r.Block.Id.RootHash)] {
			continue // in two packages
		}
		seen[string(r.Block.Id.RootHash)] = true
		for _, c := range r.Changes {
			total++
			if c.Problem != nil {
				t.Errorf("%s: account %x: %v", f.fields["file"], c.Account, c.Problem)
				continue
			}
			if c.After.Status == record.AccountStatus_ACCOUNT_NONEXIST {
				none++
			}
			if c.Before != nil {
				old++
				if c.Before.Status == record.AccountStatus_ACCOUNT_NONEXIST {
					oldNone++
				}
			}
			for _, tx := range c.Transactions {
				if tx.StateBefore == nil || tx.StateAfter == nil || tx.StateBefore.Status != tx.OrigStatus || tx.StateAfter.Status != tx.EndStatus {
					t.Fatalf("%s: transaction %x without states", f.fields["file"], tx.Hash)
				}
				if tx.StateAfter.Partial {
					partial++
				}
			}
			if c.After.CodeHash != nil && c.Code != nil {
				if got := rootHash(t, c.Code); got != hex.EncodeToString(c.After.CodeHash) {
					t.Errorf("code BoC has hash %s, the state names %x", got, c.After.CodeHash)
				}
			}
			if c.After.DataHash != nil && c.Data != nil {
				if got := rootHash(t, c.Data); got != hex.EncodeToString(c.After.DataHash) {
					t.Errorf("data BoC has hash %s, the state names %x", got, c.After.DataHash)
				}
			}
		}
	}
	got := [5]int{total, none, old, oldNone, partial}
	if want := [5]int{2911, 98, 1343 + 1398, 1398, 1135}; got != want {
		t.Errorf("%v account blocks, those that end without account, old states shown, those of no account, partial states after a transaction; want %v", got, want)
	}
}

// packedBlocks are the blocks in the archive packages of the test data.
func packedBlocks(t testing.TB) (files []blockFile) {
	t.Helper()
	packages, err := filepath.Glob(filepath.Join(realdata.Path(t, "packs"), "*", "*.pack"))
	if err != nil || len(packages) == 0 {
		t.Fatalf("no packages: %v", err)
	}
	for _, path := range packages {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		const header = 2 + 2 + 4 // magic, length of the name, length of the data
		for at := 4; at < len(content); {
			nameEnd := at + header + int(binary.LittleEndian.Uint16(content[at+2:]))
			end := nameEnd + int(binary.LittleEndian.Uint32(content[at+4:]))
			if name := string(content[at+header : nameEnd]); strings.HasPrefix(name, "block_") {
				files = append(files, blockFile{boc: content[nameEnd:end], fields: map[string]string{"file": path + ":" + name}})
			}
			at = end
		}
	}
	return files
}

// rootHash is the hash of a BoC's root as text.
func rootHash(t testing.TB, boc []byte) string {
	t.Helper()
	bag, err := cell.Parse(boc)
	if err != nil {
		t.Fatal(err)
	}
	root, err := bag.Single()
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(root.Hash()[:])
}
