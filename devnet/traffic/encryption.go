package traffic

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha512"
	"math/rand/v2"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/adnl/keys"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// encryptedOp begins an encrypted comment.
const encryptedOp = 0x2167da4b

// encrypted is a comment that only the two can read: both public keys in one,
// the message's key, then the text under AES-CBC behind 16 to 31 bytes of
// padding.
func encrypted(chance *rand.Rand, text string, from, to *person) (*cell.Cell, error) {
	shared, err := keys.SharedKey(from.key, to.wallet.Key)
	if err != nil {
		return nil, err
	}
	padding := 16 + (16-len(text)%16)%16
	plain := make([]byte, padding, padding+len(text))
	for i := range plain {
		plain[i] = byte(chance.Uint32())
	}
	plain[0] = byte(padding)
	plain = append(plain, text...)

	salt := address.NewAddress(0, byte(from.account.Workchain()), from.account.ID()).String()
	messageKey := mac([]byte(salt), plain)[:16]
	secret := mac(shared, messageKey)
	block, err := aes.NewCipher(secret[:32])
	if err != nil {
		return nil, err
	}
	cipher.NewCBCEncrypter(block, secret[32:48]).CryptBlocks(plain, plain)

	both := append(ed25519.PublicKey{}, from.wallet.Key...)
	for i := range both {
		both[i] ^= to.wallet.Key[i]
	}
	body := cell.BeginCell().MustStoreUInt(encryptedOp, 32)
	if err := body.StoreBinarySnake(append(append(both, messageKey...), plain...)); err != nil {
		return nil, err
	}
	return body.EndCell(), nil
}

func mac(key, text []byte) []byte {
	h := hmac.New(sha512.New, key)
	h.Write(text)
	return h.Sum(nil)
}
