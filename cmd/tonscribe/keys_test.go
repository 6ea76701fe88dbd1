package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// A script whose variable is not set must not make a key for more than it was meant for.
func TestAKeyForNetworksThatAreNotNamedIsNotMade(t *testing.T) {
	c := keysAdd(newSettings(&cobra.Command{}))
	c.SetArgs([]string{"shop", "--networks", ""})
	c.SetOut(io.Discard)
	c.SetErr(io.Discard)
	if err := c.ExecuteContext(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "--networks names none") {
		t.Errorf("got %v, want that --networks names none", err)
	}
}
