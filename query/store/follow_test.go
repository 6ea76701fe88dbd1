package store

import (
	"testing"
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
