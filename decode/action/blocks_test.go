package action_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"tonscribe/decode"
	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/test/support/realdata"
)

func TestTracesInsideOfRealBlocksAreRecognised(t *testing.T) {
	traces, transactions, largest := 0, 0, 0
	err := filepath.WalkDir(realdata.Path(t, "blocks"), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".boc" {
			return err
		}
		boc, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		block, err := decode.Block(boc, 7)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		list, err := trace.NewAssembler(&trace.Memory{}).Bundle(7, block.Transactions)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, whole := range list {
			if whole.All == nil {
				continue
			}
			tree, err := trace.NewTree(whole.All)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			traces, transactions, largest = traces+1, transactions+len(tree.Nodes), max(largest, len(tree.Nodes))
			checkActions(t, tree, action.NoFacts{})
			checkActions(t, tree, everything{})
			if t.Failed() {
				t.Fatalf("%s: trace %x", path, whole.Id)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if traces == 0 {
		t.Error("no trace ends inside of a block")
	}
	t.Logf("%d traces of %d transactions, the largest of %d", traces, transactions, largest)
}
