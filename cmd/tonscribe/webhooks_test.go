package main

import (
	"strings"
	"testing"
	"time"

	"tonscribe/webhooks/send"
)

func TestOnlyADeliveryThatHasNotEndedIsDue(t *testing.T) {
	due := time.Unix(1_780_000_000, 0)
	for _, state := range []send.State{send.Pending, send.Delivered, send.Exhausted, send.Ignored, send.Cancelled} {
		shown := deliveryOf(&send.Delivery{State: state, Due: due})
		if ended := state != send.Pending; shown.Due.IsZero() != ended {
			t.Errorf("one that is %s is due at %s", state, shown.Due)
		}
	}
}

func TestAKeyMayDoSomething(t *testing.T) {
	for scopes, wanted := range map[string]bool{"transfers": true, "transfers,deliveries,manage": true, "": false, "transfers,transfers": false, "transfer": false} {
		list := []string{}
		if scopes != "" {
			list = strings.Split(scopes, ",")
		}
		if err := checkScopes(list); (err == nil) != wanted {
			t.Errorf("scopes %q: %v, want taken %t", scopes, err, wanted)
		}
	}
}
