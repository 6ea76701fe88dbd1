package metadata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/dispatch"
	"tonscribe/internal/lifetime"
	"tonscribe/ton/airdrop"
)

// dumps brings the airdrops of mintless jettons (TEP-177) into mintless_amounts: those
// whose root masters give, from the dumps that the documents behind their contents
// name. It is a part of what a process does while it has the lease.
type dumps struct {
	*Component
	begun   int64 // ns, makes tokens unique
	cursor  masterCursor
	parsing sync.Mutex // held while a dump is in memory as cells

	mutex   sync.Mutex // of what follows
	inserts int
	trying  map[hash]bool   // dumps
	asked   map[uint16]bool // the queues of hosts that dumps are being fetched of
}

// masterCursor is where jetton_masters is read on: at the bundle, behind the account.
type masterCursor struct {
	mcSeqno   uint32
	account   string // 32 bytes
	workchain int32
}

// dump is how the fetching of a dump stands: a row of mintless_dumps.
type dump struct {
	hash     hash
	root     hash
	link     string // of the master's document
	tried    uint64 // ms, 0 for not yet
	failure  string
	attempts uint32
	due      uint32
	entries  uint64 // not 0 when all of them are written
}

// Bounds of what is done at once.
const (
	dumpBatch   = 4 // dumps that are due are read
	dumpWorkers = 2 // of them are fetched at once, of one host one
	masterBatch = 1000
	// amountChunk is how many amounts are inserted at once.
	amountChunk = 50_000
	// dumpPolls is how much less often masters are looked for than links.
	dumpPolls = 5
	// documentPause is how soon a document that is not there yet is looked for again.
	documentPause = 10 * time.Second
)

// runDumps fetches dumps until ctx ends or ClickHouse fails.
func (c *Component) runDumps(ctx context.Context) error {
	if c.configuration.Dumps.MaxBytes == 0 {
		return nil
	}
	d := &dumps{Component: c, begun: time.Now().UnixNano(), trying: map[hash]bool{}, asked: map[uint16]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, inGroup := errgroup.WithContext(ctx)
	group.SetLimit(dumpWorkers)
	if err := d.feed(inGroup, group); err != nil && inGroup.Err() == nil {
		cancel()
		_ = group.Wait() // what was under way was broken off
		return err
	}
	return group.Wait()
}

// feed tries what is due, in a group, until ctx ends or ClickHouse fails.
func (d *dumps) feed(ctx context.Context, group *errgroup.Group) error {
	for ctx.Err() == nil {
		if err := d.find(ctx); err != nil {
			return err
		}
		list, err := d.due(ctx)
		if err != nil {
			return err
		}
		for i := range list {
			f := &list[i]
			d.hold(f, true)
			group.Go(func() error {
				defer d.hold(f, false)
				return d.try(ctx, f)
			})
		}
		if len(list) < dumpBatch {
			_ = lifetime.Sleep(ctx, dumpPolls*d.configuration.Poll) // the loop sees that ctx has ended
		}
	}
	return nil
}

// find makes the dumps of masters that have become visible and are not known due.
func (d *dumps) find(ctx context.Context) error {
	mark, err := clickhouse.ReadWatermark(ctx, d.tables.Conn())
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return nil
	}
	for err == nil && d.cursor.mcSeqno <= mark.MCSeqno {
		err = d.findSome(ctx, mark.MCSeqno)
	}
	return err
}

func (d *dumps) findSome(ctx context.Context, to uint32) error {
	next, n := d.cursor, 0
	found := map[hash]dump{}
	var root, link string
	err := clickhouse.Each(ctx, d.tables.Conn(), `SELECT mc_seqno, toString(account), workchain, toString(mintless_root), uri FROM jetton_masters
		WHERE mc_seqno BETWEEN ? AND ? AND mintless_root != toFixedString('', 32) AND uri != '' AND (mc_seqno, account, workchain) > (?, unhex(?), ?)
		ORDER BY mc_seqno, account, workchain LIMIT ?`,
		[]any{d.cursor.mcSeqno, to, d.cursor.mcSeqno, hex.EncodeToString([]byte(d.cursor.account)), d.cursor.workchain, masterBatch}, func() {
			n++
			f := dump{link: link}
			copy(f.root[:], root) // the text lacks zeros at its end
			f.hash = sha256.Sum256(append(f.root[:], link...))
			found[f.hash] = f
		}, &next.mcSeqno, &next.account, &next.workchain, &root, &link)
	if err != nil {
		return err
	}
	if n < masterBatch {
		next = masterCursor{mcSeqno: to + 1}
	}
	if err := d.note(ctx, found); err != nil {
		return err
	}
	d.cursor = next
	return nil
}

