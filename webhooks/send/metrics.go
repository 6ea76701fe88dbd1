package send

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
)

type metrics struct {
	attempts    *prometheus.CounterVec
	ended       *prometheus.CounterVec
	ignored     *prometheus.CounterVec
	retries     prometheus.Counter
	repeated    prometheus.Counter
	postponed   prometheus.Counter
	broken      prometheus.Counter
	sinceBlock  prometheus.Histogram
	sinceTaken  prometheus.Histogram
	late        prometheus.Histogram
	phases      *prometheus.HistogramVec
	connections *prometheus.CounterVec
	inFlight    prometheus.Gauge
	queued      *prometheus.GaugeVec
	oldest      *prometheus.GaugeVec
	worst       *prometheus.GaugeVec
	breakers    *prometheus.GaugeVec
	bundle      *prometheus.GaugeVec
	disabled    prometheus.Counter
}

func newMetrics(r report.Reporter) *metrics {
	m := r.Meter("send")
	made := &metrics{
		attempts:    m.Counters("attempts_total", "Attempts, by why they were made and what became of them: ok, or the class of the failure.", "kind", "class"),
		ended:       m.Counters("deliveries_total", "Deliveries that ended, by their state.", "state"),
		ignored:     m.Counters("ignored_total", "Deliveries that were ignored or cancelled, by reason.", "reason"),
		retries:     m.Counter("retries_total", "Attempts of the schedule after the first."),
		repeated:    m.Counter("repeated_total", "Events of the log that were known already."),
		postponed:   m.Counter("postponed_total", "Attempts that were put off because the endpoint, its secret or ClickHouse could not be had."),
		broken:      m.Counter("broken_total", "Times that ClickHouse failed to read."),
		sinceBlock:  m.Histogram("since_block_seconds", "Time from the block of a transfer to its first attempt.", 0.05, 2, 14),
		sinceTaken:  m.Histogram("since_taken_seconds", "Time from the log to the first attempt.", 0.001, 2, 16),
		late:        m.Histogram("late_seconds", "Time from when a retry is due to when it begins.", 0.001, 2, 16),
		phases:      m.Histograms("phase_seconds", "Time of the phases of attempts.", 0.0005, 3, 11, "phase"),
		connections: m.Counters("connections_total", "Connections of attempts, by whether they were reused.", "reused"),
		inFlight:    m.Gauge("in_flight", "Attempts under way."),
		queued:      m.Gauges("queued", "Deliveries in hand, by partition.", "partition"),
		oldest:      m.Gauges("oldest_seconds", "Age of the oldest delivery in hand that has not ended, by partition.", "partition"),
		worst:       m.Gauges("worst_oldest_seconds", "The same for the merchants with the oldest ones.", "partition", "merchant"),
		breakers:    m.Gauges("endpoints", "Endpoints that events went to within the hour, by whether their breaker is open.", "breaker"),
		bundle:      m.Gauges("bundle", "Masterchain seqno up to which events were taken up, by partition.", "partition"),
		disabled:    m.Counter("disabled_total", "Endpoints that were disabled because they took nothing."),
	}
	for _, state := range []State{Delivered, Exhausted, Ignored, Cancelled} { // from the beginning on: alarms are for what a counter rises by
		made.ended.WithLabelValues(string(state))
	}
	return made
}

// note counts an attempt.
func (m *metrics) note(a *Attempt) {
	class := cmp.Or(string(a.Class), "ok")
	m.attempts.WithLabelValues(string(a.Kind), class).Inc()
	for _, p := range []struct {
		name string
		took time.Duration
	}{{"dns", a.DNS}, {"connect", a.Connect}, {"tls", a.TLS}, {"first_byte", a.FirstByte}, {"total", a.Total}} {
		if p.took > 0 {
			m.phases.WithLabelValues(p.name).Observe(p.took.Seconds())
		}
	}
	switch {
	case a.reused:
		m.connections.WithLabelValues("yes").Inc()
	case a.Remote != "":
		m.connections.WithLabelValues("no").Inc()
	}
}

// end counts a delivery that has ended.
func (m *metrics) end(d *Delivery) {
	m.ended.WithLabelValues(string(d.State)).Inc()
	if d.Reason != "" {
		m.ignored.WithLabelValues(d.Reason).Inc()
	}
}

// age is that of the oldest delivery of a merchant.
type age struct {
	merchant ID
	seconds  float64
}

// shownWorst is how many merchants the metrics name.
const shownWorst = 5

func worstOf(ages []age) []age {
	slices.SortFunc(ages, func(a, b age) int { return cmp.Compare(b.seconds, a.seconds) })
	return ages[:min(len(ages), shownWorst)]
}

// measure sets the gauges, to nothing for a queue that has ended.
func (q *queue) measure(now time.Time) {
	var ages []age
	held := 0
	if !now.IsZero() {
		q.mutex.Lock()
		for merchant, b := range q.merchants {
			held += len(b.held)
			one := age{merchant: merchant}
			for _, detected := range b.held {
				one.seconds = max(one.seconds, now.Sub(detected).Seconds())
			}
			if len(b.held) > 0 {
				ages = append(ages, one)
			}
		}
		q.mutex.Unlock()
	}
	ages = worstOf(ages)
	q.metrics.queued.WithLabelValues(q.label).Set(float64(held))
	q.metrics.worst.DeletePartialMatch(map[string]string{"partition": q.label})
	oldest := 0.0
	for n, a := range ages {
		if n == 0 {
			oldest = a.seconds
		}
		q.metrics.worst.WithLabelValues(q.label, textOf(a.merchant)).Set(a.seconds)
	}
	q.metrics.oldest.WithLabelValues(q.label).Set(oldest)
	open, closed := q.conditions.count(time.Now())
	q.metrics.breakers.WithLabelValues("open").Set(float64(open))
	q.metrics.breakers.WithLabelValues("closed").Set(float64(closed))
}
