package auth

import (
	"context"
	"net/http"
)

type clientKey struct{}

// Client returns what tells the client of a request that the gate let through
// from others: its key, or its address as limits count it. It is empty for other
// requests.
func Client(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

func (c *Component) nameOf(r *http.Request, key *state) string {
	if key != nil {
		return string(key.Hash[:])
	}
	return household(c.clientOf(r)).name()
}
