package devnet

import (
	"fmt"
	"math/big"

	"tonscribe/test/support/harness"
)

func balanceOf(w *town, raw string) string {
	said := standing{root: w.accounts[raw].Account}
	if err := parseState(&said); err != nil {
		w.Error(err)
	}
	return said.state.Balance.Nano().String()
}

// checkTop walks the ranking to its end.
func (w *town) checkTop() {
	var total int
	last := new(big.Int).Lsh(big.NewInt(1), 64)
	seen := map[string]bool{}
	for offset := 0; ; offset += 1000 {
		var page []struct {
			Account string `json:"account"`
			Balance string `json:"balance"`
		}
		harness.GetJSON(w, fmt.Sprintf("%stopAccountsByBalance?limit=1000&offset=%d", w.api, offset), &page)
		for _, row := range page {
			balance, ok := new(big.Int).SetString(row.Balance, 10)
			if !ok || balance.Cmp(last) > 0 || seen[row.Account] {
				w.Errorf("%s with %s comes after %s, or twice", row.Account, row.Balance, last)
			}
			seen[row.Account] = true
			last = balance
			if w.accounts[row.Account] == nil && row.Balance != "0" {
				w.Errorf("%s does not exist and is ranked with %s", row.Account, row.Balance)
			} else if w.accounts[row.Account] != nil && balanceOf(w, row.Account) != row.Balance {
				w.Errorf("%s is ranked with %s, has %s", row.Account, row.Balance, balanceOf(w, row.Account))
			}
		}
		total += len(page)
		if len(page) == 0 {
			break
		}
	}
	for a := range w.accounts {
		if !seen[a] && balanceOf(w, a) != "0" {
			w.Errorf("%s with %s is not ranked", a, balanceOf(w, a))
		}
	}
	w.Logf("topAccountsByBalance: %d accounts", total)
}
