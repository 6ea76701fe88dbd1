// Package nodetest runs scripts of Node.js in tests, with other people's
// implementations beside them: the official emulator, compilers and clients, at
// the versions of package-lock.json. Nothing of it goes into the product.
package nodetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed package.json
var manifest []byte

//go:embed package-lock.json
var lock []byte

// installLimit is for a hundred megabytes over a slow line.
const installLimit = 10 * time.Minute

var installing sync.Mutex

// Command runs a script with the packages at hand (by require). The test is
// skipped where Node.js is missing.
func Command(t testing.TB, script string, arguments ...string) *exec.Cmd {
	t.Helper()
	modules := Modules(t)
	command := exec.CommandContext(t.Context(), "node", append([]string{script}, arguments...)...)
	command.Env = append(os.Environ(), "NODE_PATH="+modules, "NO_COLOR=1")
	return command
}

// Run runs a script to its end and returns what it printed. The test ends when
// the script fails.
func Run(t testing.TB, input []byte, script string, arguments ...string) []byte {
	t.Helper()
	command := Command(t, script, arguments...)
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(input), &out, &problems
	if err := command.Run(); err != nil {
		t.Fatalf("node %s: %v\n%s%s", filepath.Base(script), err, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}

// Modules is the folder node_modules. It is installed once, in the user's cache.
func Modules(t testing.TB) string {
	t.Helper()
	version, err := exec.CommandContext(t.Context(), "node", "--version").Output()
	if err != nil {
		missing(t, "Node.js is not installed")
	}
	if _, err := exec.LookPath("npm"); err != nil {
		missing(t, "npm is not installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), "tonscribe-cache")
	}
	name := fmt.Sprintf("%x", sha256.Sum256(slices.Concat(version, manifest, lock)))[:16]
	dir := filepath.Join(cache, "tonscribe", "node", name)
	installing.Lock()
	defer installing.Unlock()
	if _, err := os.Stat(dir); err != nil {
		if err := install(t.Context(), dir); err != nil {
			t.Fatalf("install the packages of test/node/package.json: %v", err)
		}
	}
	return filepath.Join(dir, "node_modules")
}

// missing skips the test, or fails it where Node.js is required.
func missing(t testing.TB, what string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("TONSCRIBE_TEST_REQUIRE"), ","), "node") {
		t.Fatal(what)
	}
	t.Skip("no Node.js to compare with: " + what)
}

// install installs beside the place and moves there, so that it is complete or
// absent; when another process was faster, that one's stays.
func install(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), "install-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	for name, content := range map[string][]byte{"package.json": manifest, "package-lock.json": lock} {
		if err := os.WriteFile(filepath.Join(work, name), content, 0o644); err != nil {
			return err
		}
	}
	command := exec.CommandContext(ctx, "npm", "ci", "--legacy-peer-deps", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	command.Dir = work
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	if err := os.Rename(work, dir); err != nil {
		if _, absent := os.Stat(dir); absent != nil {
			return err
		}
	}
	return nil
}
