package send

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"

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
