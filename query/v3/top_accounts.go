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
		params.LimitParam("100"), params.OffsetParam,
		{Name: "cursor", Kind: params.TextKind, Group: params.Paging, Description: "X-Next-Cursor of the page before"},
	},
	Result: unnamed(api.ListOf(render.RichAccount)),
	serve:  serveTopAccounts,
}

func serveTopAccounts(q *request) error {
	page, _, err := q.page(params.Unsorted)
	if err != nil {
		return err
	}
	after, err := afterOf[store.Balance](q, page)
	if err != nil {
		return err
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
