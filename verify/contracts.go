package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// contractRow is the newest row of a contract.
type contractRow struct {
	*storedRow
	// record is nil when raw is no such record, made the row that it makes.
	record *record.Contract
	made   *table.Contract
	// account is in the table accounts; held has a bit for each of table.Roles whose
	// row was seen.
	described bool
	held      int
}

func (r *contractRow) key() string { return contractKey(r.workchain, r.account) }

func contractKey(workchain int32, account string) string {
	return fmt.Sprintf("workchain = %d AND account = unhex('%x')", workchain, account)
}

// misplaced names a row whose account_prefix is not that of its account.
func (v *verifier) misplaced(table, key, account string, prefix uint64) bool {
	right := schema.Prefix([]byte(account))
	if right != prefix {
		v.findings.differs(CheckContracts, table, fmt.Sprintf("account_prefix = 0x%x AND %s", prefix, key), "account_prefix is 0x%x, that of the account 0x%x", prefix, right)
	}
	return right != prefix
}

// readContracts reads the newest rows of the contracts of a slice, and tests
// their columns.
func (w *transactionWalk) readContracts(ctx context.Context, part *slice) error {
	w.contracts = map[string]*contractRow{}
	if !w.findings.wants(CheckContracts) && !w.findings.wants(CheckTransfers) && !w.findings.wants(CheckDocuments) {
		return nil
	}
	where, args := ofSlice(part)
	err := w.eachNewest(ctx, CheckContracts, &table.Contracts.Table, where, args, func(stored *storedRow) error {
		row := &contractRow{storedRow: stored, record: new(record.Contract)}
		if w.misplaced(table.Contracts.Name, row.key(), row.account, row.prefix) {
			return nil
		}
		err := row.record.UnmarshalVT(row.raw)
		if err == nil {
			row.made, err = table.NewContract(row.record, row.raw)
		}
		if err != nil {
			w.findings.differs(CheckContracts, table.Contracts.Name, row.key(), "record is no complete contract")
			return nil //nolint:nilerr // it is a finding, and the check goes on
		}
		w.contracts[row.account] = row
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range w.contracts {
		if table.Contracts.Hash(row.made) != row.columns {
			if err := w.contractColumns(ctx, table.Contracts, row); err != nil {
				return err
			}
		}
		if err := w.keepNamed(row); err != nil {
			return err
		}
	}
	w.findings.checked(CheckContracts, uint64(len(w.contracts)))
	return nil
}

// contractColumns names the first column of a contract's newest row in which it
// is not what the contract makes.
func (w *transactionWalk) contractColumns(ctx context.Context, t *table.Of[*table.Contract], c *contractRow) error {
	return w.column(ctx, CheckContracts, &t.Table, c.key(), newestRow, t.Words(c.made), "the record of table contracts")
}

// describe compares what an account is said to be with its newest state.
func (w *transactionWalk) describe(ctx context.Context, r *accountRow) error {
	c, a := w.contracts[r.account], r.record
	if c != nil {
		c.described = true
	}
	if a == nil || a.McSeqno > w.to || c != nil && c.bundle() > w.to || a.State.Partial || !w.findings.wants(CheckContracts) {
		return nil // they are of different moments
	}
	if c == nil {
		return w.readAgain(ctx, a, nil, r.key())
	}
	differs := w.findings.of(CheckContracts, table.Contracts.Name, c.key)
	f, active := c.record, a.State.Status == record.AccountStatus_ACCOUNT_ACTIVE
	same := bytes.Equal(f.CodeHash, a.State.CodeHash) && bytes.Equal(f.DataHash, a.State.DataHash)
	switch {
	case f.LastTransLt > a.LastTransLt:
		differs("lt is %d, but the account's newest state is of lt %d", f.LastTransLt, a.LastTransLt)
	case c.made.Roles != 0 && !active:
		differs("roles are %d, but the account is %s since lt %d", c.made.Roles, a.State.Status, a.LastTransLt)
	case f.LastTransLt == a.LastTransLt && !same:
		differs("it was read from code %x and data %x, but the account's newest state has code %x and data %x",
			f.CodeHash, f.DataHash, a.State.CodeHash, a.State.DataHash)
	case f.LastTransLt == a.LastTransLt && f.Now != a.Now:
		differs("now is %d, that of the account's last transaction %d", f.Now, a.Now)
	case c.made.Roles != 0 && f.LastTransLt < a.LastTransLt && bytes.Equal(f.CodeHash, a.State.CodeHash) && (len(a.Data) > 0 || len(a.State.DataHash) == 0):
		differs("lt is %d, but the account's newest state is of lt %d and has all its data", f.LastTransLt, a.LastTransLt)
	case f.LastTransLt == a.LastTransLt || c.made.Roles == 0:
		return w.readAgain(ctx, a, f, c.key())
	}
	return nil
}

// checkContracts compares the other tables of contracts with those of a slice.
func (w *transactionWalk) checkContracts(ctx context.Context, part *slice) error {
	if !w.findings.wants(CheckContracts) {
		return nil
	}
	for n := range table.Roles {
		if err := w.checkRole(ctx, part, n); err != nil {
			return err
		}
	}
	for _, account := range slices.Sorted(maps.Keys(w.contracts)) {
		c := w.contracts[account]
		if !c.described && c.bundle() <= w.to {
			w.findings.differs(CheckContracts, table.Accounts.Name, c.key(), "no row, but table contracts has the account with lt %d", c.record.LastTransLt)
		}
		for n := range table.Roles {
			t := table.Roles[n]
			if c.held>>n&1 == 0 && c.bundle() <= w.to && t.Has(c.made) {
				w.findings.differs(CheckContracts, t.Name, c.key(), "no row, but roles in table contracts are %d", c.made.Roles)
			}
		}
	}
	return w.checkLinks(part)
}

// checkRole compares the table of a role with the contracts of a slice.
func (w *transactionWalk) checkRole(ctx context.Context, part *slice, n int) error {
	where, args := ofSlice(part)
	return w.eachNewest(ctx, CheckContracts, &table.Roles[n].Table, where, args, func(stored *storedRow) error {
		r := &contractRow{storedRow: stored}
		if w.misplaced(table.Roles[n].Name, r.key(), r.account, r.prefix) {
			return nil
		}
		w.findings.checked(CheckContracts, 1)
		return w.roleRow(ctx, n, r)
	})
}

// roleRow tests the newest row of a contract in the table of a role.
func (w *transactionWalk) roleRow(ctx context.Context, n int, r *contractRow) error {
	t, c := table.Roles[n], w.contracts[r.account]
	if c != nil {
		c.held |= 1 << n
	}
	switch {
	case r.bundle() > w.to || c != nil && c.bundle() > w.to:
	case c == nil:
		w.findings.differs(CheckContracts, t.Name, r.key(), "a row of a contract that table contracts does not have")
		w.findings.differs(CheckContracts, table.Contracts.Name, r.key(), "no row, but table %s has one of bundle %d", t.Name, r.bundle())
	case !t.Has(c.made):
		if r.bundle() >= c.bundle() {
			w.findings.differs(CheckContracts, t.Name, r.key(), "mc_seqno is %d, but roles in table contracts are %d since bundle %d", r.bundle(), c.made.Roles, c.bundle())
		}
	case t.Hash(c.made) != r.columns:
		return w.contractColumns(ctx, t.Of, c)
	}
	return nil
}

// contractLink is a row of contract_links, but for the contract.
type contractLink struct {
	table.LinkKey
	first uint32
}

// linkSize is that of a row of contract_links in the spill, in words: the account
// (4), workchain and role, the key (2), first bundle and bundle.
const linkSize = 4 + 1 + 2 + 1

// spillLinks deals the rows of contract_links, which lie in the order of what
// they lead from, to the parts of the accounts that they lead to.
func (v *verifier) spillLinks(ctx context.Context) error {
	rows, err := v.number(ctx, "SELECT count() FROM contract_links")
	if err != nil {
		return err
	}
	if v.links, err = newSpill(linkSize, rows); err != nil {
		return err
	}
	var account string
	var workchain int32
	var role int8
	var l contractLink
	var mcSeqno uint32
	var prefix uint64
	query := "SELECT account, account_prefix, workchain, CAST(role, 'Int8'), key_workchain, key_prefix, first_mc_seqno, mc_seqno FROM contract_links"
	return v.each(ctx, query, nil, []any{&account, &prefix, &workchain, &role, &l.Workchain, &l.Prefix, &l.first, &mcSeqno}, func() error {
		if v.misplaced("contract_links", contractKey(workchain, account), account, prefix) {
			return nil
		}
		id := wordsOf([]byte(account))
		return v.links.add(id[0], id[1], id[2], id[3], uint64(uint32(workchain))<<32|uint64(uint8(role)), uint64(uint32(l.Workchain)), l.Prefix,
			uint64(l.first)<<32|uint64(mcSeqno))
	})
}

// linksTo are the links that lead to the accounts of a slice, by account, with
// the newest bundle of each.
func (v *verifier) linksTo(part *slice) (map[string]map[contractLink]uint32, error) {
	all := map[string]map[contractLink]uint32{}
	for n := part.low >> v.links.shift; n <= part.high>>v.links.shift; n++ {
		entries, err := v.links.read(int(n))
		if err != nil {
			return nil, err
		}
		for _, w := range entries {
			if prefix := w[0]; int32(w[4]>>32) != part.workchain || prefix < part.low || prefix > part.high {
				continue
			}
			account := hashOf(w)
			l := contractLink{table.LinkKey{Role: schema.LinkRole(uint8(w[4])), Workchain: int32(uint32(w[5])), Prefix: w[6]}, uint32(w[7] >> 32)}
			if all[account] == nil {
				all[account] = map[contractLink]uint32{}
			}
			all[account][l] = max(all[account][l], uint32(w[7]))
		}
	}
	return all, nil
}

// checkLinks compares contract_links with the contracts of a slice.
func (w *transactionWalk) checkLinks(part *slice) error {
	have, err := w.linksTo(part)
	if err != nil {
		return err
	}
	for account, c := range w.contracts {
		links := have[account]
		delete(have, account)
		if c.bundle() > w.to {
			continue
		}
		made := map[contractLink]bool{}
		c.made.Links(func(l *table.Link) { made[contractLink{l.LinkKey, l.FirstMcSeqno}] = true })
		for l := range made {
			if mcSeqno, there := links[l]; !there {
				w.linkDiffers(c, l, "no row, but the record of table contracts makes it")
			} else if mcSeqno != c.bundle() && mcSeqno <= w.to {
				w.linkDiffers(c, l, "mc_seqno is %d, that of table contracts %d", mcSeqno, c.bundle())
			}
		}
		for l, mcSeqno := range links {
			w.findings.checked(CheckContracts, 1)
			if !made[l] && mcSeqno >= c.bundle() && mcSeqno <= w.to {
				w.linkDiffers(c, l, "a row that the record of table contracts does not make, of bundle %d", mcSeqno)
			}
		}
	}
	for account, links := range have {
		for l, mcSeqno := range links {
			if mcSeqno <= w.to {
				w.linkDiffers(&contractRow{storedRow: &storedRow{workchain: part.workchain, account: account}}, l, "a row of a contract that table contracts does not have")
			}
		}
	}
	return nil
}

func (w *transactionWalk) linkDiffers(c *contractRow, l contractLink, format string, args ...any) {
	w.findings.differs(CheckContracts, "contract_links", fmt.Sprintf("CAST(role, 'Int8') = %d AND key_workchain = %d AND key_prefix = 0x%x AND first_mc_seqno = %d AND %s",
		l.Role, l.Workchain, l.Prefix, l.first, c.key()), format, args...)
}
