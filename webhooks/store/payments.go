package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/ton/address"
)

// Reference names a payment: a UUID of version 7.
type Reference = [16]byte

// Payment is what a merchant has registered.
type Payment struct {
	Reference Reference
	Merchant  ID
	BodyHash  Hash // of the body that the payer signs
	// Master is the jetton's, nil for the native coin.
	Master            *address.Address
	Amount            *big.Int // in base units
	Sender, Recipient address.Address
	// SenderWallet and RecipientWallet are their jetton wallets; zero for the native coin.
	SenderWallet, RecipientWallet address.Address
	// SenderText and RecipientText are the addresses as the merchant wrote them.
	SenderText, RecipientText string
	// QueryID is that of a jetton transfer, nil for one made of the reference.
	QueryID                             *uint64
	CommentToSender, CommentToRecipient string
	Ticker                              string // empty where unknown
	Decimals                            uint8
	Created                             time.Time
}

// Payments is the table of payments.
type Payments struct {
	*Store
	waiting chan registration
	recent  recent
}

// registration is a payment that waits for its insert.
type registration struct {
	payment Payment
	done    chan<- error // with room for one
}

const (
	// maxInsert is how many payments one insert has at most.
	maxInsert = 1000
	// insertPause is the least time between the beginnings of two inserts: each is a part
	// that ClickHouse has to merge.
	insertPause = 50 * time.Millisecond
	// insertLimit bounds one insert.
	insertLimit = 10 * time.Second
)

// ErrStopped says that a payment was not written because the process ends.
var ErrStopped = errors.New("the process ends: the payment was not registered")

func newPayments(s *Store) *Payments {
	p := &Payments{Store: s, waiting: make(chan registration, maxInsert)}
	s.tasks = append(s.tasks, p.write)
	return p
}

// Put registers a payment, together with others that come at the same time. An error of
// ctx leaves open whether it was registered.
func (p *Payments) Put(ctx context.Context, one Payment) error {
	done := make(chan error, 1)
	select {
	case p.waiting <- registration{one, done}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.Done():
		return ErrStopped
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.Done():
	}
	select {
	case err := <-done: // the last insert
		return err
	default:
		return ErrStopped
	}
}

// write inserts what waits until ctx ends.
func (p *Payments) write(ctx context.Context) {
	for {
		var batch []registration
		select {
		case first := <-p.waiting:
			batch = append(batch, first)
		case <-ctx.Done():
			return
		}
		for len(batch) < maxInsert && len(p.waiting) > 0 {
			batch = append(batch, <-p.waiting)
		}
		began := time.Now()
		err := p.insertAll(ctx, batch)
		for _, one := range batch {
			if err == nil {
				p.recent.add(one.payment)
			}
			one.done <- err
		}
		_ = lifetime.Sleep(ctx, max(0, insertPause-time.Since(began))) // the loop sees that ctx has ended
	}
}

func (p *Payments) insertAll(ctx context.Context, batch []registration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), insertLimit)
	defer cancel()
	rows := make([]Payment, len(batch))
	token := sha256.New()
	for i := range batch {
		rows[i] = batch[i].payment
		token.Write(rows[i].Reference[:])
	}
	account := func(a address.Address) string {
		if a == (address.Address{}) {
			return ""
		}
		return string(a[:])
	}
	return named(p.client.Insert(ctx, clickhouse.Insert{Table: "payments", Token: hex.EncodeToString(token.Sum(nil)), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("reference", rows, func(r *Payment) []byte { return r.Reference[:] }),
		clickhouse.ColumnOf("merchant", rows, func(r *Payment) []byte { return r.Merchant[:] }),
		clickhouse.ColumnOf("body_hash", rows, func(r *Payment) []byte { return r.BodyHash[:] }),
		clickhouse.ColumnOf("asset", rows, func(r *Payment) string {
			if r.Master == nil {
				return ""
			}
			return string(r.Master[:])
		}),
		clickhouse.ColumnOf("amount", rows, func(r *Payment) *big.Int { return r.Amount }),
		clickhouse.ColumnOf("sender", rows, func(r *Payment) []byte { return r.Sender[:] }),
		clickhouse.ColumnOf("recipient", rows, func(r *Payment) []byte { return r.Recipient[:] }),
		clickhouse.ColumnOf("sender_wallet", rows, func(r *Payment) string { return account(r.SenderWallet) }),
		clickhouse.ColumnOf("recipient_wallet", rows, func(r *Payment) string { return account(r.RecipientWallet) }),
		clickhouse.ColumnOf("sender_text", rows, func(r *Payment) string { return r.SenderText }),
		clickhouse.ColumnOf("recipient_text", rows, func(r *Payment) string { return r.RecipientText }),
		clickhouse.ColumnOf("query_id", rows, func(r *Payment) *uint64 { return r.QueryID }),
		clickhouse.ColumnOf("comment_to_sender", rows, func(r *Payment) string { return r.CommentToSender }),
		clickhouse.ColumnOf("comment_to_recipient", rows, func(r *Payment) string { return r.CommentToRecipient }),
		clickhouse.ColumnOf("ticker", rows, func(r *Payment) string { return r.Ticker }),
		clickhouse.ColumnOf("decimals", rows, func(r *Payment) uint8 { return r.Decimals }),
		clickhouse.ColumnOf("created", rows, func(r *Payment) time.Time { return r.Created }),
		clickhouse.ColumnOf("changed", rows, func(r *Payment) uint64 { return uint64(r.Created.UnixMicro()) }),
	}}))
}

