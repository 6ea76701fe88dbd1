package rows

import (
	"context"

	"tonscribe/query/sql"
	"tonscribe/ton/address"
)

// MaxAhead is of how many accounts is read ahead what is known of them.
const MaxAhead = 256

// Ahead begins to read what is known of accounts that an answer with address book and
// metadata will name, beside its rows. What cannot be read then is read again with these.
func (r *Reader) Ahead(ctx context.Context, accounts []sql.AccountKey) {
	if !r.NoMetadata {
		r.begin(ctx, accounts, true)
	}
}

// BookAhead is Ahead for what the address book alone tells of them.
func (r *Reader) BookAhead(ctx context.Context, accounts []sql.AccountKey) {
	r.begin(ctx, accounts, false)
}

func (r *Reader) begin(ctx context.Context, accounts []sql.AccountKey, contracts bool) {
	if r.ahead != nil || len(accounts) == 0 || len(accounts) > MaxAhead || r.NoAddressBook {
		return
	}
	done := make(chan struct{})
	r.ahead = done
	go func() {
		defer close(done)
		r.Store.Ahead(ctx, accounts, contracts)
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
	if len(list) <= MaxAhead {
		r.Store.Ahead(ctx, sql.KeysOf(list), contracts && len(list) <= maxBeside)
	}
}