// note makes those of the dumps that are not known due.
func (d *dumps) note(ctx context.Context, found map[hash]dump) error {
	if len(found) == 0 {
		return nil
	}
	hashes := make([]hash, 0, len(found))
	for h := range found {
		hashes = append(hashes, h)
	}
	var key string
	err := clickhouse.Each(ctx, d.tables.Conn(), "SELECT toString(hash) FROM mintless_dumps WHERE "+among(hashes), nil, func() {
		var h hash
		copy(h[:], key)
		delete(found, h)
	}, &key)
	if err != nil {
		return err
	}
	fresh := make([]dump, 0, len(found))
	for _, f := range found {
		f.due = now()
		fresh = append(fresh, f)
	}
	return d.write(ctx, fresh...)
}

// hold notes that a dump is being tried, or no more.
func (d *dumps) hold(f *dump, tries bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if tries {
		d.trying[f.hash] = true
	} else {
		delete(d.trying, f.hash)
	}
}

// due reads dumps that are due and not being tried, those that became so last first: a
// new jetton does not wait for a backlog.
func (d *dumps) due(ctx context.Context) (list []dump, err error) {
	d.mutex.Lock()
	trying := maps.Clone(d.trying) // before the table is read, which has them until they were tried
	d.mutex.Unlock()
	var f dump
	var key, root string
	err = clickhouse.Each(ctx, d.tables.Conn(), "SELECT toString(hash), toString(root), link, tried, failure, attempts, due FROM mintless_dumps FINAL WHERE due <= ? ORDER BY due DESC, hash LIMIT ?",
		[]any{now(), dumpBatch + len(trying)}, func() {
			f.hash, f.root = hash{}, hash{}
			copy(f.hash[:], key)
			copy(f.root[:], root)
			if !trying[f.hash] && len(list) < dumpBatch {
				list = append(list, f)
			}
		}, &key, &root, &f.link, &f.tried, &f.failure, &f.attempts, &f.due)
	return list, err
}

// try fetches a dump, and writes what became of it. Its error is that of ClickHouse, or
// of ctx, which does not count.
func (d *dumps) try(ctx context.Context, f *dump) error {
	begun := time.Now()
	entries, err := d.bring(ctx, f)
	if errors.Is(err, errAsked) {
		return d.write(ctx, f.later(d.configuration))
	}
	var problem *Failure
	if err != nil && !errors.As(err, &problem) {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d.metrics.dumpSeconds.Observe(time.Since(begun).Seconds())
	result := "ok"
	if problem != nil {
		result = problem.Reason
	}
	d.metrics.dumps.WithLabelValues(result).Inc()
	return d.write(ctx, f.next(problem, entries, d.configuration))
}

// next is how a dump stands after it was tried.
func (f *dump) next(problem *Failure, entries uint64, c Configuration) dump {
	at, n := time.Now(), *f
	n.tried, n.due, n.failure, n.attempts, n.entries = max(uint64(at.UnixMilli()), f.tried+1), Never, "", 0, entries
	if problem == nil {
		return n
	}
	n.failure, n.attempts = shortened(problem.Error()), f.attempts+1
	pause := dispatch.Jittered(c.Refresh)
	if !problem.Final {
		pause = dispatch.Backoff{First: min(c.Retry, documentPause), Max: c.Refresh}.After(int(n.attempts))
	}
	n.due = uint32(at.Add(max(pause, problem.After, time.Second)).Unix())
	return n
}

// errAsked is the error of a dump that was not asked for, as its host is giving another one.
var errAsked = errors.New("another dump of the host is being fetched")

// later is how a dump stands that waits for another one of its host.
func (f *dump) later(c Configuration) dump {
	at, n := time.Now(), *f
	n.tried, n.due = max(uint64(at.UnixMilli()), f.tried+1), uint32(at.Add(max(dispatch.Jittered(c.Retry), time.Second)).Unix())
	return n
}

// fetch reads a dump, one at a time of a host: it may take minutes, and not those that
// the dumps of others wait for.
func (d *dumps) fetch(ctx context.Context, link string) ([]byte, error) {
	queue := QueueOf(link)
	d.mutex.Lock()
	asked := d.asked[queue]
	d.asked[queue] = true
	d.mutex.Unlock()
	if asked {
		return nil, errAsked
	}
	defer func() {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		delete(d.asked, queue)
	}()
	return d.fetcher.Dump(ctx, link)
}

// bring writes the amounts of the airdrop with the dump's root, and returns how many
// there are.
func (d *dumps) bring(ctx context.Context, f *dump) (entries uint64, err error) {
	entries, all, err := d.known(ctx, f.root)
	if err != nil || entries > 0 {
		return entries, err // by way of another master
	}
	link, err := d.linkOf(ctx, f)
	if err != nil {
		return 0, err
	}
	content, err := d.fetch(ctx, link)
	if err != nil {
		return 0, err
	}
	d.parsing.Lock()
	defer d.parsing.Unlock()
	a, err := airdrop.Parse(content, f.root)
	if err != nil {
		return 0, failed(ReasonForm, err)
	}
	if most := d.configuration.Dumps.MaxAmounts; all+uint64(a.Items) > most {
		return 0, failed(ReasonSize, fmt.Errorf("with its %d amounts all dumps would have more than %d", a.Items, most))
	}
	if err := d.writeAmounts(ctx, f.root, a); err != nil {
		return 0, err
	}
	d.metrics.amounts.Add(float64(a.Items))
	return uint64(max(a.Items, 1)), nil // 0 says that they are not there
}

// known returns how many amounts of a root are written, 0 where some may be missing,
// and those of all roots.
func (d *dumps) known(ctx context.Context, root hash) (entries, all uint64, err error) {
	err = d.tables.Conn().QueryRow(ctx, "SELECT sumIf(most, root = unhex(?)), sum(most) FROM (SELECT root, max(entries) AS most FROM mintless_dumps GROUP BY root)",
		hex.EncodeToString(root[:])).Scan(&entries, &all)
	return entries, all, err
}

// dumpMembers are the names that a document has the dump's link under: the one that is
// in use, and how the text of the TEP spells it.
var dumpMembers = []string{"mintless_merkle_dump_uri", "mintles_merkle_dump_uri"}

// linkOf is the link of a dump, by the document behind the master's content.
func (d *dumps) linkOf(ctx context.Context, f *dump) (link string, err error) {
	of := sha256.Sum256([]byte(f.link))
	var text string
	err = d.tables.Conn().QueryRow(ctx, "SELECT argMax(document, fetched) FROM metadata WHERE hash = unhex(?)", hex.EncodeToString(of[:])).Scan(&text)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", &Failure{Reason: ReasonDocument, Err: errors.New("the jetton's document was not fetched yet")}
	}
	var document Document
	if err := json.NewDecoder(strings.NewReader(text)).Decode(&document); err != nil {
		return "", failed(ReasonDocument, errors.New("the jetton's document is not a JSON object"))
	}
	for _, name := range dumpMembers {
		if link := document.Text(name); link != "" {
			return link, nil
		}
	}
	return "", failed(ReasonDocument, errors.New("the jetton's document names no dump"))
}

