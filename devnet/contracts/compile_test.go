package contracts_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	nodetest "tonscribe/test/support/node"
)

var update = flag.Bool("update", false, "write the compiled codes instead of comparing them")

func TestCompiledCodesAreThoseOfTheSources(t *testing.T) {
	out := t.TempDir()
	if *update {
		out = "compiled"
	}
	nodetest.Run(t, nil, "compile.js", "src", out)
	made, err := filepath.Glob(filepath.Join(out, "*.boc"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob("compiled/*.boc")
	if err != nil {
		t.Fatal(err)
	}
	if len(made) == 0 || len(made) != len(kept) {
		t.Errorf("%d contracts compiled, %d kept", len(made), len(kept))
	}
	for _, path := range made {
		name := filepath.Base(path)
		fresh, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(filepath.Join("compiled", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(fresh, old) {
			t.Errorf("compiled/%s is not what src/%s.tolk gives: run go generate", name, strings.TrimSuffix(name, ".boc"))
		}
	}
}
