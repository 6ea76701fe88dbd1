package engine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/cpu"
)

// The engine is pinned to one build: listening servers, the terminal and the
// session limit of the holder are properties of exactly this build.
const (
	// LibraryVersion is the version of the npm package that holds the engine.
	LibraryVersion = "26.7.3-stable.1"

	libraryPackage   = "@chdb/lib-linux-x64-gnu"
	libraryIntegrity = "sha512-XP97mMqnc5tZpKQywR8N7cLTsHNiTmHr30pC5mzo3jWmukjKn2IBa60c2B/gWUNcuFjOMjWoorQICCqBVj5wpw=="
	libraryName      = "libchdb.so"
	checksumSuffix   = ".sha256"

	insteadOfEmbedded = "use an external ClickHouse with --clickhouse DSN, or the containers of docker-compose.yml"
)

// LibraryPath is where the engine's library is kept: in TONSCRIBE_ENGINE_DIR or
// the user's cache folder, by version.
func LibraryPath() string {
	dir := os.Getenv("TONSCRIBE_ENGINE_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = filepath.Join(os.TempDir(), "tonscribe-cache")
		}
		dir = filepath.Join(cache, "tonscribe", "engine")
	}
	return filepath.Join(dir, LibraryVersion, libraryName)
}

// checkLibrary says what to do when the library is missing or incomplete. It
// compares sizes only: Fetch has verified the content, and hashing 566 MB at
// every start would cost more than the start itself.
func checkLibrary(path string) error {
	if err := checkPlatform(); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("the ClickHouse engine is not at %s: run `make engine` to fetch it, name the folder that has it in TONSCRIBE_ENGINE_DIR, or %s", path, insteadOfEmbedded)
	}
	record, err := readChecksum(path)
	if err != nil || record.size != info.Size() {
		return fmt.Errorf("the ClickHouse engine at %s is incomplete: run `make engine` to fetch it again, or %s", path, insteadOfEmbedded)
	}
	return nil
}

// checkPlatform reports whether this machine can run the library at all.
func checkPlatform() error {
	return platformError(runtime.GOOS+"/"+runtime.GOARCH, missingInstructions(), hasFile(musl...), hasFile(glibc...))
}

var (
	musl  = []string{"/lib/ld-musl-x86_64.so.1"}
	glibc = []string{"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6"}
)

func platformError(platform string, missing []string, hasMusl, hasGlibc bool) error {
	switch {
	case platform != "linux/amd64":
		return fmt.Errorf("the embedded ClickHouse runs on linux/amd64 only, this is %s: %s", platform, insteadOfEmbedded)
	case hasMusl && !hasGlibc:
		return fmt.Errorf("the embedded ClickHouse needs glibc, this system has musl: %s", insteadOfEmbedded)
	case len(missing) > 0:
		return fmt.Errorf("the embedded ClickHouse needs a CPU with %s: %s", strings.Join(missing, ", "), insteadOfEmbedded)
	}
	return nil
}

// missingInstructions names what the library was compiled for (x86-64-v3) and
// this CPU lacks; without them the engine would end with SIGILL.
func missingInstructions() []string {
	present := map[string]bool{"AVX2": cpu.X86.HasAVX2, "BMI2": cpu.X86.HasBMI2, "FMA": cpu.X86.HasFMA, "PCLMULQDQ": cpu.X86.HasPCLMULQDQ}
	maps.DeleteFunc(present, func(_ string, is bool) bool { return is })
	return slices.Sorted(maps.Keys(present))
}

func hasFile(paths ...string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { _, err := os.Stat(path); return err == nil })
}
