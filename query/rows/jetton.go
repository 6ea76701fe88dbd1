package rows

import (
	"context"

	"tonscribe/query/api"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Jetton returns what the content of a jetton says of its units, and false for an account
// that is no jetton master.
func (r *Reader) Jetton(ctx context.Context, master address.Address) (render.Jetton, bool, error) {
	if _, err := r.Store.View(); err != nil {
		return render.Jetton{}, false, err
	}
	found, err := r.Contracts(ctx, api.Book{master: {}})
	c := found[master]
	if err != nil || c.GetJettonMaster() == nil {
		return render.Jetton{}, false, err
	}
	documents, err := r.DocumentsOf(ctx, map[address.Address]*record.Contract{master: c})
	return render.JettonOf(c, documents), err == nil, err
}
