package explain

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// Tables are the newest states of the index.
type Tables struct {
	Conn driver.Conn
}

// Account is the newest state of an account.
func (t Tables) Account(ctx context.Context, address []byte) (*Subject, error) {
	a, err := t.record(ctx, address)
	if err != nil {
		return nil, err
	}
	s := &Subject{Address: address, Status: a.State.GetStatus(), Balance: a.State.GetBalance(), LastLT: a.LastTransLt, Now: a.Now}
	if s.Status != record.AccountStatus_ACCOUNT_ACTIVE {
		return s, nil
	}
	if s.Code, err = t.code(ctx, a.State.CodeHash); errors.Is(err, ErrUnknown) {
		s.Missing = "code"
	} else if err != nil {
		return nil, err
	}
	switch {
	case len(a.Data) > 0:
		if s.Data, err = cell.FromBOC(a.Data); err != nil {
			return nil, fmt.Errorf("data of %s: %w", raw(address), err)
		}
	case len(a.State.DataHash) > 0:
		s.Missing = "data"
	}
	return s, nil
}

func (t Tables) record(ctx context.Context, address []byte) (*record.Account, error) {
	id, a := schema.AccountID(address), &record.Account{}
	raw, err := t.value(ctx, `SELECT record FROM accounts WHERE workchain = ? AND account_prefix = ? AND account = unhex(?)
		ORDER BY version DESC LIMIT 1`, schema.Workchain(address), schema.Prefix(id), fmt.Sprintf("%x", id))
	if err != nil {
		return nil, err
	}
	return a, a.UnmarshalVT(raw)
}

func (t Tables) code(ctx context.Context, hash []byte) (*cell.Cell, error) {
	boc, err := t.value(ctx, `SELECT boc FROM codes WHERE hash = unhex(?) LIMIT 1`, fmt.Sprintf("%x", hash))
	if err != nil {
		return nil, err
	}
	return cell.FromBOC(boc)
}

// value is the only value of the only row of a query.
func (t Tables) value(ctx context.Context, query string, args ...any) (value []byte, err error) {
	if err = t.Conn.QueryRow(ctx, query, args...).Scan(&value); errors.Is(err, sql.ErrNoRows) {
		return nil, ErrUnknown
	}
	return value, err
}

// configAccount is the account that holds the config.
var configAccount = address.MustParse("-1:5555555555555555555555555555555555555555555555555555555555555555")

// Config is the config of the chain, nil when it is not known.
func (t Tables) Config(ctx context.Context) (*tvm.Config, error) {
	s, err := t.Account(ctx, configAccount[:])
	if errors.Is(err, ErrUnknown) || err == nil && s.Data == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	root, err := s.Data.PeekRef(0)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return tvm.Prepare(root)
}
