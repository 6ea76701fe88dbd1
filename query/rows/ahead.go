package rows

import (
	"context"

	"tonscribe/query/sql"
	"tonscribe/ton/address"
)

// maxAhead is of how many accounts is read ahead what is known of them.
const maxAhead = 256

// Ahead begins to read what is known of accounts that an answer with address book and
// metadata will name, beside its rows. What cannot be read then is read again with these.
func (r *Reader) Ahead(ctx context.Context, accounts []sql.AccountKey) {
	if r.ahead != nil || len(accounts) == 0 || len(accounts) > maxAhead || r.NoAddressBook || r.NoMetadata {
		return
	}
	done := make(chan struct{})
	r.ahead = done
	go func() {
		defer close(done)
		r.Store.Ahead(ctx, accounts, true)
	}()
}

// maxBeside is of how many accounts it is read at once what contracts they are: what code
// they have is one statement then, and another one beside it costs no time.
const maxBeside = 32

// readAhead waits for what was begun ahead, and reads side by side what is still missing of
// some accounts, with their contracts where these are wanted.
func (r *Reader) readAhead(ctx context.Context, list []address.Address, contracts bool) {
	if r.ahead != nil {
		<-r.ahead
		r.ahead = nil
	}
	if len(list) <= maxAhead {
		r.Store.Ahead(ctx, sql.KeysOf(list), contracts && len(list) <= maxBeside)
	}
}
