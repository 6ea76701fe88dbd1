package enginetest

import (
	"context"
	"testing"

	"tonscribe/internal/engine"
)

// Kafka is an embedded log of the test's own, closed at its end. Clients give
// its Address and Dial to internal/kafka and close before the test ends.
func Kafka(t testing.TB) *engine.Kafka {
	t.Helper()
	k, err := engine.StartKafka(t.Context(), engine.KafkaOptions{Dir: t.TempDir(), Report: Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return k
}
