package clickhouse

import (
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// A replicated database wants macros, and a replica's name that no other one has: that of a
// server whose disk was lost stays in Keeper until somebody drops it there.
func TestWhatAServerIsNotSetUpForIsNotAskedAgain(t *testing.T) {
	for code, want := range map[proto.Error]bool{proto.ErrNoElementsInConfig: false, proto.ErrReplicaAlreadyExists: false, proto.ErrTooManyParts: true} {
		if got := Retryable(&driver.Exception{Code: int32(code)}); got != want {
			t.Errorf("%s is asked again: %t, want %t", code, got, want)
		}
	}
}
