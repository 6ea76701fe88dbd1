// Package descriptors shares a process's file descriptors out, so that clients
// never take those that stores and the log need. In comes RLIMIT_NOFILE, whose
// soft value the Go runtime has raised to the hard one; out go shares of it. The
// package knows nobody who uses them.
package descriptors

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// The shares, as parts of the limit. Together they leave a quarter to whatever
// has none, or two thousand.
const (
	// HTTP is the part of the listener of the API, which has more where there are many.
	HTTP = 4
	// LiteServer is the part of a lite server's listener.
	LiteServer = 8
	// store is the part of one store of files; a process has three at most.
	store = 10
)

// others is what everything but the listener of the API needs where there are many.
const others = 6 << 10

// maxStoreFiles is how many files a store keeps open where there is room.
const maxStoreFiles = 512

// Few is the limit below which a process should say that it has little room.
const Few = 1024

// Limit returns how many descriptors the process may have open.
func Limit() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return Few
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)) //nolint:unconvert // signed on other systems
}

// Raise raises the limit to n at least, which only some users may.
func Raise(n int) error {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	if err == nil && Limit() < n {
		set(&limit.Cur, n)
		if limit.Max < limit.Cur {
			limit.Max = limit.Cur
		}
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
	if err != nil {
		return fmt.Errorf("%d file descriptors are needed, there are %d (ulimit -n): %w", n, Limit(), err)
	}
	return nil
}

// set sets a limit, whose type is another one on other systems.
func set[T int64 | uint64](limit *T, n int) { *limit = T(n) }

// StoreFiles returns how many files a store may keep open.
func StoreFiles() int { return Share(maxStoreFiles, store) }

// Share returns want, or the part of the limit if that is less.
func Share(want, part int) int { return share(want, part, Limit()) }

func share(want, part, limit int) int {
	most := limit / part
	if part == HTTP {
		most = max(most, limit-others)
	}
	return max(min(want, most), 1)
}
