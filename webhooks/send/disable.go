package send

import (
	"context"
	"time"
)

const (
	// suspectPause is the time between looks at how long an endpoint has failed.
	suspectPause = 10 * time.Minute
	// minFailing is the least time between the first and the last failure of an endpoint
	// that is disabled.
	minFailing = 12 * time.Hour
)

// disable ends the sending to an endpoint that has taken nothing for long, and was not
// changed in that time.
func (q *queue) disable(ctx context.Context, merchant ID, now time.Time) error {
	since := now.Add(-2 * q.configuration.DisableAfter) // failures of before are forgiven
	of := "FROM deliveries FINAL WHERE NOT test AND merchant = " + literal(merchant[:]) + " AND happened >= " + moment(since)
	var taken, first, last time.Time
	if err := q.tables.Conn().QueryRow(ctx, "SELECT max(last_ended) "+of+" AND state = 'delivered'").Scan(&taken); err != nil {
		return err
	}
	endpoint, err := q.endpoints.Newest(ctx, merchant)
	if err != nil {
		return err
	}
	if endpoint.Changed.After(taken) { // what it is now has not failed before
		taken = endpoint.Changed
	}
	err = q.tables.Conn().QueryRow(ctx, "SELECT min(last_ended), max(last_ended) "+of+" AND state = 'exhausted' AND last_ended > "+moment(taken)).Scan(&first, &last)
	if err != nil || first.UnixMicro() <= 0 || now.Sub(first) < q.configuration.DisableAfter || last.Sub(first) < min(minFailing, q.configuration.DisableAfter) {
		return err
	}
	q.metrics.disabled.Inc()
	q.report.Log.Warn().Hex("merchant", merchant[:]).Time("since", first).Msg("the endpoint has taken nothing for long: disabled")
	return q.endpoints.Disable(ctx, merchant, "every delivery failed since "+first.UTC().Format(time.RFC3339))
}
