package endpoints

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	v3 "tonscribe/query/v3"
)

const statsTag = "Stats"

// secondsOfDay parts times into days (UTC).
const secondsOfDay = 86400

func dateOf(day uint16) string {
	return time.Unix(int64(day)*secondsOfDay, 0).UTC().Format(time.DateOnly)
}

type dayStats = *store.DayStats

// dayOf are the members of the figures of a day, before the figures.
func dayOf(figures ...api.Member[dayStats]) []api.Member[dayStats] {
	return append([]api.Member[dayStats]{
		api.Text("day", func(d dayStats) string { return dateOf(d.Day) }).Doc("date (UTC), year-month-day"),
		api.UnixTime("utime", func(d dayStats) uint32 { return uint32(d.Day) * secondsOfDay }).Doc("its first second"),
		api.UnixTime("computed_at", func(d dayStats) uint32 { return d.Computed }).Doc("when the figures were computed; those of a day that goes on grow"),
	}, figures...)
}

var transactionDaysAnswer = v3.ListOf("TransactionDaysAnswer", "days", api.New("DayOfTransactions", dayOf(
	api.Decimal("transactions", func(d dayStats) uint64 { return d.Transactions }),
	api.Decimal("failed", func(d dayStats) uint64 { return d.Aborted }).Doc("transactions that were aborted"),
	api.Decimal("active_accounts", func(d dayStats) uint64 { return d.Accounts }).Doc("accounts that had a transaction"),
)...), v3.HasNext)

// dayParams are those of lists of days.
var dayParams = slices.Concat(params.UtimeRange("time of the day"), params.PageParams("desc", "by day"))

var statsTransactions = &v3.Endpoint{
	Path: "/stats/transactions", Tag: statsTag, Summary: "Transactions per day",
	Description: "For each day (UTC) how many transactions there were, how many were aborted, and how many accounts had one. A day belongs to a range of times that touches it. Figures follow within a minute or two.",
	Params:      dayParams, Result: transactionDaysAnswer,
	Serve: func(q *v3.Request) error { return serveDays(q, transactionDaysAnswer) },
}

var feeDaysAnswer = v3.ListOf("FeeDaysAnswer", "days", api.New("DayOfFees", dayOf(
	api.Decimal("total_fees", func(d dayStats) uint64 { return d.Total }).Doc("nanotons; the sum of the four that follow"),
	api.Decimal("storage_fees", func(d dayStats) uint64 { return d.Storage }).Doc("for keeping state"),
	api.Decimal("gas_fees", func(d dayStats) uint64 { return d.Gas }).Doc("for computing"),
	api.Decimal("action_fees", func(d dayStats) uint64 { return d.Action }).Doc("for sending messages, the part that the sending transaction keeps"),
	api.Decimal("other_fees", func(d dayStats) uint64 { return d.Other }).Doc("for importing external messages, for bouncing, and debts of storage"),
	api.Decimal("forward_fees", func(d dayStats) uint64 { return d.Forward }).Doc("all that sent messages pay on their way, bounced ones left out, action_fees included"),
)...), v3.HasNext)

var statsFees = &v3.Endpoint{
	Path: "/stats/fees", Tag: statsTag, Summary: "Fees per day",
	Description: "For each day (UTC) the fees of its transactions by kind. A day belongs to a range of times that touches it. Figures follow within a minute or two.",
	Params:      dayParams, Result: feeDaysAnswer,
	Serve: func(q *v3.Request) error { return serveDays(q, feeDaysAnswer) },
}

// serveDays answers a page of days.
func serveDays(q *v3.Request, l *v3.AnswerList[dayStats]) error {
	return v3.ServePage(q, l, &v3.Page[store.DayStats, dayStats, uint16]{
		Sort: params.Descending,
		Read: func(page paging.Page, after *uint16) ([]store.DayStats, bool, error) {
			return q.Store.DayStats(q, q.Span("start_utime", "end_utime"), page, after)
		},
		Row:   func(d store.DayStats) dayStats { return &d },
		KeyOf: func(d store.DayStats) uint16 { return d.Day },
	})
}

