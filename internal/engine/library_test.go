package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMachinesThatCannotRunTheEngineAreToldWhatToDo(t *testing.T) {
	cases := []struct {
		name            string
		platform        string
		missing         []string
		musl, glibc     bool
		want            string
		isAllowedToPass bool
	}{
		{name: "fitting", platform: "linux/amd64", glibc: true, isAllowedToPass: true},
		{name: "both C libraries", platform: "linux/amd64", glibc: true, musl: true, isAllowedToPass: true},
		{name: "other platform", platform: "darwin/arm64", want: "linux/amd64 only"},
		{name: "musl", platform: "linux/amd64", musl: true, want: "needs glibc"},
		{name: "old CPU", platform: "linux/amd64", glibc: true, missing: []string{"AVX2", "FMA"}, want: "AVX2, FMA"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := platformError(c.platform, c.missing, c.musl, c.glibc)
			if c.isAllowedToPass {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--clickhouse") {
				t.Errorf("error: %v", err)
			}
		})
	}
}

func TestMissingOrIncompleteLibraryNamesTheRemedy(t *testing.T) {
	path := filepath.Join(t.TempDir(), libraryName)
	check := func(state string) {
		t.Helper()
		if err := checkLibrary(path); err == nil || !strings.Contains(err.Error(), "make engine") {
			t.Errorf("%s: %v", state, err)
		}
	}
	check("missing")
	if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
		t.Fatal(err)
	}
	check("without checksum")
	if err := os.WriteFile(path+checksumSuffix, checksum{sum: "00", size: 5}.line(), 0o644); err != nil {
		t.Fatal(err)
	}
	check("too short")
}

func TestFetchInstallsNothingButThePinnedPackage(t *testing.T) {
	dir := t.TempDir()
	archive, path := filepath.Join(dir, "package.tgz"), filepath.Join(dir, "final", libraryName)
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"another package": packageWith(t, "package/"+libraryName),
		"no library":      packageWith(t, "package/index.js"),
		"not an archive":  []byte("<html>not found</html>"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(archive, content, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := install(t.Context(), archive, path); err == nil || !strings.Contains(err.Error(), "checksum") {
				t.Errorf("install: %v", err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("a library was installed")
			}
		})
	}
}

func TestAFetchThatFailsSaysWhy(t *testing.T) {
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	t.Setenv("npm_config_registry", "http://127.0.0.1:1")
	t.Setenv("npm_config_fetch_retries", "0")
	t.Setenv("npm_config_cache", t.TempDir())
	if _, err := npmPack(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "ECONNREFUSED") {
		t.Errorf("from a registry that does not answer: %v", err)
	}
}

func TestAFetchThatIsStoppedSaysSo(t *testing.T) {
	dir := t.TempDir()
	begun := filepath.Join(dir, "begun")
	if err := os.WriteFile(filepath.Join(dir, "npm"), fmt.Appendf(nil, "#!/bin/sh\n: > %s\nexec sleep 1000\n", begun), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := npmPack(ctx, dir)
		ended <- err
	}()
	for _, err := os.Stat(begun); err != nil; _, err = os.Stat(begun) {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a fetch that was stopped: %v", err)
	}
}

// whenSaid calls a function once it is written to.
type whenSaid func()

func (f whenSaid) Write(text []byte) (int, error) { f(); return len(text), nil }

// A fetch that was killed leaves some hundred MiB; one that is under way needs its own.
func TestWhatAFetchThatWasKilledHasLeftIsRemovedByTheNextOne(t *testing.T) {
	t.Setenv("TONSCRIBE_ENGINE_DIR", t.TempDir())
	t.Setenv("PATH", t.TempDir()) // without npm
	folder := filepath.Dir(LibraryPath())
	left := filepath.Join(folder, "fetch-1234")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	other, err := lockFile(filepath.Join(folder, fetchLock))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	if err := Fetch(ctx, whenSaid(stop)); !errors.Is(err, context.Canceled) {
		t.Errorf("beside another one: %v, want that it waits", err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("the folder of another one: %v", err)
	}
	other.Close()
	if err := Fetch(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), "npm is needed") {
		t.Errorf("without npm: %v", err)
	}
	if found, err := filepath.Glob(filepath.Join(folder, "fetch-*")); err != nil || len(found) > 0 {
		t.Errorf("%v is left, %v", found, err)
	}
}

func packageWith(t *testing.T, name string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	content := []byte("not the engine")
	if err := archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	archive.Write(content)
	archive.Close()
	zipped.Close()
	return out.Bytes()
}
