package traffic

import (
	"testing"

	"github.com/xssnick/tonutils-go/ton/wallet"
)

func TestOnlyTheRecipientReadsAnEncryptedComment(t *testing.T) {
	town := New(1, Options{Wallets: 3})
	from, to, other := town.users[0], town.users[1], town.users[2]
	for _, text := range remarks {
		body, err := encrypted(chanceOf(1, "test"), text, from, to)
		if err != nil {
			t.Fatal(err)
		}
		read, err := wallet.DecryptCommentCell(body, from.address, to.key, from.wallet.Key)
		if err != nil || string(read) != text {
			t.Errorf("%q was read as %q (%v)", text, read, err)
		}
		if read, err := wallet.DecryptCommentCell(body, from.address, other.key, from.wallet.Key); err == nil {
			t.Errorf("another read %q", read)
		}
	}
}
