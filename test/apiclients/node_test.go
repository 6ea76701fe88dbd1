package apiclients

import (
	"testing"

	nodetest "tonscribe/test/support/node"
)

func TestTonClientReadsSendsAndWaits(t *testing.T) {
	n := start(t)
	t.Logf("%s", nodetest.Run(t, n.input(t), "testdata/ton.js"))
}

func TestTonwebReadsSendsAndWaits(t *testing.T) {
	n := start(t)
	t.Logf("%s", nodetest.Run(t, n.input(t), "testdata/tonweb.js"))
}
