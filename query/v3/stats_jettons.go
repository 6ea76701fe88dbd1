package v3

import (
	"encoding/json"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/store"
	"tonscribe/ton/address"
)

type jettonFigures struct {
	Jetton    openapi.Address  `json:"jetton" doc:"jetton master"`
	Holders   openapi.Decimal  `json:"holders" doc:"confirmed wallets with a balance"`
	Wallets   openapi.Decimal  `json:"wallets" doc:"confirmed wallets"`
	Held      openapi.Decimal  `json:"held" doc:"what the wallets hold together, in the jetton's units"`
	Transfers openapi.Decimal  `json:"transfers" doc:"transfers of the last days that were delivered"`
	Amount    openapi.Decimal  `json:"transferred" doc:"their amounts together, in the jetton's units"`
	Computed  openapi.UnixTime `json:"computed_at" doc:"when the figure that is the order was computed"`
}

type jettonFiguresAnswer struct {
	Jettons []jettonFigures `json:"jettons"`
	Since   string          `json:"transfers_since" doc:"the first day (UTC) whose transfers count"`
	book
	more
}

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
	Params: params.Join([]params.Param{
		{Name: "by", Kind: params.TextKind, Default: "holders", Enum: []string{"holders", "transfers"}, Description: "what they are ranked by"},
		{Name: "days", Kind: params.Int32Kind, Default: "7", Range: "1..365", Description: "days (UTC) whose transfers count"},
	}, params.PageParams("", "")[:3]),
	Result: resultOf[jettonFiguresAnswer](),
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
	page, part, err := q.page(params.Descending)
	if err != nil {
		return err
	}
	var key store.JettonStatsKey
	var after *store.JettonStatsKey
	if there, err := q.after(page, &key); err != nil {
		return err
	} else if there {
		after = &key
	}
	last := q.view.GenUtime / secondsOfDay
	from := uint16(last - min(last, uint32(days)-1))
	list, goesOn, err := q.store.JettonStats(q, by == "transfers", from, part, after)
	if err != nil {
		return err
	}
	if err := q.jettonFigures(list, from); err != nil {
		return err
	}
	if goesOn {
		last := &list[len(list)-1]
		key = store.JettonStatsKey{Number: last.Holders, Master: last.Master}
		if by == "transfers" {
			key.Number = last.Transfers
		}
		q.nextCursor(page.Sort, key)
	}
	q.body = append(q.body, '}')
	return nil
}

// jettonFigures appends a page, but for the end of its object.
func (q *request) jettonFigures(list []store.JettonStats, from uint16) error {
	rows, book := make([]jettonFigures, len(list)), addresses{}
	for i := range list {
		j := &list[i]
		book.add(j.Master[:])
		rows[i] = jettonFigures{
			openapi.Address(address.AppendRaw(nil, j.Master[:])), decimal(j.Holders), decimal(j.Wallets), openapi.Decimal(j.Held),
			decimal(j.Transfers), openapi.Decimal(j.Amount), openapi.UnixTime(j.Computed),
		}
	}
	encoded, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	q.body = append(append(q.body, `{"jettons":`...), encoded...)
	q.body = append(append(append(q.body, `,"transfers_since":"`...), dateOf(from)...), '"')
	return q.addressBook(book)
}
