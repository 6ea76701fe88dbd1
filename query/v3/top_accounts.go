package v3

import (
	"tonscribe/query/api"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
)

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
	Result: bareList{render.RichAccount},
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
	w := q.writer(0, 0)
	api.WriteList(w, render.RichAccount, list, func(b store.Balance) *render.Balance { return &render.Balance{Account: b.Account, Amount: b.Amount} })
	q.body = w.JSON
	if len(list) == page.Limit {
		q.next = q.cursorOf(page.Sort, list[len(list)-1])
	}
	return nil
}
