package nodetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	nodetest "tonscribe/test/support/node"
)

func TestOfficialEmulatorStarts(t *testing.T) {
	script := filepath.Join(t.TempDir(), "version.js")
	const text = `require('@ton/sandbox').Executor.create().then(e => console.log(e.getVersion().commitHash))`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "f801e1c1a4ddb5abf41033f51a7c74ab72dfdc07"
	if got := strings.TrimSpace(string(nodetest.Run(t, nil, script))); got != want {
		t.Errorf("the emulator is of commit %q, want %q", got, want)
	}
}
