package worker

import (
	"errors"
	"sync/atomic"
	"testing"

	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/test/support/enginetest"
)

// What is committed is not published again, so that the log must have it for good.
func TestNoBundleIsDoneBeforeWhatItGaveIsOnTheDisk(t *testing.T) {
	log := enginetest.Kafka(t)
	full, tried := atomic.Bool{}, make(chan struct{}, 100)
	full.Store(true)
	s := newStage(t, 1, kafka.Dependencies{Dial: log.Dial, Epoch: log.Epoch(), Sync: func(string, int) error {
		if !full.Load() {
			return nil
		}
		tried <- struct{}{}
		return errors.New("no space left on device")
	}}, log.Address())
	bundles := realBundles(t)[:3]
	s.feed(bundles)
	c := s.start(DefaultConfiguration())
	defer s.stop(c)
	for range 6 { // of three topics each
		<-tried
	}
	if done, err := s.Done(t.Context(), c.configuration.Group, schema.Blocks.Name, 0); err != nil || done != 0 {
		t.Errorf("bundle %d is done, %v; want none", done, err)
	}
	full.Store(false)
	s.awaitDone(c, bundles[len(bundles)-1].mcSeqno)
}
