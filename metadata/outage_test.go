package metadata

import (
	"bytes"
	"context"
	"io"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
)

func TestAnOutageOfClickHouseIsCountedEachTimeAndToldNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		left := 30
		want := float64(left)
		configuration := clickhouse.DefaultConfiguration()
		configuration.DSN = "clickhouse://127.0.0.1:1"
		tables, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent(), Room: func(ctx context.Context) error {
			if left == 0 {
				stop()
				return ctx.Err()
			}
			left--
			return io.ErrUnexpectedEOF
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer tables.Close()
		var out bytes.Buffer
		c, err := New(DefaultConfiguration(), Dependencies{ClickHouse: tables, Report: report.Reporter{Log: zerolog.New(&out), Metrics: prometheus.NewRegistry()}})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.run(ctx); err != nil {
			t.Error(err)
		}
		if n := testutil.ToFloat64(c.metrics.broken); n != want {
			t.Errorf("%v failures are counted, want %v", n, want)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines < 1 || lines > 3 {
			t.Errorf("%d lines of %v failures, want one in ten seconds", lines, want)
		}
	})
}
