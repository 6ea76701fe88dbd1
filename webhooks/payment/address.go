package payment

import (
	"encoding/base64"

	"tonscribe/ton/address"
)

// Address is an account as events have it, on every network: user-friendly, bounceable,
// url-safe.
func Address(account []byte) string {
	return string(address.AppendFriendly(nil, account, address.Form{Friendly: true}, base64.URLEncoding))
}
