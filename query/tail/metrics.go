package tail

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	bundles, bytes, rows, behind prometheus.Gauge
}

func newMetrics(m report.Meter) metrics {
	return metrics{
		bundles: m.Gauge("bundles", "Complete bundles held in memory that were taken from the log."),
		bytes:   m.Gauge("bytes", "Memory of these bundles, and of those that are not complete yet."),
		rows:    m.Gauge("rows", "Rows of these bundles, of all tables."),
		behind:  m.Gauge("behind_bundles", "How many bundles the newest one held is behind the newest one in the log."),
	}
}

// count brings the metrics up to date.
func (t *Tail) count() {
	t.metrics.bundles.Set(float64(len(t.Bundles())))
	t.metrics.bytes.Set(float64(t.held.bytes()))
	t.metrics.rows.Set(float64(t.held.rows))
	if t.newest > 0 {
		t.metrics.behind.Set(float64(max(t.inLog, t.newest) - t.newest))
	}
}
