package auth

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tonscribe/internal/clickhouse"
)

// usage counts the requests of a key by method, since the process began.
type usage struct {
	methods sync.Map // string: *counter
	names   atomic.Int32
}

type counter struct {
	requests, limited atomic.Uint64
	last              atomic.Int64 // Unix seconds
	written           written
}

// maxMethods bounds the memory of a key.
const maxMethods = 512

func (u *usage) count(method string, limited bool) {
	c := u.counter(method)
	c.last.Store(time.Now().Unix())
	if limited {
		c.limited.Add(1)
	}
	c.requests.Add(1)
}

func (u *usage) counter(method string) *counter {
	if c, ok := u.methods.Load(method); ok {
		return c.(*counter)
	}
	if u.names.Load() >= maxMethods {
		method = "other"
	}
	c, known := u.methods.LoadOrStore(method, &counter{})
	if !known {
		u.names.Add(1)
	}
	return c.(*counter)
}

// written is the writer's own part of a counter: the day that it writes, what
// was counted before that day, and what the row of the day says.
type written struct {
	day                           time.Time
	requestsBefore, limitedBefore uint64
	requests                      uint64
}

// usageRow is what one process has counted of a key and a method in a day.
type usageRow struct {
	usageID
	requests, limited uint64
	last              time.Time
}

type usageID struct {
	hash   Hash
	day    time.Time
	method string
}

// due is the row of a counter, and whether it has changed. What was counted
// since the last look belongs to the day of that: days are as exact as looks
// are frequent.
func (c *counter) due(now time.Time) (row usageRow, due bool) {
	w := &c.written
	today := now.UTC().Truncate(24 * time.Hour)
	if w.day.IsZero() {
		w.day = today
	}
	requests := c.requests.Load()
	limited := min(c.limited.Load(), requests)
	row.day, row.last = w.day, time.Unix(c.last.Load(), 0).UTC()
	row.requests, row.limited = requests-w.requestsBefore, limited-w.limitedBefore
	due = row.requests != w.requests
	w.requests = row.requests
	if w.day != today {
		*w = written{day: today, requestsBefore: requests, limitedBefore: limited}
	}
	return row, due
}

// usageWriter writes the counts of one process.
type usageWriter struct {
	*Component
	process uint64 // tells the rows of processes apart
	number  int
	pending map[usageID]usageRow
	warned  time.Time
}

// writeUsage writes counts until ctx ends, and then once more.
func (c *Component) writeUsage(ctx context.Context) {
	w := &usageWriter{Component: c, process: rand.Uint64(), pending: map[usageID]usageRow{}}
	for ticks := time.Tick(c.configuration.Usage); ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case <-ticks:
			w.write(ctx)
		}
	}
	w.write(context.WithoutCancel(ctx))
}

// usageLimit bounds one writing.
const usageLimit = 5 * time.Second

// write puts every row that has changed into the table. A row holds the whole
// count of its day, so it may be written twice, and what could not be written is
// written later.
func (w *usageWriter) write(ctx context.Context) {
	w.gather(time.Now())
	if len(w.pending) == 0 {
		return
	}
	w.number++
	ctx, cancel := context.WithTimeout(ctx, usageLimit)
	defer cancel()
	if err := w.usage.putUsage(ctx, w.process, w.number, w.pending); err != nil {
		w.metrics.usageFailures.Inc()
		if time.Since(w.warned) > time.Minute {
			w.warned = time.Now()
			w.report.Log.Warn().Err(err).Msg("the usage of API keys could not be written; trying again")
		}
		return
	}
	clear(w.pending)
}

func (w *usageWriter) gather(now time.Time) {
	w.counted.Range(func(hash, counts any) bool {
		counts.(*usage).methods.Range(func(method, c any) bool {
			if row, due := c.(*counter).due(now); due {
				row.hash, row.method = hash.(Hash), method.(string)
				w.pending[row.usageID] = row
			}
			return true
		})
		return true
	})
}

// Use is how often a key has called a method, over all processes and days.
type Use struct {
	Method            string
	Requests, Limited uint64 // Limited are those of Requests that were refused
	Last              time.Time
}

// Usage is what was written of a key's use, the most used method first. The
// newest requests come a few seconds later.
func (t *Table) Usage(ctx context.Context, hash Hash) ([]Use, error) {
	rows, err := t.client.Conn().Query(ctx, `SELECT method, sum(newest.1), sum(newest.2), max(newest.3)
		FROM (SELECT method, day, process, max((requests, limited, last)) AS newest
			FROM api_usage WHERE hash = unhex(?) GROUP BY method, day, process)
		GROUP BY method ORDER BY sum(newest.1) DESC, method`, fmt.Sprintf("%x", hash))
	if err != nil {
		return nil, named(err)
	}
	defer rows.Close()
	var uses []Use
	for rows.Next() {
		var u Use
		if err := rows.Scan(&u.Method, &u.Requests, &u.Limited, &u.Last); err != nil {
			return nil, err
		}
		uses = append(uses, u)
	}
	return uses, rows.Err()
}

func (t *Table) putUsage(ctx context.Context, process uint64, number int, rows map[usageID]usageRow) error {
	var (
		hashes            [][]byte
		days, lasts       []time.Time
		methods           []string
		processes         []uint64
		requests, limited []uint64
	)
	for id, row := range rows {
		hashes, days, methods = append(hashes, id.hash[:]), append(days, id.day), append(methods, id.method)
		requests, limited = append(requests, row.requests), append(limited, row.limited)
		processes, lasts = append(processes, process), append(lasts, row.last)
	}
	return named(t.client.Insert(ctx, clickhouse.Insert{
		Table: "api_usage",
		Token: strconv.FormatUint(process, 16) + "-" + strconv.Itoa(number),
		Columns: []clickhouse.Column{
			{Name: "hash", Values: hashes}, {Name: "day", Values: days}, {Name: "method", Values: methods}, {Name: "process", Values: processes},
			{Name: "requests", Values: requests}, {Name: "limited", Values: limited}, {Name: "last", Values: lasts},
		},
	}))
}
