package metadata

import (
	"context"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
)

// turn decides which of several processes works: of those that were seen within
// the lease, the one that has been there longest. They tell each other through
// the table metadata_workers, by the clock of its server. Where replicas of the
// table lag, two may work for a moment; they then fetch something twice, which
// the table of documents does not mind.
type turn struct {
	tables *clickhouse.Client
	name   string
	lease  time.Duration

	since   uint64    // when this process came, 0 before
	told    time.Time // when it was last seen, by its own clock
	mcSeqno uint32    // up to where it has read the links
}

// beats is how often a process is seen within the lease.
const beats = 3

// take tells now and then that this process is there, and says whether it is its
// turn.
func (t *turn) take(ctx context.Context) (mine bool, err error) {
	if t.since == 0 || time.Since(t.told) > t.lease {
		// It comes, or was away for so long that another one works now.
		if t.since, err = t.now(ctx); err != nil {
			return false, err
		}
	}
	if begun := time.Now(); t.late() {
		if err := t.tell(ctx, true); err != nil {
			return false, err
		}
		t.told = begun
	}
	var first string
	var reached uint32
	err = t.tables.Conn().QueryRow(ctx, `SELECT argMinIf(worker, (since, worker), newest.2 AND newest.1 + ? > toUnixTimestamp64Milli(now64(3))), max(mc_seqno)
		FROM (SELECT worker, argMax(since, seen) AS since, max((seen, live)) AS newest, max(mc_seqno) AS mc_seqno FROM metadata_workers GROUP BY worker)`,
		uint64(t.lease.Milliseconds())).Scan(&first, &reached)
	t.mcSeqno = max(t.mcSeqno, reached)
	return first == t.name, err
}

// late says that it is time to be seen.
func (t *turn) late() bool { return time.Since(t.told) >= t.lease/beats }

func (t *turn) now(ctx context.Context) (ms uint64, err error) {
	err = t.tables.Conn().QueryRow(ctx, "SELECT toUInt64(toUnixTimestamp64Milli(now64(3)))").Scan(&ms)
	return ms, err
}

func (t *turn) tell(ctx context.Context, live bool) error {
	ctx = driver.Context(ctx, driver.WithSettings(driver.Settings{"distributed_foreground_insert": 1}))
	return t.tables.Conn().Exec(ctx, "INSERT INTO metadata_workers (worker, since, seen, live, mc_seqno) SELECT ?, ?, toUnixTimestamp64Milli(now64(3)), ?, ?",
		t.name, t.since, live, t.mcSeqno)
}

// leaveTime bounds how long a process that ends tells so.
const leaveTime = 3 * time.Second

// leave lets the next one work at once. When it cannot be told, the next one
// waits for the end of the lease.
func (t *turn) leave(ctx context.Context) {
	if t.since == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	_ = t.tell(ctx, false)
}
