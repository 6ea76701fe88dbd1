package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestDefinitionsAreMendedWhateverTheFolderIsCalled(t *testing.T) {
	const uuid = "00000000-0000-0000-0000-000000000001"
	for _, name := range []string{"plain", "data [1", "data [12]", "*?\\"} {
		data := filepath.Join(t.TempDir(), name)
		metadata := filepath.Join(data, "metadata")
		if err := os.MkdirAll(metadata, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(data, "store", "000", uuid), filepath.Join(metadata, "chain")); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(metadata, "chain.sql")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := mendDatabases(data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want := fmt.Sprintf("ATTACH DATABASE _ UUID '%s'\nENGINE = Atomic\n", uuid)
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s: the definition is %q, %v, want %q", name, got, err, want)
		}
	}
}
