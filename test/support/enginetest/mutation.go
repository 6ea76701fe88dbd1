package enginetest

import (
	"context"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// lookAgain is how often the engine is made to look for background work.
const lookAgain = 100 * time.Millisecond

// Mutate runs a statement that waits for a mutation of a table, and has the engine look for
// background work all the while: one whose pool was busy when the statement came looks
// again only after many seconds.
func Mutate(ctx context.Context, c driver.Conn, table, statement string) error {
	ctx, stop := context.WithCancel(ctx)
	var looking sync.WaitGroup
	defer looking.Wait()
	defer stop()
	looking.Go(func() {
		ticker := time.NewTicker(lookAgain)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if c.Exec(ctx, "SYSTEM START MERGES "+table) != nil { // which nobody has stopped
					return
				}
			}
		}
	})
	return c.Exec(ctx, statement)
}
