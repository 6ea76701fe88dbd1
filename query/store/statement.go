package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// conditions are parts of a WHERE, all of which must hold.
type conditions []string

func (c *conditions) add(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// between adds a range of a column whose greatest value is top.
func (c *conditions) between(column string, r Range, top uint64) {
	if r.From > 0 {
		c.add("%s >= %d", column, min(r.From, top))
		if r.From > top {
			c.add("0")
		}
	}
	if r.To < top {
		c.add("%s <= %d", column, r.To)
	}
}

func (c conditions) String() string {
	if len(c) == 0 {
		return "1"
	}
	return strings.Join(c, " AND ")
}

// notBefore is the condition that columns do not lie before values in an order:
// the first by itself, which ClickHouse finds in a key by halving, then all of
// them. For comparisons joined by OR it would look at every granule of the table.
func notBefore(descending bool, columns, values []string) string {
	sign := ">="
	if descending {
		sign = "<="
	}
	return fmt.Sprintf("%[1]s %[2]s %[3]s AND (%[4]s) %[2]s (%[5]s)", columns[0], sign, values[0], strings.Join(columns, ", "), strings.Join(values, ", "))
}

// isNot is the condition that a column of truth values is false, in a form that
// ClickHouse makes nothing of: for NOT it would look at every granule of a range.
func isNot(column string) string { return column + " + 0 = 0" }

// inSmallBlocks ends a statement that reads a key in its order up to a limit.
// ClickHouse reads the granule that the range begins in, then whole blocks: when
// the rows wanted lie in the next granule, too, a block of the usual size is 65,536
// rows.
func inSmallBlocks(limit int) string {
	return fmt.Sprintf(" SETTINGS max_block_size = %d", min(max(limit, 256), 65_536))
}

// inKeyOrder is the same for a table with projections that is not read through
// one: ClickHouse then need not look which would do.
func inKeyOrder(limit int) string { return inSmallBlocks(limit) + ", optimize_use_projections = 0" }

func direction(descending bool) string {
	if descending {
		return "DESC"
	}
	return "ASC"
}

// account is the condition on an account's columns, exact but for accounts that
// share 64 bits.
func account(workchain, prefix string, a Address) string {
	return fmt.Sprintf("%s = %d AND %s = %d", workchain, schema.Workchain(a[:]), prefix, schema.Prefix(a[4:]))
}

// accounts is the same for any of a list.
func accounts(workchain, prefix string, list []Address) string {
	if len(list) == 1 {
		return account(workchain, prefix, list[0])
	}
	var b strings.Builder
	fmt.Fprintf(&b, "(%s, %s) IN (", workchain, prefix)
	for i, a := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d)", schema.Workchain(a[:]), schema.Prefix(a[4:]))
	}
	b.WriteByte(')')
	return b.String()
}

// prefixes is a list of the first 64 bits of hashes.
func prefixes(list []Hash) string {
	var b strings.Builder
	for i, h := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", schema.Prefix(h[:]))
	}
	return b.String()
}

// place is where a transaction lies in the table transactions. The bundle
// belongs to it because it tells ClickHouse which parts cannot hold the row.
type place struct {
	workchain int32
	prefix    uint64
	lt        uint64
	mcSeqno   uint32
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.workchain, o.workchain), cmp.Compare(p.prefix, o.prefix), cmp.Compare(p.lt, o.lt))
}

const placeColumns = "workchain, account_prefix, lt, mc_seqno"

func places(list []place) string {
	var b strings.Builder
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d,%d,%d,%d)", p.workchain, p.prefix, p.lt, p.mcSeqno)
	}
	return b.String()
}

// at reads columns of transactions at places.
func at(columns string, list []place) string {
	return "SELECT " + columns + " FROM transactions WHERE (" + placeColumns + ") IN (" + places(list) + ")"
}

// recordsAt reads the records of the transactions that rows of a table point to.
func recordsAt(table string, c conditions) string {
	if table == "transactions" {
		return "SELECT record FROM transactions WHERE " + c.String()
	}
	return "SELECT record FROM transactions WHERE (" + placeColumns + ") IN (SELECT " + placeColumns + " FROM " + table + " WHERE " + c.String() + ")"
}

