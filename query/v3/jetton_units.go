package v3

import (
	"context"

	"tonscribe/query/api"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Jetton returns what the content of a jetton says of its units, and false for an account
// that is no jetton master.
func (a *API) Jetton(ctx context.Context, master address.Address) (render.Jetton, bool, error) {
	view, err := a.store.View()
	if err != nil {
		return render.Jetton{}, false, err
	}
	q := &answers{store: a.store, view: view}
	found, err := q.contracts(ctx, api.Book{master: {}})
	c := found[master]
	if err != nil || c.GetJettonMaster() == nil {
		return render.Jetton{}, false, err
	}
	documents, err := q.documentsOf(ctx, map[address.Address]*record.Contract{master: c})
	return render.JettonOf(c, documents), err == nil, err
}
