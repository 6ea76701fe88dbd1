package lite

import "testing"

func TestARateIsNotNegative(t *testing.T) {
	c := DefaultConfiguration()
	c.Config, c.Rate = "global.config.json", -1
	if c.validate() == nil {
		t.Error("less than no requests a second: no error")
	}
}
