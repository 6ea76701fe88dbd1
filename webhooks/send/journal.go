package send

import (
	"context"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
)

// journal writes rows of attempts, together those that come while it writes.
type journal struct {
	tables  *clickhouse.Client
	entries chan entry
}

type entry struct {
	attempt Attempt
	done    chan error
}

const (
	// maxJournal is how many rows are written at once.
	maxJournal = 1024
	// journalPause is the least time from one insert to the next: each makes a part.
	journalPause = 15 * time.Millisecond
)

func newJournal(tables *clickhouse.Client) *journal {
	return &journal{tables: tables, entries: make(chan entry, maxJournal)}
}

// write returns when the row is durable, or when ctx ends: then it may come to be so.
func (j *journal) write(ctx context.Context, a *Attempt) error {
	a.changed = max(a.changed+1, uint64(time.Now().UnixMicro()))
	e := entry{*a, make(chan error, 1)}
	select {
	case j.entries <- e:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run writes until ctx ends.
func (j *journal) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case first := <-j.entries:
			began := time.Now()
			j.insert(ctx, first)
			if err := lifetime.Sleep(ctx, journalPause-time.Since(began)); err != nil {
				return
			}
		}
	}
}

// insert writes an entry, and those that wait.
func (j *journal) insert(ctx context.Context, first entry) {
	entries := []entry{first}
	for len(entries) < maxJournal {
		select {
		case e := <-j.entries:
			entries = append(entries, e)
			continue
		default:
		}
		break
	}
	rows := make([]Attempt, len(entries))
	for n := range entries {
		rows[n] = entries[n].attempt
	}
	err := insertAttempts(ctx, j.tables, rows)
	for _, e := range entries {
		e.done <- err
	}
}
