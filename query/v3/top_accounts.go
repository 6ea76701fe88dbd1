package v3

import (
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
)

type richAccount struct {
	Account openapi.Address `json:"account"`
	Balance openapi.Decimal `json:"balance" doc:"nanotons"`
}

// nextCursorHeader has the cursor of the next page where the answer is a bare
// list.
const nextCursorHeader = "X-Next-Cursor"

var topAccountsByBalance = &Endpoint{
	Path: "/topAccountsByBalance", Tag: "Stats", Summary: "Top accounts by balance",
	Description: "The accounts with the greatest balances, the greatest first. The header X-Next-Cursor has the cursor of the next page.",
	Params: []params.Param{
		{Name: "limit", Kind: params.Int32Kind, Group: params.Paging, Default: "100", Range: "1..1000", Description: "page size; below 1 counts as 1"},
		{Name: "offset", Kind: params.Int32Kind, Group: params.Paging, Default: "0", Range: "≥ 0", Description: "rows skipped; below 0 counts as 0"},
		{Name: "cursor", Kind: params.TextKind, Group: params.Paging, Description: "X-Next-Cursor of the page before"},
	},
	Result: resultOf[[]richAccount](),
	serve:  serveTopAccounts,
}

func serveTopAccounts(q *request) error {
	page := params.Page{Limit: 100, Cursor: q.values.Text("cursor")}
	if limit, sent := q.values.Int32("limit"); sent {
		page.Limit = max(int(limit), 1)
	}
	if page.Limit > params.MaxLimit {
		return params.Unprocessable("limit is not allowed: %d > %d", page.Limit, params.MaxLimit)
	}
	if offset, sent := q.values.Int32("offset"); sent {
		page.Offset = max(int(offset), 0)
	}
	if err := q.notTooDeep(page.Offset); err != nil {
		return err
	}
	var key store.Balance
	var after *store.Balance
	if there, err := q.after(page, &key); err != nil {
		return err
	} else if there {
		after = &key
	}
	list, err := q.store.TopAccounts(q, q.view, page.Offset, page.Limit, after)
	if err != nil {
		return err
	}
	q.body = append(q.body, '[')
	for i, b := range list {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		q.body = render.Balance(q.body, b.Account[:], b.Amount)
	}
	q.body = append(q.body, ']')
	if len(list) == page.Limit {
		q.next = q.cursorOf(page.Sort, list[len(list)-1])
	}
	return nil
}
