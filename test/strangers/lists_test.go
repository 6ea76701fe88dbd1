package strangers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// heavyLists are requests for lists that would read whole tables.
func heavyLists(t testing.TB) map[string]string {
	many := func(name string) string {
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "&%s=0:%064x", name, i)
		}
		return b.String()[1:]
	}
	since := fmt.Sprint("&start_utime=1&end_utime=", time.Now().Unix()+3600)
	return map[string]string{
		"transactions of an absent workchain":    "transactions?workchain=7" + since,
		"transactions of an absent shard":        "transactions?workchain=0&shard=1F00000000000000" + since,
		"transactions at an offset":              "transactions?offset=1000000000",
		"messages at an offset":                  "messages?offset=1000000000",
		"messages without a receiver":            "messages?destination=null",
		"balances at an offset":                  "topAccountsByBalance?offset=1000000000",
		"transactions of 1,000 accounts":         "transactions?" + many("account"),
		"jetton wallets of 1,000 owners":         "jetton/wallets?" + many("owner_address"),
		"accounts left out":                      "transactions?" + many("exclude_account"),
		"messages of a body that is not there":   "messages?body_hash=" + strings.Repeat("5", 64) + since,
		"messages of an opcode that is not used": "messages?opcode=0x12345678" + since,
	}
}

// heavyRequests ask for all of them in turn. Each is answered or refused, because
// of what it asks for or because its client asks for too much at once.
var heavyRequests = attack{"requests for lists that match nothing or far too much", 2, func(t *testing.T, at *target) shot {
	requests := heavyLists(t)
	return func(ctx context.Context) error {
		for name, path := range requests {
			status, text, err := at.get(ctx, "/api/v3/"+path)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			switch status {
			case http.StatusOK, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusServiceUnavailable:
			default:
				return fmt.Errorf("%s: %d %.200s, want 200, 404, 422 or 503", name, status, text)
			}
		}
		return nil
	}
}}