// amounts are rows of mintless_amounts, column by column.
type amounts struct {
	roots, owners [][]byte
	workchains    []int32
	amounts       []*big.Int
	starts, ends  []uint64
}

// writeAmounts writes the items of an airdrop. Broken off, it leaves right rows, which
// are written once more by the next try.
func (d *dumps) writeAmounts(ctx context.Context, root hash, a *airdrop.Airdrop) error {
	var rows amounts
	flush := func() error {
		if len(rows.roots) == 0 {
			return nil
		}
		err := d.tables.Insert(ctx, clickhouse.Insert{Table: "mintless_amounts", Token: d.token(), Columns: []clickhouse.Column{
			{Name: "root", Values: rows.roots}, {Name: "owner_workchain", Values: rows.workchains}, {Name: "owner", Values: rows.owners},
			{Name: "amount", Values: rows.amounts}, {Name: "start_from", Values: rows.starts}, {Name: "expire_at", Values: rows.ends},
		}})
		rows = amounts{rows.roots[:0], rows.owners[:0], rows.workchains[:0], rows.amounts[:0], rows.starts[:0], rows.ends[:0]}
		return err
	}
	err := a.Each(func(i *airdrop.Item) error {
		rows.roots, rows.owners, rows.workchains = append(rows.roots, root[:]), append(rows.owners, append([]byte(nil), i.Owner[:]...)), append(rows.workchains, i.Workchain)
		rows.amounts, rows.starts, rows.ends = append(rows.amounts, i.Amount), append(rows.starts, i.StartFrom), append(rows.ends, i.ExpireAt)
		if len(rows.roots) == amountChunk {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// write writes how dumps stand.
func (d *dumps) write(ctx context.Context, list ...dump) error {
	if len(list) == 0 {
		return nil
	}
	return d.tables.Insert(ctx, clickhouse.Insert{Table: "mintless_dumps", Token: d.token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("hash", list, func(f *dump) []byte { return f.hash[:] }),
		clickhouse.ColumnOf("root", list, func(f *dump) []byte { return f.root[:] }),
		clickhouse.ColumnOf("link", list, func(f *dump) string { return f.link }),
		clickhouse.ColumnOf("tried", list, func(f *dump) uint64 { return f.tried }),
		clickhouse.ColumnOf("failure", list, func(f *dump) string { return f.failure }),
		clickhouse.ColumnOf("attempts", list, func(f *dump) uint32 { return f.attempts }),
		clickhouse.ColumnOf("due", list, func(f *dump) uint32 { return f.due }),
		clickhouse.ColumnOf("entries", list, func(f *dump) uint64 { return f.entries }),
	}})
}

// token is that of an insert, of which there is no second one.
func (d *dumps) token() string {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.inserts++
	return fmt.Sprintf("%s/%d/dumps/%d", d.name, d.begun, d.inserts)
}
