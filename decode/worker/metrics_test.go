package worker

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestWhatAlarmsArePutOnIsCountedFromTheBeginningOfAPartitionOn(t *testing.T) {
	s := onEmbedded(t, 1)
	bundles := realBundles(t)[:2]
	s.feed(bundles)
	c := s.start(DefaultConfiguration())
	defer s.stop(c)
	s.awaitDone(c, bundles[1].mcSeqno)
	for name, counters := range map[string]prometheus.Collector{"gaps_total": c.metrics.gaps, "failures_total": c.metrics.failures} {
		if n := testutil.CollectAndCount(counters); n != 1 {
			t.Errorf("%s has %d partitions, want the one that is worked on", name, n)
		}
	}
}
