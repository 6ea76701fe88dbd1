// Package realdata finds the real chain data that tests are held against: blocks,
// archive packages, states and recorded answers, in the folder that the
// environment variable TONSCRIBE_TESTDATA names. Tests that want it skip where
// there is none.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

const variable = "TONSCRIBE_TESTDATA"

// There reports whether there is any data, for tests that use it besides their own.
func There() bool { return os.Getenv(variable) != "" }

// Path is a file or folder of the data, or the data's own folder. The test skips
// when there is no data, and fails when the data lacks it.
func Path(t testing.TB, elements ...string) string {
	t.Helper()
	if !There() {
		t.Skip("real chain data is not there: set " + variable)
	}
	path := filepath.Join(append([]string{os.Getenv(variable)}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("test data: %v", err)
	}
	return path
}
