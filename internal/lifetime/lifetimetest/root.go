// Package lifetimetest runs components for tests. In comes a component that was
// made; it is stopped when the test ends.
package lifetimetest

import (
	"context"
	"testing"
)

// Component is what all components have in common.
type Component interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// Run starts a component and stops it at the end of the test, which fails when
// one of both does.
func Run(t testing.TB, c Component) {
	t.Helper()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
