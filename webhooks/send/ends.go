package send

import (
	"context"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/webhooks/event"
)

// End is how a payment ended.
type End struct {
	// Body is that of its event, to the byte: of its success, or of its newest failure where
	// there is none.
	Body []byte
	// Duplicate reports whether it was paid more than once.
	Duplicate bool
}

// Ends returns the ends of those of a merchant's payments that have one.
func (l *Log) Ends(ctx context.Context, merchant ID, references []ID) (map[ID]End, error) {
	ends := map[ID]End{}
	if len(references) == 0 {
		return ends, nil
	}
	var (
		reference, status, body string
		duplicate               bool
		happened                time.Time
	)
	succeeded := map[ID]bool{}
	err := clickhouse.Each(ctx, l.tables.Conn(), "SELECT reference, status, duplicate, happened, body FROM events WHERE merchant = "+literal(merchant[:])+
		" AND reference IN ("+literals(references)+") AND NOT test ORDER BY happened, event LIMIT 1 BY event", nil, func() {
		of := ID([]byte(reference))
		end := ends[of]
		switch success := event.Status(status) == event.Success; {
		case duplicate:
			end.Duplicate = true
		case success || !succeeded[of]:
			end.Body, succeeded[of] = []byte(body), success
		}
		ends[of] = end
	}, &reference, &status, &duplicate, &happened, &body)
	return ends, err
}
