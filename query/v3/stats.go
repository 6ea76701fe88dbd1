package v3

import (
	"math/big"
	"strings"
	"time"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/store"
)

const statsTag = "Stats"

// secondsOfDay parts times into days (UTC).
const secondsOfDay = 86400

// statsDay is embedded in the figures of a day.
type statsDay struct {
	Day      string           `json:"day" doc:"date (UTC), year-month-day"`
	Utime    openapi.UnixTime `json:"utime" doc:"its first second"`
	Computed openapi.UnixTime `json:"computed_at" doc:"when the figures were computed; those of a day that goes on grow"`
}

func dayOf(d *store.DayStats) statsDay {
	return statsDay{dateOf(d.Day), openapi.UnixTime(d.Day) * secondsOfDay, openapi.UnixTime(d.Computed)}
}

func dateOf(day uint16) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
}

type dayOfTransactions struct {
	statsDay
	Transactions openapi.Decimal `json:"transactions"`
	Failed       openapi.Decimal `json:"failed" doc:"transactions that were aborted"`
	Accounts     openapi.Decimal `json:"active_accounts" doc:"accounts that had a transaction"`
}

type transactionDaysAnswer struct {
	Days []dayOfTransactions `json:"days"`
	more
}

// dayParams are those of lists of days.
var dayParams = params.Join(params.UtimeRange("time of the day"), params.PageParams("desc", "by day"))

var statsTransactions = &Endpoint{
	Path: "/stats/transactions", Tag: statsTag, Summary: "Transactions per day",
	Description: "For each day (UTC) how many transactions there were, how many were aborted, and how many accounts had one. A day belongs to a range of times that touches it. Figures follow within a minute or two.",
	Params:      dayParams, Result: resultOf[transactionDaysAnswer](),
	serve: func(q *request) error {
		list, next, err := q.days()
		if err != nil {
			return err
		}
		answer := transactionDaysAnswer{Days: make([]dayOfTransactions, len(list)), more: next}
		for i := range list {
			d := &list[i]
			answer.Days[i] = dayOfTransactions{dayOf(d), decimal(d.Transactions), decimal(d.Aborted), decimal(d.Accounts)}
		}
		return q.put(answer)
	},
}

type dayOfFees struct {
	statsDay
	Total   openapi.Decimal `json:"total_fees" doc:"nanotons; the sum of the four that follow"`
	Storage openapi.Decimal `json:"storage_fees" doc:"for keeping state"`
	Gas     openapi.Decimal `json:"gas_fees" doc:"for computing"`
	Action  openapi.Decimal `json:"action_fees" doc:"for sending messages, the part that the sending transaction keeps"`
	Other   openapi.Decimal `json:"other_fees" doc:"for importing external messages, for bouncing, and debts of storage"`
	Forward openapi.Decimal `json:"forward_fees" doc:"all that sent messages pay on their way, action_fees included"`
}

type feeDaysAnswer struct {
	Days []dayOfFees `json:"days"`
	more
}

var statsFees = &Endpoint{
	Path: "/stats/fees", Tag: statsTag, Summary: "Fees per day",
	Description: "For each day (UTC) the fees of its transactions by kind. A day belongs to a range of times that touches it. Figures follow within a minute or two.",
	Params:      dayParams, Result: resultOf[feeDaysAnswer](),
	serve: func(q *request) error {
		list, next, err := q.days()
		if err != nil {
			return err
		}
		answer := feeDaysAnswer{Days: make([]dayOfFees, len(list)), more: next}
		for i := range list {
			d := &list[i]
			answer.Days[i] = dayOfFees{
				dayOf(d), decimal(d.Total), decimal(d.Storage), decimal(d.Gas), decimal(d.Action), decimal(d.Other), decimal(d.Forward),
			}
		}
		return q.put(answer)
	},
}

// days reads a page of days.
func (q *request) days() ([]store.DayStats, more, error) {
	page, part, err := q.page(params.Descending)
	if err != nil {
		return nil, more{}, err
	}
	var key uint16
	var after *uint16
	if there, err := q.after(page, &key); err != nil {
		return nil, more{}, err
	} else if there {
		after = &key
	}
	list, goesOn, err := q.store.DayStats(q, q.span("start_utime", "end_utime"), part, after)
	if err != nil || !goesOn {
		return list, more{}, err
	}
	return list, more{q.cursorOf(page.Sort, list[len(list)-1].Day)}, nil
}

type balanceRow struct {
	Least    openapi.Decimal `json:"min_balance" doc:"nanotons, the least balance of these accounts"`
	Most     openapi.Decimal `json:"max_balance" doc:"nanotons, the greatest balance that belongs here"`
	Accounts openapi.Decimal `json:"accounts"`
	Balance  openapi.Decimal `json:"balance" doc:"nanotons, what they have together"`
}

type balancesAnswer struct {
	Balances []balanceRow     `json:"balances" doc:"poorest first; between the first and the last none is left out"`
	Accounts openapi.Decimal  `json:"accounts" doc:"all together"`
	Balance  openapi.Decimal  `json:"balance"`
	Computed openapi.UnixTime `json:"computed_at"`
}

var statsAccountsByBalance = &Endpoint{
	Path: "/stats/accountsByBalance", Tag: statsTag, Summary: "Accounts by balance",
	Description: "How many accounts have how much, in powers of ten: from 0.1 to below 1 TON, from 1 to below 10 TON and so on, and those that have nothing. Figures follow within two or three minutes.",
	Result:      resultOf[balancesAnswer](),
	serve: func(q *request) error {
		list, err := q.store.BalanceStats(q)
		if err != nil {
			return err
		}
		return q.put(balancesOf(list))
	},
}

// balancesOf fills the gaps and adds up.
func balancesOf(list []store.BalanceStats) balancesAnswer {
	answer := balancesAnswer{Balances: []balanceRow{}}
	accounts, balance := uint64(0), new(big.Int)
	for i, b := range list {
		for gap := list[max(i-1, 0)].Digits + 1; gap < b.Digits; gap++ {
			answer.Balances = append(answer.Balances, balanceRowOf(store.BalanceStats{Digits: gap, Balance: "0"}))
		}
		answer.Balances = append(answer.Balances, balanceRowOf(b))
		answer.Computed = openapi.UnixTime(b.Computed)
		accounts += b.Accounts
		if n, ok := new(big.Int).SetString(b.Balance, 10); ok {
			balance.Add(balance, n)
		}
	}
	answer.Accounts, answer.Balance = decimal(accounts), openapi.Decimal(balance.String())
	return answer
}

func balanceRowOf(b store.BalanceStats) balanceRow {
	least, most := "0", "0"
	if b.Digits > 0 {
		least, most = "1"+strings.Repeat("0", int(b.Digits)-1), strings.Repeat("9", int(b.Digits))
	}
	return balanceRow{openapi.Decimal(least), openapi.Decimal(most), decimal(b.Accounts), openapi.Decimal(b.Balance)}
}
