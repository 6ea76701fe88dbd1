package verify

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tvmcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/code"
)

// rewrite changes the record of a row.
func (l *tables) rewrite(table, where string, change func(raw []byte) []byte) {
	l.Helper()
	var raw string
	if err := l.client.Conn().QueryRow(l.Context(), fmt.Sprintf("SELECT record FROM %s WHERE %s", table, where)).Scan(&raw); err != nil {
		l.Fatalf("%s: %v", where, err)
	}
	l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE record = unhex('%x') WHERE %s SETTINGS mutations_sync = 1", table, change([]byte(raw)), where))
}

func (l *tables) rewriteContract(where string, change func(*record.Contract)) {
	l.Helper()
	l.rewrite("contracts", where, func(raw []byte) []byte {
		c := new(record.Contract)
		if err := c.UnmarshalVT(raw); err != nil {
			l.Fatal(err)
		}
		change(c)
		raw, err := c.MarshalVT()
		if err != nil {
			l.Fatal(err)
		}
		return raw
	})
}

func (l *tables) rewriteTransfer(where string, change func(*record.JettonTransfer)) {
	l.Helper()
	for table, filter := range map[string]string{"jetton_transfers": "", "transfers_by_party": " AND record != ''"} {
		l.rewrite(table, where+filter, func(raw []byte) []byte {
			o := new(record.JettonTransfer)
			if err := o.UnmarshalVT(raw); err != nil {
				l.Fatal(err)
			}
			change(o)
			raw, err := o.MarshalVT()
			if err != nil {
				l.Fatal(err)
			}
			return raw
		})
	}
}

// lie is told of a row of a table, in all tables alike.
type lie struct {
	name, check   string
	table, filter string
	says          string // by the check
	tell          func(l *tables, where string)
}

func (l *tables) lyingTokens(t *testing.T) {
	update := func(l *tables, table, set, where string) {
		l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE %s WHERE %s SETTINGS mutations_sync = 1", table, set, where))
	}
	lies := []lie{
		{"another balance", CheckContracts, "jetton_wallets", "active", "jetton_wallet.balance", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.JettonWallet.Balance = []byte{1, 2, 3, 4, 5, 6, 7} })
			update(l, "jetton_wallets", "balance = 0x01020304050607", where)
		}},
		{"another owner of an item", CheckContracts, "nft_items", "active AND owner_workchain = 0", "nft_item.owner", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) {
				c.NftItem.Owner = bytes.Clone(c.NftItem.Owner)
				c.NftItem.Owner[4] ^= 1
			})
			other := otherValue(table.Column{Name: "owner", Type: "FixedString(32)"})
			update(l, "nft_items", "owner_prefix = bitXor(owner_prefix, 0x0100000000000000), owner = "+other, where)
		}},
		{"another supply", CheckContracts, "jetton_masters", "active", "jetton_master.total_supply", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.JettonMaster.TotalSupply = []byte{9} })
			update(l, "jetton_masters", "total_supply = 9", where)
		}},
		{"a master left out everywhere", CheckContracts, "jetton_masters", "active", "get-methods give facts", func(l *tables, where string) {
			deleteRow(l, "contracts", where)
			deleteRow(l, "jetton_masters", where)
		}},
		{"an account with an older state", CheckContracts, "jetton_wallets", "active AND lt > 0", "newest state is of lt", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.LastTransLt++ })
			update(l, "contracts", "lt = lt + 1", where)
			update(l, "jetton_wallets", "lt = lt + 1", where)
		}},
		{"other data", CheckContracts, "jetton_wallets", "active", "it was read from code", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.DataHash = flip(c.DataHash) })
		}},
		{"another amount of a transfer", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "amount is 07", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Amount = []byte{7} })
			update(l, "jetton_transfers", "amount = 7", where)
		}},
		{"a transfer of another transaction", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "transaction_hash is", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.TransactionHash = flip(o.TransactionHash) })
		}},
		{"a transfer that did not arrive", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "by the transaction that the message led to it is DELIVERED", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Delivery, o.Receipt = record.Delivery_IN_PROGRESS, nil })
			update(l, "jetton_transfers", "delivery = 'in_progress'", where)
		}},
		{"a transfer received by another transaction", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "its receipt is not", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Receipt.TransactionHash = flip(o.Receipt.TransactionHash) })
		}},
		{"a transfer that succeeded and is called aborted", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "aborted is true", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Aborted, o.Delivery, o.Receipt = true, record.Delivery_REFUSED, nil })
			update(l, "jetton_transfers", "aborted = 1, delivery = 'refused'", where)
			deleteRow(l, "transfers_by_party", where)
		}},
		{"a transfer left out everywhere", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "no row, but the transaction orders it", func(l *tables, where string) {
			deleteRow(l, "jetton_transfers", where)
			deleteRow(l, "transfers_by_party", where)
		}},
	}
	for n := range len(lies) / 2 {
		l.tellLies(t, lies[n], lies[n+len(lies)/2])
	}
}

