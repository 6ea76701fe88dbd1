package v3

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/params"
	"tonscribe/query/store"
)

type jettonStats = *store.JettonStats

var jettonFiguresAnswer = listOf("JettonFiguresAnswer", "jettons", api.New("JettonFigures",
	api.Address("jetton", func(j jettonStats) []byte { return j.Master[:] }).Doc("jetton master"),
	api.Decimal("holders", func(j jettonStats) uint64 { return j.Holders }).Doc("confirmed wallets with a balance"),
	api.Decimal("wallets", func(j jettonStats) uint64 { return j.Wallets }).Doc("confirmed wallets"),
	api.DecimalText("held", func(j jettonStats) string { return j.Held }).Doc("what the wallets hold together, in the jetton's units"),
	api.Decimal("transfers", func(j jettonStats) uint64 { return j.Transfers }).Doc("transfers of the last days that were delivered"),
	api.DecimalText("transferred", func(j jettonStats) string { return j.Amount }).Doc("their amounts together, in the jetton's units"),
	api.UnixTime("computed_at", func(j jettonStats) uint32 { return j.Computed }).Doc("when the figure that is the order was computed"),
), hasBook|hasNext, api.Text[described]("transfers_since", nil).Doc("the first day (UTC) whose transfers count"))

// Limits of the days of statsJettons.
const (
	defaultDays = 7
	mostDays    = 365
)

var (
	errRanking = params.Unprocessable("by should be one of: holders, transfers")
	errDays    = params.Unprocessable("days should be from 1 to %d", mostDays)
)

var statsJettons = &Endpoint{
	Path: "/stats/jettons", Tag: statsTag, Summary: "Top jettons",
	Description: "The jettons with the most holders, or those with the most transfers in the last days, the newest indexed one included. Figures follow within two or three minutes.",
	Params: slices.Concat([]params.Param{
		{Name: "by", Kind: params.TextKind, Default: "holders", Enum: []string{"holders", "transfers"}, Description: "what they are ranked by"},
		{Name: "days", Kind: params.Int32Kind, Default: "7", Range: "1..365", Description: "days (UTC) whose transfers count"},
	}, params.PageParams("", "")[:3]),
	Result: jettonFiguresAnswer,
	Errors: []params.Error{*errRanking, *errDays},
	serve:  serveStatsJettons,
}

func serveStatsJettons(q *request) error {
	by := q.values.Text("by")
	if by != "" && by != "holders" && by != "transfers" {
		return errRanking
	}
	days := int32(defaultDays)
	if n, sent := q.values.Int32("days"); sent {
		days = n
	}
	if days < 1 || days > mostDays {
		return errDays
	}
	last := q.view.GenUtime / secondsOfDay
	from := uint16(last - min(last, uint32(days)-1))
	return servePage(q, jettonFiguresAnswer, &page[store.JettonStats, jettonStats, store.JettonStatsKey]{
		sort: params.Descending,
		read: func(page list.Page, after *store.JettonStatsKey) ([]store.JettonStats, bool, error) {
			return q.store.JettonStats(q, by == "transfers", from, page, after)
		},
		row: func(j store.JettonStats) jettonStats { return &j },
		keyOf: func(j store.JettonStats) store.JettonStatsKey {
			if by == "transfers" {
				return store.JettonStatsKey{Number: j.Transfers, Master: j.Master}
			}
			return store.JettonStatsKey{Number: j.Holders, Master: j.Master}
		},
		between: func(dst []byte) []byte {
			return append(append(append(dst, `,"transfers_since":"`...), dateOf(from)...), '"')
		},
	})
}
