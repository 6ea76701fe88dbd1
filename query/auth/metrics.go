package auth

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	anonymous, withKey             prometheus.Counter
	limitedAddress, limitedKey     prometheus.Counter
	unknownKey, wrongNetwork       prometheus.Counter
	refreshFailures, usageFailures prometheus.Counter
	redisFailures                  prometheus.Counter
}

func newMetrics(m report.Meter, c *Component) metrics {
	requests := m.Counters("requests_total", "Requests to the layers of the API by what became of them.", "result")
	failures := m.Counters("failures_total", "Failures to read keys, to write their usage, and to reach Redis.", "what")
	m.GaugeOf("keys", "API keys in use.", func() float64 { return float64(c.keys.Len()) })
	m.GaugeOf("addresses", "Client addresses that are remembered for their limit.", func() float64 { return float64(c.addresses.Size()) })
	return metrics{
		anonymous: requests.WithLabelValues("anonymous"), withKey: requests.WithLabelValues("key"),
		limitedAddress: requests.WithLabelValues("anonymous_limited"), limitedKey: requests.WithLabelValues("key_limited"),
		unknownKey: requests.WithLabelValues("unknown_key"), wrongNetwork: requests.WithLabelValues("wrong_network"),
		refreshFailures: failures.WithLabelValues("keys"), usageFailures: failures.WithLabelValues("usage"),
		redisFailures: failures.WithLabelValues("redis"),
	}
}
