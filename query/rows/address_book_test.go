package rows

import (
	"strings"
	"testing"

	"tonscribe/query/api"
	"tonscribe/ton/address"
)

// Contracts may name an account of any workchain of 32 bits. The user-friendly form has
// 8 of them, and would be that of another account.
func TestAnAccountWhoseWorkchainHasNoFriendlyFormIsNotShownAsAnother(t *testing.T) {
	id := make([]byte, 32)
	for workchain, has := range map[int32]bool{0: true, -1: true, 127: true, -128: true, 128: false, 256: false, -129: false, -1 << 31: false} {
		w := &api.Writer{}
		AddressBook.Write(w, &BookRow{address: address.New(workchain, id)})
		if got := !strings.Contains(string(w.JSON), `"user_friendly":null`); got != has {
			t.Errorf("workchain %d: %s, a user-friendly form is wanted: %t", workchain, w.JSON, has)
		}
	}
}