// Find returns the payments that references name, by these.
func (p *Payments) Find(ctx context.Context, references []Reference) (map[Reference]Payment, error) {
	all := make(map[Reference]Payment, len(references))
	references = p.recent.find(references, all)
	for some := range slices.Chunk(references, maxInsert) {
		found := map[Reference]Payment{}
		if err := p.read(ctx, "reference IN ("+constants(some)+")", found); err != nil {
			return nil, err
		}
		for reference, one := range found {
			p.recent.add(one)
			all[reference] = one
		}
	}
	return all, nil
}

// Get returns a payment of a merchant. One of another merchant is looked for as one that
// there is not.
func (p *Payments) Get(ctx context.Context, merchant ID, reference Reference) (Payment, error) {
	found := map[Reference]Payment{}
	p.recent.find([]Reference{reference}, found)
	if one, is := found[reference]; is && one.Merchant == merchant {
		return one, nil
	}
	clear(found)
	if err := p.read(ctx, "reference = "+unhex(reference[:])+" AND merchant = "+unhex(merchant[:]), found); err != nil {
		return Payment{}, err
	}
	one, is := found[reference]
	if !is {
		return Payment{}, ErrNotFound
	}
	p.recent.add(one)
	return one, nil
}

// ByBody returns the payments whose bodies have some hashes, by these.
func (p *Payments) ByBody(ctx context.Context, hashes []Hash) (map[Hash]Payment, error) {
	references, hashes := p.recent.ofBodies(hashes)
	for some := range slices.Chunk(hashes, maxInsert) {
		more, err := p.references(ctx, "SELECT DISTINCT reference FROM payments WHERE body_hash IN ("+constants(some)+")")
		if err != nil {
			return nil, err
		}
		references = append(references, more...)
	}
	found, err := p.Find(ctx, references)
	all := make(map[Hash]Payment, len(found))
	for _, one := range found {
		all[one.BodyHash] = one
	}
	return all, err
}

// List is the payments of a merchant before a reference, the newest first; nil is the
// end of time.
func (p *Payments) List(ctx context.Context, merchant ID, before *Reference, limit int) ([]Payment, error) {
	end, newest := "", p.now()
	if before != nil {
		end, newest = " AND reference < "+unhex(before[:]), timeOf(*before)
	}
	var references []Reference
	for _, span := range spans {
		if len(references) == limit {
			break
		}
		first := firstOf(newest.Add(-span))
		more, err := p.references(ctx, "SELECT DISTINCT reference FROM payments WHERE merchant = "+unhex(merchant[:])+" AND reference >= "+unhex(first[:])+end+
			" ORDER BY reference DESC LIMIT "+strconv.Itoa(limit-len(references)))
		if err != nil {
			return nil, err
		}
		references, end = append(references, more...), " AND reference < "+unhex(first[:])
	}
	found, err := p.Find(ctx, references)
	return slices.SortedFunc(maps.Values(found), func(a, b Payment) int { return -cmp.Compare(string(a.Reference[:]), string(b.Reference[:])) }), err
}

// spans are the times that a list goes back, one after another: ClickHouse reads all rows
// of a range of a projection, however few are wanted.
var spans = []time.Duration{time.Hour, 24 * time.Hour, 30 * 24 * time.Hour, 2 * 365 * 24 * time.Hour, math.MaxInt64}

// timeOf is when a reference was made, firstOf the first reference of a moment.
func timeOf(r Reference) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(r[:8]) >> 16))
}

func firstOf(t time.Time) (r Reference) {
	binary.BigEndian.PutUint64(r[:8], uint64(max(t.UnixMilli(), 0))<<16)
	return r
}

func (p *Payments) references(ctx context.Context, statement string) (all []Reference, err error) {
	var reference string
	err = p.each(ctx, statement, func() { all = append(all, Reference([]byte(reference))) }, &reference)
	return all, err
}

// read adds the payments that a condition takes. Rows of one are alike.
func (p *Payments) read(ctx context.Context, where string, all map[Reference]Payment) error {
	var reference, merchant, body, asset, sender, recipient, senderWallet, recipientWallet string
	var row Payment
	var amount big.Int
	return p.each(ctx, `SELECT reference, merchant, body_hash, asset, amount, sender, recipient, sender_wallet, recipient_wallet, sender_text, recipient_text,
		query_id, comment_to_sender, comment_to_recipient, ticker, decimals, created FROM payments WHERE `+where, func() {
		one := row
		one.Reference, one.Merchant, one.BodyHash, one.Amount = Reference([]byte(reference)), ID([]byte(merchant)), Hash([]byte(body)), new(big.Int).Set(&amount)
		one.Master = nil
		if len(asset) == address.Size {
			master := address.Address([]byte(asset))
			one.Master = &master
		}
		copy(one.Sender[:], sender)
		copy(one.Recipient[:], recipient)
		copy(one.SenderWallet[:], senderWallet)
		copy(one.RecipientWallet[:], recipientWallet)
		if row.QueryID != nil {
			id := *row.QueryID
			one.QueryID = &id
		}
		all[one.Reference] = one
	}, &reference, &merchant, &body, &asset, &amount, &sender, &recipient, &senderWallet, &recipientWallet, &row.SenderText, &row.RecipientText,
		&row.QueryID, &row.CommentToSender, &row.CommentToRecipient, &row.Ticker, &row.Decimals, &row.Created)
}

// constants are values of a statement's list.
func constants[V [16]byte | [32]byte](values []V) string {
	texts := make([]string, len(values))
	for i, v := range values {
		switch v := any(v).(type) {
		case [16]byte:
			texts[i] = unhex(v[:])
		case [32]byte:
			texts[i] = unhex(v[:])
		}
	}
	return strings.Join(texts, ", ")
}
