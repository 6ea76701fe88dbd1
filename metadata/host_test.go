package metadata

import (
	"errors"
	"testing"
	"time"
)

func TestPausesGrowWithFailuresUpToTheAgeOfARefresh(t *testing.T) {
	c := Configuration{Retry: time.Minute, Refresh: time.Hour}
	for attempts, want := range map[uint32]time.Duration{
		1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 4_000_000_000: time.Hour,
	} {
		if got := retryAfter(c, attempts); got != want {
			t.Errorf("after %d failures the pause is %s, want %s", attempts, got, want)
		}
	}
}

func TestHostThatWantsToBeLeftAloneIs(t *testing.T) {
	const pause = 100 * time.Millisecond
	busy := &Failure{Reason: ReasonNetwork, Busy: true, Err: errors.New("no answer")}
	asks := &Failure{Reason: ReasonStatus, Busy: true, After: 5 * time.Minute, Err: errors.New("429")}
	for name, c := range map[string]struct {
		lane     uint16
		failures int
		problem  *Failure
		want     time.Duration
	}{
		"a document":              {lane: 1, want: pause},
		"not found":               {lane: 1, failures: 3, problem: &Failure{Reason: ReasonStatus, Err: errors.New("404")}, want: pause},
		"the first time":          {lane: 1, problem: busy, want: 2 * pause},
		"the third time":          {lane: 1, failures: 2, problem: busy, want: 8 * pause},
		"always":                  {lane: 1, failures: 1_000_000, problem: busy, want: 512 * pause},
		"as long as it asks":      {lane: 1, problem: asks, want: 5 * time.Minute},
		"a document in the link":  {lane: LaneInLink, want: 0},
		"much longer than others": {lane: 1, problem: &Failure{Busy: true, After: 18 * time.Hour, Err: errors.New("429")}, want: longestAsked},
	} {
		if got := rest(c.lane, pause, c.failures, c.problem); got != c.want {
			t.Errorf("%s: the pause is %s, want %s", name, got, c.want)
		}
	}
}

func TestLinksOfOneHostShareALane(t *testing.T) {
	if a, b := LaneOf("https://Host.site/1"), LaneOf(" http://host.site:8080/2"); a != b || a >= hostLanes {
		t.Errorf("links of one host are in lanes %d and %d", a, b)
	}
	for link, want := range map[string]uint16{
		"ipfs://Qm/1": laneGateway, "IPFS://Qm/2": laneGateway, "data:,{}": LaneInLink, "tonstorage://A": LaneInLink, "\x00": LaneInLink,
		"https://example.com/1": LaneInLink, "": LaneInLink,
	} {
		if got := LaneOf(link); got != want {
			t.Errorf("%q is in lane %d, want %d", link, got, want)
		}
	}
}
