package stage

import (
	"testing"
	"time"
)

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, set := range map[string]func(*Settings){
		"no folder":                func(s *Settings) { s.Dir = "" },
		"less than no cache":       func(s *Settings) { s.CacheBytes = -1 },
		"less than no time at all": func(s *Settings) { s.CommitEvery = -time.Second },
	} {
		s := DefaultSettings("group")
		s.Dir = t.TempDir()
		set(&s)
		if s.Validate("part") == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
