// Package pythontest runs Python scripts in tests, with other people's packages
// beside them in a virtual environment of their own. Nothing of it goes into the
// product.
package pythontest

import (
	"context"
	"crypto/sha256"
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

// installLimit is for twenty small packages over a slow line.
const installLimit = 5 * time.Minute

// probe prints what a virtual environment depends on, and fails where none can
// be made.
const probe = `import sys, venv, ensurepip
assert sys.version_info >= (3, 11)
print(sys.version, sys.base_prefix)`

var installing sync.Mutex

// Interpreter is python with exactly the packages of requirements (pip's file
// format, dependencies included). It is made once, in the user's cache. The test
// is skipped where Python is missing.
func Interpreter(t testing.TB, requirements []byte) string {
	t.Helper()
	system, err := exec.LookPath("python3")
	if err != nil {
		missing(t, "python3 is not installed (Python 3.11 or newer is needed)")
	}
	version, err := exec.CommandContext(t.Context(), system, "-c", probe).Output()
	if err != nil {
		missing(t, "python3 is older than 3.11 or lacks the module venv (on Debian: python3-venv)")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), "tonscribe-cache")
	}
	name := fmt.Sprintf("%x", sha256.Sum256(slices.Concat(version, requirements)))[:16]
	dir := filepath.Join(cache, "tonscribe", "python", name)
	installing.Lock()
	defer installing.Unlock()
	if _, err := os.Stat(dir); err != nil {
		if err := install(t.Context(), system, dir, requirements); err != nil {
			t.Fatalf("install Python packages: %v", err)
		}
	}
	return filepath.Join(dir, "bin", "python")
}

// missing skips the test, or fails it where python is required.
func missing(t testing.TB, what string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("TONSCRIBE_TEST_REQUIRE"), ","), "python") {
		t.Fatal(what)
	}
	t.Skip("no Python to compare with: " + what)
}

// install makes the environment beside its place and moves it there, so that it
// is complete or absent; when another process was faster, that one's stays.
func install(ctx context.Context, system, dir string, requirements []byte) error {
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
	list, env := filepath.Join(work, "requirements.txt"), filepath.Join(work, "env")
	if err := os.WriteFile(list, requirements, 0o644); err != nil {
		return err
	}
	for _, command := range [][]string{
		{system, "-m", "venv", env},
		{filepath.Join(env, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps", "-r", list},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
		}
	}
	if err := os.Rename(env, dir); err != nil {
		if _, absent := os.Stat(dir); absent != nil {
			return err
		}
	}
	return nil
}
