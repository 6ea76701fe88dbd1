package query

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"testing"

	"tonscribe/query/list"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// benchAccounts is how many accounts BenchmarkLookUp has in the tables, in
// benchParts parts each of which has some of every range.
const benchAccounts, benchParts = 1_000_000, 4

func benchAccount(n int) (a address.Address) {
	id := sha256.Sum256([]byte(strconv.Itoa(n)))
	copy(a[4:], id[:])
	return a
}

// fillAccounts writes accounts and what they are, jetton wallets, with the id of
// account n being the SHA-256 of n.
func (w *world) fillAccounts(b *testing.B) {
	b.Helper()
	var none address.Address
	around := func(raw []byte) (before, after []byte) {
		return raw[:2], raw[2+len(none):] // field 1 is the account
	}
	stateBefore, stateAfter := around(packed(b, &record.Account{
		Account: none[:], McSeqno: 1, LastTransLt: 1 << 40, LastTransHash: hashOf(1), Hash: hashOf(2), Now: 1 << 30, Data: make([]byte, 120),
		State: &record.AccountState{Balance: 1 << 40, Status: record.AccountStatus_ACCOUNT_ACTIVE, CodeHash: hashOf(3), DataHash: hashOf(4)},
	}))
	factsBefore, factsAfter := around(packed(b, &record.Contract{
		Account: none[:], McSeqno: 1, FirstMcSeqno: 1, LastTransLt: 1 << 40, JettonWallet: &record.JettonWallet{Balance: hashOf(5)[:8], Owner: addressOf(1), Master: addressOf(2)},
	}))
	const ids = "(SELECT number, SHA256(toString(number)) AS id, reinterpretAsUInt64(reverse(substring(id, 1, 8))) AS prefix FROM numbers(%d) WHERE number %% %d = %d)"
	for part := range benchParts {
		from := fmt.Sprintf(ids, benchAccounts, benchParts, part)
		const settings = " SETTINGS max_insert_block_size = 10000000, min_insert_block_size_rows = 10000000, min_insert_block_size_bytes = 0, max_threads = 1"
		record := func(before, after []byte) string {
			return fmt.Sprintf("concat(unhex('%x'), unhex('00000000'), id, unhex('%x'))", before, after)
		}
		w.exec(b, "INSERT INTO accounts (workchain, account_prefix, account, version, mc_seqno, status, code_hash, record) SELECT 0, prefix, id, 2, 1, 'active', SHA256(toString(number % 50)), "+
			record(stateBefore, stateAfter)+" FROM "+from+settings)
		w.exec(b, "INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, roles, record) SELECT 0, prefix, id, 1, 1, 2, "+
			record(factsBefore, factsAfter)+" FROM "+from+settings)
	}
}

// A look-up in the cache, and one that ClickHouse answers, of one key and of a
// thousand.
func BenchmarkLookUp(b *testing.B) {
	bundles := syntheticBundles(200, 4)
	w := newWorld(b, bundles)
	w.fillAccounts(b)
	w.setWatermark(b, bundles[len(bundles)-1])
	store := w.serve(b, nil).component.store
	v, err := store.View()
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"cold", "hit"} {
		for _, look := range []struct {
			what string
			do   func(some []list.Address) (int, error)
		}{
			{"states", func(some []list.Address) (int, error) {
				found, err := store.Accounts(b.Context(), v, some)
				return len(found), err
			}},
			{"contracts", func(some []list.Address) (int, error) {
				found, err := store.Contracts(b.Context(), some)
				return len(found), err
			}},
			{"codes", func(some []list.Address) (int, error) {
				found, err := store.Directory(b.Context(), some)
				n := 0
				for _, e := range found {
					if e.Known {
						n++
					}
				}
				return n, err
			}},
		} {
			for _, size := range []int{1, 1000} {
				next := 0
				b.Run(fmt.Sprintf("%s/%s/%d", name, look.what, size), func(b *testing.B) {
					some := make([]list.Address, size)
					for b.Loop() {
						if next == 0 || name == "cold" {
							for i := range some {
								some[i] = benchAccount(next % benchAccounts)
								next++
							}
						}
						if n, err := look.do(some); err != nil || n != size {
							b.Fatalf("%d of %d accounts, %v", n, size, err)
						}
					}
				})
			}
		}
	}
}
