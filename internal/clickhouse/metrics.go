package clickhouse

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	retries *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer) metrics {
	retries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tonscribe_clickhouse_retries_total",
		Help: "Statements that failed and were tried again.",
	}, []string{"statement"})
	// The writer's and the reader's client of a process count together.
	if err := registry.Register(retries); err != nil {
		var already prometheus.AlreadyRegisteredError
		if !errors.As(err, &already) {
			panic(err)
		}
		retries = already.ExistingCollector.(*prometheus.CounterVec)
	}
	return metrics{retries}
}
