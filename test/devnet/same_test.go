package devnet

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/litetest"
)

// indexed runs `up` over a range and gives the fingerprints of its tables.
// flags are further ones.
func indexed(t *testing.T, source, last string, flags ...string) map[string]string {
	t.Helper()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, append([]string{"up", "--data", data, "--listen", listen, "--source", source, "--from", "1", "--to", last, "--serve"}, flags...)...)
	p.AwaitReady("http://"+listen, readLimit())
	prints := harness.Fingerprint(t, harness.ReadRunFile(t, data).ClickHouse)
	p.Stop()
	return prints
}

// readLimit is for the reading of a whole chain.
func readLimit() time.Duration {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return 20 * time.Minute
	}
	return 5 * time.Minute
}

// resharded is a chain with a split in its second third and a merge in its last
// one.
func resharded(t *testing.T, blocks, perBlock int) *litetest.Devnet {
	t.Helper()
	d := litetest.NewDevnet(t, 6, 1)
	for _, third := range []struct {
		ask    func(testing.TB)
		shards int
	}{{nil, 2}, {d.Split, 3}, {d.Merge, 2}} {
		if third.ask != nil {
			third.ask(t)
		}
		d.Grow(t, blocks/3, perBlock)
		if got := d.Shards(); got != third.shards {
			t.Fatalf("%d shards after block %d, want %d", got, len(d.Bundles), third.shards)
		}
	}
	return d
}

// rowsOf is the number of rows in a fingerprint.
func rowsOf(t *testing.T, prints map[string]string, table string) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(prints[table], &n); err != nil {
		t.Fatalf("table %s: %q: %v", table, prints[table], err)
	}
	return n
}

// No flag names the zerostates: the source fetches those that its global config
// leads to.
func TestLiteServerAndFilesGiveTheSameTables(t *testing.T) {
	blocks, perBlock := 36, 80
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		blocks, perBlock = 501, 205
	}
	d := resharded(t, blocks, perBlock)
	dir, last := t.TempDir(), fmt.Sprint(len(d.Bundles))
	d.Write(t, dir)
	config := d.Config(t)
	want := indexed(t, "files:"+dir, last)
	got := indexed(t, "liteserver:"+config, last)
	for _, difference := range harness.Differences(got, want) {
		t.Errorf("through the lite server: %s through files", difference)
	}
	if n := rowsOf(t, want, "transactions"); n < blocks*perBlock*9/10 {
		t.Errorf("%d transactions in %d blocks, want about %d", n, blocks, blocks*perBlock)
	}
	t.Logf("%d tables of %s transactions are equal", len(want), strings.Fields(want["transactions"])[0])
}

func TestWithoutAZerostateTheIndexGoesOnAndSaysSoOnce(t *testing.T) {
	d := litetest.NewDevnet(t, 6, 12)
	server := litetest.NewFaulty(d.Handle)
	server.BreakFor(asksForState, refuses)
	config := litetest.GlobalConfig(t, d.Zero(), d.Init(), litetest.Listen(t, server.Handle))
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--source", "liteserver:"+config, "--from", "1", "--to", fmt.Sprint(len(d.Bundles)))
	if err := p.Wait(readLimit()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(p.Output(), "the state that the workchain begins with is not at hand"); got != 2 || server.Count() == 0 {
		t.Errorf("said %d times that a zerostate is not at hand and asked %d times for one, want 2, for each workchain, and some\n%s", got, server.Count(), p.Output())
	}
}

func asksForState(query any) bool {
	_, ok := query.(ton.GetState)
	return ok
}

// refuses is what public lite servers say to who asks for whole states.
func refuses(context.Context, litetest.Request, litetest.Handler) any {
	return ton.LSError{Code: 651, Text: "cannot request total state: possibly too large"}
}
