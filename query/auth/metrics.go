package auth

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	anonymous, withKey             prometheus.Counter
	limitedAddress, limitedKey     prometheus.Counter
	unknownKey, wrongNetwork       prometheus.Counter
	refreshFailures, usageFailures prometheus.Counter
	redisFailures                  prometheus.Counter
}

func newMetrics(r prometheus.Registerer, c *Component) metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tonscribe_auth_requests_total", Help: "Requests to the layers of the API by what became of them.",
	}, []string{"result"})
	failures := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tonscribe_auth_failures_total", Help: "Failures to read keys, to write their usage, and to reach Redis.",
	}, []string{"what"})
	keys := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tonscribe_auth_keys", Help: "API keys in use.",
	}, func() float64 { return float64(c.keys.Len()) })
	addresses := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tonscribe_auth_addresses", Help: "Client addresses that are remembered for their limit.",
	}, func() float64 { return float64(c.addresses.Size()) })
	r.MustRegister(requests, failures, keys, addresses)
	return metrics{
		anonymous: requests.WithLabelValues("anonymous"), withKey: requests.WithLabelValues("key"),
		limitedAddress: requests.WithLabelValues("anonymous_limited"), limitedKey: requests.WithLabelValues("key_limited"),
		unknownKey: requests.WithLabelValues("unknown_key"), wrongNetwork: requests.WithLabelValues("wrong_network"),
		refreshFailures: failures.WithLabelValues("keys"), usageFailures: failures.WithLabelValues("usage"),
		redisFailures: failures.WithLabelValues("redis"),
	}
}
