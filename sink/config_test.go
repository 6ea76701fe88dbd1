package sink

import (
	"strings"
	"testing"
	"time"
)

func TestConfigurationsThatMakeNoSenseAreRefusedByTheNameOfTheKey(t *testing.T) {
	for key, set := range map[string]func(*Configuration){
		"group":    func(c *Configuration) { c.Group = "" },
		"max_rows": func(c *Configuration) { c.MaxRows = 0 },
		"max_wait": func(c *Configuration) { c.MaxWait = -time.Second },
		"quiet":    func(c *Configuration) { c.Quiet = -1 },
		"rest":     func(c *Configuration) { c.Rest = -0.5 },
		"max_rest": func(c *Configuration) { c.MaxRest = -1 },
		"every":    func(c *Configuration) { c.Every = -1 },
		"inserts":  func(c *Configuration) { c.Inserts = 0 },
	} {
		c := DefaultConfiguration()
		if err := c.validate(); err != nil {
			t.Fatalf("the default: %v", err)
		}
		set(&c)
		if err := c.validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}
