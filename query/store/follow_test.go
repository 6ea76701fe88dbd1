package store

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTablesThatStandAreLookedAtLessOften(t *testing.T) {
	s := &Store{configuration: Configuration{Poll: 75 * time.Millisecond}}
	for standing, want := range map[time.Duration]time.Duration{
		0: 75 * time.Millisecond, time.Second: 75 * time.Millisecond, 4 * time.Second: 250 * time.Millisecond,
		30 * time.Second: time.Second, time.Hour: time.Second,
	} {
		if got := s.interval(standing); got != want {
			t.Errorf("tables that stand for %s are looked at every %s, want %s", standing, got, want)
		}
	}
	s.configuration.Poll = 3 * time.Second
	if got := s.interval(time.Hour); got != 3*time.Second {
		t.Errorf("tables are looked at every %s, want the setting's 3s", got)
	}
}

func TestARestEndsWithTheSinkThatItIsFor(t *testing.T) {
	for name, c := range map[string]struct {
		reports  []time.Duration
		want     time.Duration
		reported bool
	}{
		"nothing is reported":               {nil, time.Second, false},
		"the last batch of a range":         {[]time.Duration{300 * time.Millisecond}, 300*time.Millisecond + sinkLull, true},
		"one batch soon after the other":    {[]time.Duration{300 * time.Millisecond, 320 * time.Millisecond}, 320*time.Millisecond + sinkLull, true},
		"a batch shortly before it is over": {[]time.Duration{time.Second - sinkLull/2}, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				wake := make(chan struct{}, 1)
				for _, after := range c.reports {
					time.AfterFunc(after, func() { wake <- struct{}{} })
				}
				began := time.Now()
				reported := (&Store{}).rest(t.Context(), time.Second, wake)
				if took := time.Since(began); took != c.want || reported != c.reported {
					t.Errorf("it took %s and returned %v, want %s and %v", took, reported, c.want, c.reported)
				}
			})
		})
	}
}