// tellLies tells two that different checks find.
func (l *tables) tellLies(t *testing.T, lies ...lie) {
	t.Helper()
	l = l.in(t)
	for _, name := range []string{"contracts", "jetton_transfers", "transfers_by_party", "jetton_wallets", "jetton_masters", "nft_items"} {
		defer l.save(name)()
	}
	for _, c := range lies {
		c.tell(l, l.rowOf(declared(c.table), c.filter))
	}
	r, err := l.verify(only(CheckContracts, CheckTransfers))
	if !errors.Is(err, ErrDifferent) {
		t.Errorf("neither %s nor %s was found: %v", lies[0].name, lies[1].name, err)
		return
	}
	for _, c := range lies {
		if !slices.ContainsFunc(r.check(c.check).Differences, func(d Difference) bool { return strings.Contains(d.What, c.says) }) {
			t.Errorf("%s: check %s does not say %q, but %v", c.name, c.check, c.says, r.check(c.check).Differences)
		}
	}
}

// answersByConfig turns a jetton wallet into one whose balance is 1 where the config has
// parameter 34, which the one at hand has not, and 0 elsewhere: what the tables say of it
// cannot be held against its get-methods.
func (l *tables) answersByConfig(t *testing.T) {
	l = l.in(t)
	for _, name := range []string{"accounts", "codes", "contracts", "jetton_wallets"} {
		defer l.save(name)()
	}
	where := l.rowOf(declared("jetton_wallets"), "active")
	var made *tvmcell.Cell
	l.rewriteContract(where, func(c *record.Contract) {
		made = balanceByConfig(t, c.JettonWallet)
		stub := tvmcell.BeginCell().EndCell().HashKey()
		c.CodeHash = made.Hash()
		c.JettonWallet.Balance, c.JettonWallet.WalletCodeHash = []byte{1}, stub[:]
		c.JettonWallet.Claimed, c.JettonWallet.Status = nil, nil
	})
	l.exec("ALTER TABLE jetton_wallets UPDATE balance = 1 WHERE " + where + " SETTINGS mutations_sync = 1")
	l.rewrite("accounts", where, func(raw []byte) []byte {
		a := new(record.Account)
		if err := a.UnmarshalVT(raw); err != nil {
			t.Fatal(err)
		}
		a.State.CodeHash = made.Hash()
		raw, err := a.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	})
	l.exec(fmt.Sprintf("INSERT INTO codes (hash, methods_known, boc) VALUES (unhex('%x'), true, unhex('%x'))", made.Hash(), made.ToBOC()))
	r, err := l.verify(only(CheckContracts))
	if err != nil {
		t.Errorf("%v: %v", err, r.check(CheckContracts).Differences)
	}
}

// balanceByConfig is the code of such a wallet.
func balanceByConfig(t *testing.T, w *record.JettonWallet) *tvmcell.Cell {
	t.Helper()
	give := func(account []byte) *tvmcell.Cell {
		return tvmcell.BeginCell().MustStoreAddr(contract.Address(account)).EndCell()
	}
	// 34 PUSHINT, CONFIGOPTPARAM, ISNULL, INC, owner, master, PUSHREF.
	method := tvmcell.BeginCell().MustStoreSlice([]byte{0x80, 34, 0xf8, 0x33, 0x6e, 0xa4}, 48).MustStoreUInt(0x89, 8).MustStoreRef(give(w.Owner)).
		MustStoreUInt(0x89, 8).MustStoreRef(give(w.Master)).MustStoreUInt(0x88, 8).MustStoreRef(tvmcell.BeginCell().EndCell()).EndCell()
	methods := tvmcell.NewDict(19)
	key := tvmcell.BeginCell().MustStoreUInt(uint64(code.MethodID("get_wallet_data")), 19).EndCell()
	if err := methods.Set(key, tvmcell.BeginCell().MustStoreRef(method).EndCell()); err != nil {
		t.Fatal(err)
	}
	// SETCP0, 19 DICTPUSHCONST, DICTIGETJMPZ, 11 THROWARG, as compilers make it.
	begin := []byte{0xff, 0x00, 0xf4, 0xa4, 0x13, 0xf4, 0xbc, 0xf2, 0xc8, 0x0b}
	return tvmcell.BeginCell().MustStoreSlice(begin, 80).MustStoreRef(methods.AsCell()).EndCell()
}
