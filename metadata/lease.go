package metadata

import (
	"context"
	"time"

	"tonscribe/internal/clickhouse"
)

// lease decides which of several processes works: of those that were seen within
// the lease, the one that has been there longest. They know of each other through
// the table metadata_workers, by the clock of its server. Where replicas of the
// table lag, two may work for a moment; they then fetch something twice, which
// the table of documents does not mind.
type lease struct {
	tables *clickhouse.Client
	name   string
	after  time.Duration // without being seen

	since    uint64    // when this process came, 0 before
	seen     time.Time // when it was last seen, by its own clock
	reported uint64    // the same by the clock of the server
	mcSeqno  uint32    // up to where it has read the links
}

// beats is how often a process is seen within the lease.
const beats = 3

// within reports of the newest row of a process, with the lease in milliseconds, whether it is
// there. What is seen later than now is of before the clock was put back.
const within = "newest.2 AND abs(toInt64(newest.1) - toUnixTimestamp64Milli(now64(3))) < ?"

// take renews the lease when that is due, and reports whether this process has it. It
// waits while there is no room for rows.
func (l *lease) take(ctx context.Context) (mine bool, err error) {
	if l.late() {
		if err := l.tables.Room(ctx); err != nil {
			return false, err
		}
		now, err := l.now(ctx)
		if err != nil {
			return false, err
		}
		if l.since == 0 || time.Since(l.seen) > l.after {
			// It comes, or was away for so long that another one works now.
			l.since = now
		}
		if l.reported > now+uint64(l.after.Milliseconds()) {
			// The clock was put back: of its rows one of before would go on to count.
			l.name, l.since = newName(), now
		}
		begun := time.Now()
		if err := l.report(ctx, true); err != nil {
			return false, err
		}
		l.seen, l.reported = begun, now
	}
	var first string
	var reached uint32
	err = l.tables.Conn().QueryRow(ctx, `SELECT argMinIf(worker, (since, worker), `+within+`), max(mc_seqno)
		FROM (SELECT worker, argMax(since, seen) AS since, max((seen, live)) AS newest, max(mc_seqno) AS mc_seqno FROM metadata_workers GROUP BY worker)`,
		uint64(l.after.Milliseconds())).Scan(&first, &reached)
	l.mcSeqno = max(l.mcSeqno, reached)
	return first == l.name, err
}

// late reports whether it is time to be seen.
func (l *lease) late() bool { return time.Since(l.seen) >= l.after/beats }

func (l *lease) now(ctx context.Context) (ms uint64, err error) {
	err = l.tables.Conn().QueryRow(ctx, "SELECT toUInt64(toUnixTimestamp64Milli(now64(3)))").Scan(&ms)
	return ms, err
}

// report writes that this process is there, or that it goes.
func (l *lease) report(ctx context.Context, live bool) error {
	return l.tables.Conn().Exec(clickhouse.Foreground(ctx), "INSERT INTO metadata_workers (worker, since, seen, live, mc_seqno) SELECT ?, ?, toUnixTimestamp64Milli(now64(3)), ?, ?",
		l.name, l.since, live, l.mcSeqno)
}

// leaveTime bounds how long a process that ends takes to report it.
const leaveTime = 3 * time.Second

// leave lets the next one work at once. When that fails, the next one
// waits for the end of the lease.
func (l *lease) leave(ctx context.Context) {
	if l.since == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_ = l.report(ctx, false)
}

// Worker is a process that fetched, or stood by, within the lease; empty where none did.
// It is for those who would take the tables away from it.
func Worker(ctx context.Context, tables *clickhouse.Client, lease time.Duration) (name string, err error) {
	err = tables.Conn().QueryRow(ctx, `SELECT minIf(worker, `+within+`)
		FROM (SELECT worker, max((seen, live)) AS newest FROM metadata_workers GROUP BY worker)`, uint64(lease.Milliseconds())).Scan(&name)
	return name, err
}
