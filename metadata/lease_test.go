package metadata_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/metadata"
)

func TestOfSeveralProcessesOneFetchesAndAnotherFollows(t *testing.T) {
	web, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	first := i.start(nil)
	i.await("the first process is there", func() bool { return i.workers() == 1 })
	second := i.start(nil)
	i.await("the second process is there", func() bool { return i.workers() == 2 })
	var links []string
	for n := range 50 {
		links = append(links, fmt.Sprintf("%s/%d", web.URL, n))
	}
	i.bundle(links...)
	i.awaitAll(len(links))
	i.stop(first)
	i.bundle(web.URL + "/next")
	i.awaitShown(web.URL+"/next", named("/next"))
	i.stop(second)
	for _, path := range web.paths() {
		if n := web.count(path); n != 1 {
			t.Errorf("%s was asked for %d times, want 1", path, n)
		}
	}
}

func TestProcessThatDiedIsFollowedWhenItsLeaseIsOver(t *testing.T) {
	web, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	i.exec("INSERT INTO metadata_workers SELECT 'dead', 1, toUnixTimestamp64Milli(now64(3)), true, 0")
	i.bundle(web.URL + "/1")
	i.start(func(c *metadata.Configuration) { c.Lease = 2 * time.Second })
	i.awaitShown(web.URL+"/1", named("/1"))
	var waited int64
	err := i.Conn().QueryRow(t.Context(), "SELECT toInt64(fetched) - toInt64((SELECT seen FROM metadata_workers WHERE worker = 'dead')) FROM metadata").Scan(&waited)
	if err != nil || waited < 2000 {
		t.Errorf("the document was there %d ms after the dead process was seen last, %v; want its lease of 2000 or more", waited, err)
	}
}

func TestProcessWaitsForRoomBeforeItIsSeen(t *testing.T) {
	i := newIndex(t)
	asked, room := make(chan struct{}, 1), make(chan struct{})
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = i.dsn
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent(), Room: func(ctx context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-room:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	i.Client = client
	i.start(nil)
	i.await("room is asked for, or the process is there", func() bool { return len(asked) == 1 || i.workers() == 1 })
	if n := i.workers(); n != 0 {
		t.Errorf("%d processes are there without room, want none", n)
	}
	close(room)
	i.await("the process is there", func() bool { return i.workers() == 1 })
}
