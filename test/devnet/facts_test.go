package devnet

import (
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"
)

// facts are members that a row must have, said by get-methods; nil says that
// there must be no row.
type facts map[string]any

// checkList compares what a list says of all accounts that could be in it with
// what their get-methods say. ask gives the facts of one.
func (w *town) checkList(path, list string, candidates []string, ask func(string) (facts, error)) {
	w.Helper()
	w.compareRows(path, w.rows(path, "address", list, "address", candidates), each(w, candidates, ask))
}

func (w *town) compareRows(what string, rows map[string]map[string]any, said map[string]facts) {
	w.Helper()
	none := 0
	for a, want := range said {
		switch row := rows[a]; {
		case want == nil && row != nil:
			w.Errorf("%s: %s is there, and should not: %v", what, a, row)
		case want == nil:
			none++
		case row == nil:
			w.Errorf("%s: %s is not there, want %v", what, a, want)
		default:
			w.compare(what+" "+a, row, want)
		}
	}
	if len(rows) == 0 {
		w.Errorf("%s: nothing is there", what)
	}
	w.Logf("%s: %d rows, %d that claim to be and are not", what, len(rows), none)
}

// hashes are the members with the hashes of an account's code and data, and the
// lt of its last transaction.
func (w *town) hashes(raw string) facts {
	said := standing{root: w.accounts[raw].Account, lt: w.accounts[raw].LastTransLT}
	if err := parseState(&said); err != nil {
		w.Fatal(err)
	}
	all := said.expected()
	return facts{"code_hash": all["code_hash"], "data_hash": all["data_hash"], "last_transaction_lt": fmt.Sprint(said.lt)}
}

func (w *town) ofKinds(kinds ...string) (accounts []string) {
	found := w.kinds()
	for _, kind := range kinds {
		accounts = append(accounts, found[kind]...)
	}
	return accounts
}

// says asks a parent for the address of one of its own.
func (w *town) says(parent any, method string, argument any) (any, error) {
	if parent == nil || w.accounts[parent.(string)] == nil {
		return nil, nil
	}
	result, err := w.call(parent.(string), method, argument)
	var refused ton.ContractExecError
	if errors.As(err, &refused) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := reading{ExecutionResult: result}
	return r.address(0), r.err
}