type balanceStats = *store.BalanceStats

// balances are how many accounts have how much.
type balances struct {
	list              []store.BalanceStats
	accounts, balance string
	computed          uint32
}

var balanceRow = api.New("BalanceRow",
	api.DecimalText("min_balance", func(b balanceStats) string {
		if b.Digits == 0 {
			return "0"
		}
		return "1" + strings.Repeat("0", int(b.Digits)-1)
	}).Doc("nanotons, the least balance of these accounts"),
	api.DecimalText("max_balance", func(b balanceStats) string {
		if b.Digits == 0 {
			return "0"
		}
		return strings.Repeat("9", int(b.Digits))
	}).Doc("nanotons, the greatest balance that belongs here"),
	api.Decimal("accounts", func(b balanceStats) uint64 { return b.Accounts }),
	api.DecimalText("balance", func(b balanceStats) string { return b.Balance }).Doc("nanotons, what they have together"),
)

var balancesAnswer = api.New("BalancesAnswer",
	api.List("balances", balanceRow, func(b *balances) []store.BalanceStats { return b.list }, func(b store.BalanceStats) balanceStats { return &b }).
		Doc("poorest first; between the first and the last none is left out"),
	api.DecimalText("accounts", func(b *balances) string { return b.accounts }).Doc("all together"),
	api.DecimalText("balance", func(b *balances) string { return b.balance }),
	api.UnixTime("computed_at", func(b *balances) uint32 { return b.computed }),
)

var statsAccountsByBalance = &v3.Endpoint{
	Path: "/stats/accountsByBalance", Tag: statsTag, Summary: "Accounts by balance",
	Description: "How many accounts have how much, in powers of ten: from 0.1 to below 1 TON, from 1 to below 10 TON and so on, and those that have nothing. Figures follow within two or three minutes.",
	Result:      balancesAnswer,
	Serve: func(q *v3.Request) error {
		list, err := q.Store.BalanceStats(q)
		if err == nil {
			q.Body = balancesAnswer.Append(q.Body, balancesOf(list))
		}
		return err
	},
}

// balancesOf fills the gaps and adds up.
func balancesOf(list []store.BalanceStats) *balances {
	all := &balances{}
	accounts, balance := uint64(0), new(big.Int)
	for i, b := range list {
		for gap := list[max(i-1, 0)].Digits + 1; gap < b.Digits; gap++ {
			all.list = append(all.list, store.BalanceStats{Digits: gap, Balance: "0"})
		}
		all.list, all.computed = append(all.list, b), b.Computed
		accounts += b.Accounts
		if n, ok := new(big.Int).SetString(b.Balance, 10); ok {
			balance.Add(balance, n)
		}
	}
	all.accounts, all.balance = strconv.FormatUint(accounts, 10), balance.String()
	return all
}

type jettonStats = *store.JettonStats

var jettonFiguresAnswer = v3.ListOf("JettonFiguresAnswer", "jettons", api.New("JettonFigures",
	api.Address("jetton", func(j jettonStats) []byte { return j.Master[:] }).Doc("jetton master"),
	api.Decimal("holders", func(j jettonStats) uint64 { return j.Holders }).Doc("confirmed wallets with a balance"),
	api.Decimal("wallets", func(j jettonStats) uint64 { return j.Wallets }).Doc("confirmed wallets"),
	api.DecimalText("held", func(j jettonStats) string { return j.Held }).Doc("what the wallets hold together, in the jetton's units; 2^256-1 where they say more"),
	api.Decimal("transfers", func(j jettonStats) uint64 { return j.Transfers }).Doc("transfers of the last days that were delivered"),
	api.DecimalText("transferred", func(j jettonStats) string { return j.Amount }).Doc("their amounts together, in the jetton's units"),
	api.UnixTime("computed_at", func(j jettonStats) uint32 { return j.Computed }).Doc("when the figure that is the order was computed"),
), v3.HasBook|v3.HasNext, api.Text[v3.Described]("transfers_since", nil).Doc("the first day (UTC) whose transfers count"))

