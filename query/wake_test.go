package query

import (
	"testing"
	"time"
)

func TestAWokenFollowerDoesNotWaitForTheNextPoll(t *testing.T) {
	w := newWorld(t, realBundles(t))
	w.setWatermark(t, w.bundles[4])
	wake := make(chan struct{}, 1)
	s := w.serve(t, func(c *Configuration) { c.Store.Poll, c.Store.Wake = 24*time.Hour, wake })
	s.await(w.watermark)
	w.setWatermark(t, w.bundles[6])
	wake <- struct{}{}
	s.await(w.watermark)
}
