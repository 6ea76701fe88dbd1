package metadata

import (
	"testing"
	"time"

	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

const day = 24 * 60 * 60 * 1000 // in milliseconds

// clocked is a lease, and a statement that says of a worker that it was seen a day from now.
func clocked(t *testing.T) (l *lease, ahead func(worker string)) {
	t.Helper()
	l = &lease{tables: clienttest.ClickHouse(t, enginetest.Tables(t, "metadata_workers").DSN()), name: "this", after: time.Minute}
	return l, func(worker string) {
		t.Helper()
		if err := l.tables.Conn().Exec(t.Context(), "INSERT INTO metadata_workers SELECT ?, 1, toUnixTimestamp64Milli(now64(3)) + ?, true, 0", worker, day); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAWorkerOfBeforeTheClockWasPutBackHasNoLease(t *testing.T) {
	l, ahead := clocked(t)
	ahead("dead")
	if mine, err := l.take(t.Context()); err != nil || !mine {
		t.Errorf("the lease is taken: %t, %v", mine, err)
	}
}

func TestAWorkerGoesOnAfterTheClockWasPutBack(t *testing.T) {
	l, ahead := clocked(t)
	if mine, err := l.take(t.Context()); err != nil || !mine {
		t.Fatalf("the lease is taken: %t, %v", mine, err)
	}
	ahead(l.name)
	l.reported += day
	l.seen = l.seen.Add(-l.after / beats)
	if mine, err := l.take(t.Context()); err != nil || !mine {
		t.Errorf("after the clock was put back the lease is taken: %t, %v", mine, err)
	}
	if worker, err := Worker(t.Context(), l.tables, l.after); err != nil || worker != l.name {
		t.Errorf("the worker is %q, %v; want %q", worker, err, l.name)
	}
}