// run runs a statement within the bounds of its request, and counts its time.
func (s *Store) run(ctx context.Context, reads, statement string, result proto.Results, each func(rows int) error) error {
	request := requestOf(ctx)
	err := request.spend(0)
	if err == nil {
		err = s.runFor(ctx, request, reads, statement, result, each)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", reads, err)
	}
	return nil
}

func (s *Store) runFor(ctx context.Context, request *Request, reads, statement string, result proto.Results, each func(rows int) error) error {
	leave, err := request.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	began := time.Now()
	err = s.pool.do(ctx, statement, request.limits(reads), result, each, func(rows uint64) {
		s.metrics.rowsRead.WithLabelValues(reads).Add(float64(rows))
		if reads != counting {
			_ = request.spend(rows) // the next statement is refused
		}
	})
	s.metrics.statements.WithLabelValues(reads).Observe(time.Since(began).Seconds())
	if errors.Is(err, ErrTooHeavy) {
		s.metrics.refused.WithLabelValues(reads).Inc()
	}
	return err
}

// transactions runs a statement whose only column is record.
func (s *Store) transactions(ctx context.Context, statement string) ([]*record.Transaction, error) {
	var list []*record.Transaction
	var column proto.ColStr
	err := s.run(ctx, "transactions", statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			Yield(i)
			tx := new(record.Transaction)
			if err := stored.Unpack(tx, column.RowBytes(i)); err != nil {
				return fmt.Errorf("record of a transaction: %w", err)
			}
			if len(tx.Account) != schema.AddressSize || len(tx.Hash) != len(Hash{}) {
				return fmt.Errorf("record of a transaction: account of %d bytes, hash of %d", len(tx.Account), len(tx.Hash))
			}
			list = append(list, tx)
		}
		return nil
	})
	return list, err
}

// Scattered rows cost ClickHouse about 0.1 ms each, one after the other in one
// statement. When nobody else asks, some statements side by side are faster.
const worthSplitting = 8

// mostSplits is at most four, and no more than the processors here: each
// statement costs more than ten of its rows.
var mostSplits = max(2, min(runtime.GOMAXPROCS(0), 4))

// splits is in how many statements so many scattered rows are read; those of
// transactions count twice, as their granules are larger.
func (s *Store) splits(rows int) int {
	if !s.pool.quiet() {
		return 1
	}
	return max(1, min(rows/worthSplitting, mostSplits))
}

// gather reads parts side by side and gives what they have, in no order.
func gather[P, R any](ctx context.Context, parts []P, read func(ctx context.Context, part P) ([]R, error)) ([]R, error) {
	var mutex sync.Mutex
	var all []R
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mostSplits)
	for _, part := range parts {
		group.Go(func() error {
			list, err := read(ctx, part)
			mutex.Lock()
			defer mutex.Unlock()
			all = append(all, list...)
			return err
		})
	}
	return all, group.Wait()
}

// chunks cuts a list into about equal parts. Neighbours stay together: they may
// share what is read.
func chunks[T any](list []T, parts int, compare func(a, b T) int) [][]T {
	list = slices.SortedFunc(slices.Values(list), compare)
	return slices.Collect(slices.Chunk(list, max(1, (len(list)+parts-1)/parts)))
}

// inChunks runs a function on the parts of a list, side by side.
func inChunks[T any](ctx context.Context, list []T, parts int, compare func(a, b T) int, run func(ctx context.Context, part []T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range chunks(list, parts, compare) {
		group.Go(func() error { return run(ctx, part) })
	}
	return group.Wait()
}

// transactionsAt reads the records at places.
func (s *Store) transactionsAt(ctx context.Context, list []place) ([]*record.Transaction, error) {
	return gather(ctx, chunks(list, s.splits(2*len(list)), place.compare), func(ctx context.Context, part []place) ([]*record.Transaction, error) {
		return s.transactions(ctx, at("record", part))
	})
}

// blocks runs a statement whose only column is record.
func (s *Store) blocks(ctx context.Context, statement string) ([]*record.Block, error) {
	var list []*record.Block
	var column proto.ColStr
	err := s.run(ctx, "blocks", statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			b := new(record.Block)
			if err := b.UnmarshalVT(column.RowBytes(i)); err != nil {
				return fmt.Errorf("record of a block: %w", err)
			}
			if b.Id == nil {
				return fmt.Errorf("record of a block without id")
			}
			list = append(list, b)
		}
		return nil
	})
	return list, err
}
