package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/realdata"
)

// tablesMade is how many tables and views the engine's folder has.
func tablesMade(data string) int {
	made, _ := filepath.Glob(filepath.Join(data, "clickhouse", "data", "metadata", "tonscribe", "*.sql"))
	return len(made)
}

func TestKillingTheEngineWhileUpStartsOnlyDelaysTheStart(t *testing.T) {
	c := chain{realdata.Path(t, "blocks", "mainnet_genesis_mc1-199"), 60}
	want := c.undisturbed(t)

	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, c.upArguments(data, listen)...)
	started := func() bool { return strings.Contains(p.Output(), `"message":"serving"`) }
	kills := 0
	for name, come := range moments(data, p) {
		harness.Await(t, time.Minute, func() bool { return come() || started() || !p.Running() }, func() string { return name + " does not come" })
		if !p.Running() || started() {
			break
		}
		killChildren(t, p.PID())
		kills++
	}
	p.AwaitReady("http://"+listen, 2*time.Minute)
	if kills < 4 {
		t.Errorf("%d kills before the start was over, want at least 4", kills)
	}
	check(t, "http://"+listen, harness.ReadRunFile(t, data).ClickHouse, want)
	p.Stop()
}

// moments are those of a start, in their order: before the engine has a port,
// when it has one, and while the tables are made.
func moments(data string, p *harness.Process) func(yield func(string, func() bool) bool) {
	engineRuns := func() bool { return exists(filepath.Join(data, "clickhouse", "log", "stderr.log")) }
	accepted := func(times int) func() bool {
		return func() bool { return strings.Count(p.Output(), "clickhouse accepts connections") >= times }
	}
	return func(yield func(string, func() bool) bool) {
		_ = yield("the engine's process", engineRuns) &&
			yield("its port", accepted(1)) &&
			yield("the first table", func() bool { return tablesMade(data) >= 2 }) &&
			yield("ten tables", func() bool { return tablesMade(data) >= 10 }) &&
			yield("thirty tables", func() bool { return tablesMade(data) >= 30 }) &&
			yield("fifty tables", func() bool { return tablesMade(data) >= 50 }) &&
			yield("the first key", func() bool { return exists(filepath.Join(data, "api-key")) })
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
