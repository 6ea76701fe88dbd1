package send

import (
	"bytes"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
)

func TestEveryEndOfADeliveryIsCountedFromTheBeginningOn(t *testing.T) {
	m := newMetrics(report.Silent())
	if n := testutil.CollectAndCount(m.ended); n != 4 {
		t.Errorf("%d states are counted before anything was sent, want delivered, exhausted, ignored and cancelled", n)
	}
}

func TestNoAttemptComesBeforeItsBlockWhereClocksDiffer(t *testing.T) {
	q := &queue{Component: &Component{metrics: newMetrics(report.Silent())}}
	now := time.Now()
	q.observe(&delivery{Delivery: Delivery{Happened: now.Add(time.Hour)}, number: 1, taken: now})
	var m dto.Metric
	must(t, q.metrics.sinceBlock.Write(&m))
	if h := m.GetHistogram(); h.GetSampleCount() != 1 || h.GetSampleSum() != 0 {
		t.Errorf("%d attempts, %v s from their blocks, want one and 0", h.GetSampleCount(), h.GetSampleSum())
	}
}

func TestAnOutageOfClickHouseIsCountedEachTimeAndToldNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := report.Reporter{Log: zerolog.New(&out), Metrics: prometheus.NewRegistry()}
		q := &queue{Component: &Component{report: r, metrics: newMetrics(r)}}
		left := 60
		want := float64(left)
		must(t, q.persist(t.Context(), func() error {
			if left == 0 {
				return nil
			}
			left--
			return io.ErrUnexpectedEOF
		}))
		if n := testutil.ToFloat64(q.metrics.broken); n != want {
			t.Errorf("%v failures are counted, want %v", n, want)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines < 1 || lines > 3 {
			t.Errorf("%d lines of %v failures, want one in ten seconds", lines, want)
		}
	})
}
