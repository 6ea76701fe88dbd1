package worker

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func value(t testing.TB, metric prometheus.Collector) float64 {
	t.Helper()
	return testutil.ToFloat64(metric)
}
