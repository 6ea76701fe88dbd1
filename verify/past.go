package verify

import (
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// checkPast tests what the contracts of a slice are said to have been: each row tells of
// something else than the one before, and is of before the newest facts.
func (w *transactionWalk) checkPast(ctx context.Context, part *slice) error {
	const in = "workchain = ? AND account_prefix BETWEEN ? AND ?"
	slice := []any{part.workchain, part.low, part.high}
	var account, raw string
	var mcSeqno uint32
	var columns uint64
	var last *record.Contract
	query := fmt.Sprintf("SELECT account, mc_seqno, %s, record FROM past_contracts FINAL WHERE %s AND mc_seqno <= ? ORDER BY account_prefix, account, mc_seqno", table.PastContracts.HashSQL(), in)
	err := w.each(ctx, query, append(slice, w.to), []any{&account, &mcSeqno, &columns, &raw}, func() error {
		w.findings.checked(CheckContracts, 1)
		key := fmt.Sprintf("%s AND mc_seqno = %d", contractKey(part.workchain, account), mcSeqno)
		c := new(record.Contract)
		row := (*table.Contract)(nil)
		err := c.UnmarshalVT([]byte(raw))
		if err == nil {
			row, err = table.NewContract(c, nil)
		}
		switch {
		case err != nil:
			w.findings.differs(CheckContracts, table.PastContracts.Name, key, "record is no contract")
			return nil //nolint:nilerr // it is a finding, and the check goes on
		case table.PastContracts.Hash(row) != columns:
			w.findings.differs(CheckContracts, table.PastContracts.Name, key, "its columns are not those of the record")
		case last != nil && string(last.Account) == string(c.Account) && schema.LastingOf(last).EqualVT(schema.LastingOf(c)):
			w.findings.differs(CheckContracts, table.PastContracts.Name, key, "it was the same before bundle %d", last.McSeqno)
		}
		last = c
		return nil
	})
	if err != nil {
		return err
	}
	query = fmt.Sprintf(`SELECT account, max(newest), max(at) FROM (SELECT account, toUInt32(0) AS newest, max(mc_seqno) AS at FROM past_contracts WHERE %[1]s AND mc_seqno <= ? GROUP BY account
		UNION ALL SELECT account, max(mc_seqno), 0 FROM contracts WHERE %[1]s GROUP BY account) GROUP BY account HAVING max(at) > max(newest)`, in)
	var newest uint32
	return w.each(ctx, query, append(append(append([]any{}, slice...), w.to), slice...), []any{&account, &newest, &mcSeqno}, func() error {
		w.findings.differs(CheckContracts, table.PastContracts.Name, contractKey(part.workchain, account), "it became something else with bundle %d, but contracts has no row later than bundle %d", mcSeqno, newest)
		return nil
	})
}
