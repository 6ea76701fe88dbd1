package send

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/report"
)

func TestEveryEndOfADeliveryIsCountedFromTheBeginningOn(t *testing.T) {
	m := newMetrics(report.Silent())
	if n := testutil.CollectAndCount(m.ended); n != 4 {
		t.Errorf("%d states are counted before anything was sent, want delivered, exhausted, ignored and cancelled", n)
	}
}
