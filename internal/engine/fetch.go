package engine

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tonscribe/internal/lifetime"
)

// Fetch puts the engine's library at LibraryPath: npm downloads the pinned
// package, its checksum is verified, and the library is unpacked beside its
// final place and renamed into it. A library that is there and whole is kept.
// progress gets one line per step.
func Fetch(ctx context.Context, progress io.Writer) error {
	if err := checkPlatform(); err != nil {
		return err
	}
	path := LibraryPath()
	if verifyLibrary(path) == nil {
		fmt.Fprintf(progress, "engine: %s is there\n", path)
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("engine folder: %w", err)
	}
	lock, err := lockFetch(ctx, dir, progress)
	if err != nil {
		return fmt.Errorf("engine folder: %w", err)
	}
	defer lock.Close()
	if verifyLibrary(path) == nil {
		fmt.Fprintf(progress, "engine: %s is there\n", path)
		return nil
	}
	if err := removeLeft(dir); err != nil {
		return fmt.Errorf("engine folder: %w", err)
	}
	temporary, err := os.MkdirTemp(dir, fetchPrefix)
	if err != nil {
		return fmt.Errorf("engine folder: %w", err)
	}
	defer os.RemoveAll(temporary)

	fmt.Fprintf(progress, "engine: npm pack %s@%s (about 170 MB)\n", libraryPackage, LibraryVersion)
	archive, err := npmPack(ctx, temporary)
	if err != nil {
		return err
	}
	fmt.Fprintf(progress, "engine: unpacking to %s\n", path)
	if err := install(ctx, archive, path); err != nil {
		return err
	}
	fmt.Fprintf(progress, "engine: ready\n")
	return nil
}

const (
	fetchPrefix = "fetch-" // of folders that a download works in
	fetchLock   = "lock"
	fetchPause  = 100 * time.Millisecond
)

// lockFetch waits until no other process fetches.
func lockFetch(ctx context.Context, dir string, progress io.Writer) (*os.File, error) {
	for told := false; ; told = true {
		lock, err := lockFile(filepath.Join(dir, fetchLock))
		if !errors.Is(err, ErrInUse) {
			return lock, err
		}
		if !told {
			fmt.Fprintf(progress, "engine: another process fetches it: waiting\n")
		}
		if err := lifetime.Sleep(ctx, fetchPause); err != nil {
			return nil, err
		}
	}
}

// removeLeft removes what a fetch that was killed has left.
func removeLeft(dir string) error {
	all, err := os.ReadDir(dir)
	for _, entry := range all {
		if strings.HasPrefix(entry.Name(), fetchPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// npmPack downloads the package into dir and returns the archive's path.
func npmPack(ctx context.Context, dir string) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm is needed to fetch the ClickHouse engine and is not installed: install Node.js, or %s", insteadOfEmbedded)
	}
	cmd := exec.CommandContext(ctx, npm, "pack", "--loglevel=error", "--ignore-scripts", libraryPackage+"@"+LibraryVersion)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("npm pack %s@%s: %w: %s", libraryPackage, LibraryVersion, cmp.Or(ctx.Err(), err), strings.TrimSpace(stderr.String()))
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(archives) != 1 {
		return "", fmt.Errorf("npm pack %s@%s left %d archives, expected one", libraryPackage, LibraryVersion, len(archives))
	}
	return archives[0], nil
}

// install unpacks the library out of the archive while it computes the
// archive's checksum; the library takes its place only if that is right.
func install(ctx context.Context, archive, path string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	defer context.AfterFunc(ctx, func() { f.Close() })() // ends a long read
	sum := sha512.New()
	in := bufio.NewReaderSize(io.TeeReader(f, sum), 1<<20)

	unpacked := filepath.Join(filepath.Dir(archive), libraryName)
	record, unpackErr := unpack(in, unpacked)
	// What the unpacking left unread counts for the checksum too.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return fmt.Errorf("archive %s: %w", archive, cmp.Or(ctx.Err(), err))
	}
	if got := "sha512-" + base64.StdEncoding.EncodeToString(sum.Sum(nil)); got != libraryIntegrity {
		return fmt.Errorf("package %s@%s: its checksum is %s, expected %s: the download is damaged or not the real package", libraryPackage, LibraryVersion, got, libraryIntegrity)
	}
	if unpackErr != nil {
		return fmt.Errorf("archive %s: %w", archive, unpackErr)
	}
	if err := writeFile(path+checksumSuffix, record.line()); err != nil {
		return err
	}
	return os.Rename(unpacked, path)
}

func unpack(in io.Reader, path string) (checksum, error) {
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return checksum{}, err
	}
	archive := tar.NewReader(unzipped)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return checksum{}, fmt.Errorf("it holds no %s", libraryName)
		}
		if err != nil {
			return checksum{}, err
		}
		if header.Typeflag == tar.TypeReg && filepath.Base(header.Name) == libraryName {
			return unpackFile(archive, path)
		}
	}
}

func unpackFile(in io.Reader, path string) (checksum, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return checksum{}, err
	}
	c, err := copySum(f, in)
	return c, errors.Join(err, f.Sync(), f.Close())
}

// checksum is the content of the file beside the library: its SHA-256 and size.
type checksum struct {
	sum  string
	size int64
}

// copySum copies everything, and returns its checksum.
func copySum(to io.Writer, in io.Reader) (c checksum, err error) {
	sum := sha256.New()
	c.size, err = io.Copy(io.MultiWriter(to, sum), in)
	c.sum = hex.EncodeToString(sum.Sum(nil))
	return c, err
}

func (c checksum) line() []byte {
	return fmt.Appendf(nil, "%s %d %s\n", c.sum, c.size, libraryName)
}

func readChecksum(path string) (checksum, error) {
	data, err := os.ReadFile(path + checksumSuffix)
	if err != nil {
		return checksum{}, err
	}
	fields := strings.Fields(string(data))
	if len(fields) != 3 {
		return checksum{}, fmt.Errorf("checksum file %s is damaged", path+checksumSuffix)
	}
	size, err := strconv.ParseInt(fields[1], 10, 64)
	return checksum{sum: fields[0], size: size}, err
}

// verifyLibrary compares the whole library with the checksum kept beside it.
func verifyLibrary(path string) error {
	record, err := readChecksum(path)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if found, err := copySum(io.Discard, f); err != nil {
		return err
	} else if found != record {
		return fmt.Errorf("library %s is damaged", path)
	}
	return nil
}
