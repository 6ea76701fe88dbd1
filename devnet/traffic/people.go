package traffic

import (
	"crypto/ed25519"
	"math/big"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
	account "tonscribe/ton/address"
)

const (
	payers  = 12
	masters = 6
)

// person holds the key of a wallet.
type person struct {
	wallet  contracts.Wallet
	key     ed25519.PrivateKey
	address *address.Address
	account account.Address
	funds   *big.Int // in the zerostate
}

// shares of the wallets' versions, in percent, as on a network of these years.
var shares = []struct {
	version contracts.WalletVersion
	percent int
}{{contracts.WalletV3R2, 15}, {contracts.WalletV4R2, 40}, {contracts.WalletV5R1, 45}}

// populate makes the wallets of the zerostate. The first are rich.
func (t *Traffic) populate() {
	chance := chanceOf(t.seed, "versions")
	for i := range t.options.Wallets {
		t.users = append(t.users, t.join("user", i, versionOf(chance.IntN(100)), 0, 1_000+1_000_000/float64(i+1)))
	}
	for i := range payers {
		t.payers = append(t.payers, t.join("payer", i, contracts.WalletHighloadV3, 0, 5_000_000))
	}
	for i := range masters {
		t.masters = append(t.masters, t.join("master", i, versionOf(i*100/masters), -1, 100_000))
	}
}

func versionOf(percent int) contracts.WalletVersion {
	for _, share := range shares {
		if percent -= share.percent; percent < 0 {
			return share.version
		}
	}
	return contracts.WalletV5R1
}

// join makes a person of the zerostate.
func (t *Traffic) join(role string, index int, version contracts.WalletVersion, workchain int32, tons float64) *person {
	p := t.make(role, uint64(index), 0, version, workchain)
	p.funds = ton(tons)
	t.people = append(t.people, p)
	t.byAccount[p.account] = p
	return p
}

func (t *Traffic) make(role string, first, second uint64, version contracts.WalletVersion, workchain int32) *person {
	keySeed := digest(t.seed, role, first, second)
	key := ed25519.NewKeyFromSeed(keySeed[:])
	w := contracts.NewWallet(version, key.Public().(ed25519.PublicKey), t.options.NetworkID)
	at := w.Address(workchain)
	return &person{wallet: w, key: key, address: at, account: accountAt(at)}
}

// admin is a wallet that owns contracts and does nothing but look after them.
func (t *Traffic) admin(index int) *person {
	return t.join("admin", index, contracts.WalletV5R1, 0, 1_000_000)
}