// Limits of the days of statsJettons.
const (
	defaultDays = 7
	maxDays     = 365
)

var (
	errRanking = params.Unprocessable("by should be one of: holders, transfers")
	errDays    = params.Unprocessable("days should be from 1 to %d", maxDays)
)

var statsJettons = &v3.Endpoint{
	Path: "/stats/jettons", Tag: statsTag, Summary: "Top jettons",
	Description: "The jettons with the most holders, or those with the most transfers in the last days, the newest indexed one included. Figures follow within two or three minutes.",
	Params: slices.Concat([]params.Param{
		{Name: "by", Kind: params.TextKind, Default: "holders", Enum: []string{"holders", "transfers"}, Description: "what they are ranked by"},
		{Name: "days", Kind: params.Int32Kind, Default: "7", Range: "1..365", Description: "days (UTC) whose transfers count"},
	}, params.PageParams("", "")[:3]),
	Result: jettonFiguresAnswer,
	Errors: []params.Error{*errRanking, *errDays},
	Serve:  serveStatsJettons,
}

func serveStatsJettons(q *v3.Request) error {
	by := q.Values.Text("by")
	if by != "" && by != "holders" && by != "transfers" {
		return errRanking
	}
	days := int32(defaultDays)
	if n, sent := q.Values.Int32("days"); sent {
		days = n
	}
	if days < 1 || days > maxDays {
		return errDays
	}
	last := q.View.GenUtime / secondsOfDay
	from := uint16(last - min(last, uint32(days)-1))
	return v3.ServePage(q, jettonFiguresAnswer, &v3.Page[store.JettonStats, jettonStats, store.JettonStatsKey]{
		Sort: params.Descending,
		Read: func(page paging.Page, after *store.JettonStatsKey) ([]store.JettonStats, bool, error) {
			return q.Store.JettonStats(q, by == "transfers", from, page, after)
		},
		Row: func(j store.JettonStats) jettonStats { return &j },
		KeyOf: func(j store.JettonStats) store.JettonStatsKey {
			if by == "transfers" {
				return store.JettonStatsKey{Number: j.Transfers, Master: j.Master}
			}
			return store.JettonStatsKey{Number: j.Holders, Master: j.Master}
		},
		Between: func(dst []byte) []byte {
			return append(append(append(dst, `,"transfers_since":"`...), dateOf(from)...), '"')
		},
	})
}

var topAccountsByBalance = &v3.Endpoint{
	Path: "/topAccountsByBalance", Tag: "Stats", Summary: "Top accounts by balance",
	Description: "The accounts with the greatest balances, the greatest first. The header X-Next-Cursor has the cursor of the next page.",
	Params: []params.Param{
		params.LimitParam("100"), params.OffsetParam,
		{Name: "cursor", Kind: params.TextKind, Group: params.Paging, Description: "X-Next-Cursor of the page before"},
	},
	Result: v3.Unnamed(api.ListOf(render.RichAccount)),
	Serve:  serveTopAccounts,
}

func serveTopAccounts(q *v3.Request) error {
	page, _, err := q.Page(params.Unsorted)
	if err != nil {
		return err
	}
	after, err := v3.AfterOf[store.Balance](q, page)
	if err != nil {
		return err
	}
	list, err := q.Store.TopAccounts(q, q.View, page.Offset, page.Limit, after)
	if err != nil {
		return err
	}
	w := q.Writer(0, 0)
	api.WriteList(w, render.RichAccount, list, func(b store.Balance) *render.Balance { return &render.Balance{Account: b.Account, Amount: b.Amount} })
	q.Body = w.JSON
	if len(list) == page.Limit {
		q.Next = q.CursorOf(page.Sort, list[len(list)-1])
	}
	return nil
}
