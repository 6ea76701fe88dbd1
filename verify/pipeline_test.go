package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"tonscribe/decode/detect"
	"tonscribe/decode/traces"
	"tonscribe/decode/worker"
	"tonscribe/ingest"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/sink"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/realdata"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// mylocalton is a whole chain from its first block, with messages and a split.
func mylocalton(t testing.TB) string {
	return "archive:" + realdata.Path(t, "packs", "mylocalton_mc1-264")
}

func genesis(t testing.TB) string {
	return "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
}

// tables are the tables of a range of a real chain, filled by the real stages.
type tables struct {
	testing.TB
	dsn    string
	client *clickhouse.Client
	source ingest.Configuration
	to     uint32
	states string // folder with the states that the chain begins with; empty: states are not followed
}

type stage interface {
	Start(context.Context) error
	Stop(context.Context) error
}

func load(t testing.TB, source string, to uint32, partitions int) *tables {
	t.Helper()
	l := emptyTables(t)
	l.source.Source, l.to = source, to
	l.fill(partitions)
	return l
}

func emptyTables(t testing.TB) *tables {
	t.Helper()
	return tablesAt(t, enginetest.Tables(t).DSN())
}

func tablesAt(t testing.TB, dsn string) *tables {
	t.Helper()
	client := clienttest.ClickHouse(t, dsn)
	return &tables{TB: t, dsn: dsn, client: client, source: ingest.DefaultConfiguration()}
}

// startSink gives a log with topics, and runs a sink on it.
func (l *tables) startSink(partitions int) (log *kafka.Client, stop func()) {
	l.Helper()
	client := clienttest.Kafka(l, enginetest.Kafka(l), partitions, schema.Topics...)
	out, err := sink.New(sink.DefaultConfiguration(), sink.Dependencies{Report: enginetest.Report(l), Kafka: client, ClickHouse: l.client})
	if err != nil {
		l.Fatal(err)
	}
	if err := out.Start(l.Context()); err != nil {
		l.Fatal(err)
	}
	return client, func() {
		if err := out.Stop(context.Background()); err != nil {
			l.Error(err)
		}
	}
}

// fill runs the stages until the range is in the tables.
func (l *tables) fill(partitions int) {
	l.Helper()
	client, stop := l.startSink(partitions)
	defer stop()
	c := l.source
	c.From, c.To, c.OnGap, c.SkipAfter = 1, l.to, ingest.Skip, 1
	in, err := ingest.New(c, ingest.Dependencies{Report: report.Silent(), Log: client})
	if err != nil {
		l.Fatal(err)
	}
	d := worker.DefaultConfiguration()
	dependencies := worker.Dependencies{Report: report.Silent(), Kafka: client}
	if l.states != "" {
		d.Cells.Dir, dependencies.Zerostate = l.TempDir(), l.zerostate
	}
	decode, err := worker.New(d, dependencies)
	if err != nil {
		l.Fatal(err)
	}
	configuration := detect.DefaultConfiguration()
	configuration.Dir = l.TempDir()
	facts, err := detect.New(configuration, detect.Dependencies{Report: report.Silent(), Kafka: client})
	if err != nil {
		l.Fatal(err)
	}
	whole := traces.DefaultConfiguration()
	whole.Dir = l.TempDir()
	assembled, err := traces.New(whole, traces.Dependencies{Report: report.Silent(), Kafka: client})
	if err != nil {
		l.Fatal(err)
	}
	for _, s := range []stage{in, decode, facts, assembled} {
		if err := s.Start(l.Context()); err != nil {
			l.Fatal(err)
		}
		defer s.Stop(context.Background())
	}
	l.await()
}

// await polls the watermark, and the seals that come after it: ClickHouse has no
// way to tell.
func (l *tables) await() {
	l.Helper()
	late := time.After(2 * time.Minute)
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		w, err := clickhouse.ReadWatermark(l.Context(), l.client.Conn())
		if err == nil && w.MCSeqno == l.to {
			var missing uint64
			missing, err = (&database{l.client}).number(l.Context(), `SELECT toUInt64(uniqExact((topic, partition)) -
				(SELECT uniqExact((topic, partition)) FROM seals WHERE mc_seqno = ?)) FROM progress`, l.to)
			if err == nil && missing == 0 {
				tick.Stop()
				return
			}
		}
		select {
		case <-tick.C:
		case <-late:
			l.Fatalf("the tables are not complete: watermark %d, %v", w.MCSeqno, err)
		case <-l.Context().Done():
			l.Fatal(l.Context().Err())
		}
	}
}

func (l *tables) exec(statement string) {
	l.Helper()
	var err error
	if table, _, alters := strings.Cut(strings.TrimPrefix(statement, "ALTER TABLE "), " "); alters && strings.Contains(statement, "mutations_sync") {
		err = enginetest.Mutate(l.Context(), l.client.Conn(), table, statement)
	} else {
		err = l.client.Conn().Exec(l.Context(), statement)
	}
	if err != nil {
		l.Fatalf("%s: %v", statement, err)
	}
}

func (l *tables) verify(change func(*Options)) (*Report, error) {
	l.Helper()
	o := Options{DSN: l.dsn, Out: l.Output(), patience: time.Millisecond}
	if change != nil {
		change(&o)
	}
	return Run(l.Context(), o)
}
