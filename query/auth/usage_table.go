package auth

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"tonscribe/internal/clickhouse"
)

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
