package parts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
)

// checks is which parts were verified, and when.
type checks struct {
	parts map[string]part // active ones, by table and name
	done  map[string]time.Time
	// urgent come before others.
	urgent []string
}

func key(p part) string { return p.table + "/" + p.name }

// keep takes the parts that there are.
func (c *checks) keep(found []part) {
	c.parts = map[string]part{}
	if c.done == nil {
		c.done = map[string]time.Time{}
	}
	for _, p := range found {
		if !p.detached {
			c.parts[key(p)] = p
		}
	}
	maps.DeleteFunc(c.done, func(k string, _ time.Time) bool { _, there := c.parts[k]; return !there })
}

// next is the part that was verified longest ago, the smallest of those that
// never were.
func (c *checks) next() (part, bool) {
	for len(c.urgent) > 0 {
		k := c.urgent[0]
		c.urgent = c.urgent[1:]
		if p, there := c.parts[k]; there {
			return p, true
		}
	}
	if len(c.parts) == 0 {
		return part{}, false
	}
	return slices.MinFunc(slices.Collect(maps.Values(c.parts)), func(a, b part) int {
		return cmp.Or(c.done[key(a)].Compare(c.done[key(b)]), cmp.Compare(a.bytes, b.bytes), cmp.Compare(key(a), key(b)))
	}), true
}

// verify goes round all parts, again and again.
func (w *Watch) verify(ctx context.Context) {
	if w.options.Check <= 0 {
		return
	}
	for pause := w.options.Check; ; {
		select {
		case <-ctx.Done():
			return
		case <-w.hurry:
		case <-time.After(pause):
		}
		w.mutex.Lock()
		p, ok := w.queue.next()
		hurry := len(w.queue.urgent) > 0
		w.mutex.Unlock()
		if !ok {
			continue
		}
		began := time.Now()
		if err := w.check(ctx, p); err != nil && ctx.Err() == nil {
			w.options.Report.Log.Debug().Err(err).Str("table", p.table).Str("part", p.name).Msg("the checksums of a part could not be verified")
		}
		pause = max(w.options.Check, restOfCheck*time.Since(began))
		if hurry {
			pause = time.Since(began)
		}
	}
}

// check verifies the checksums of all files of a part.
func (w *Watch) check(ctx context.Context, p part) error {
	ctx, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	passed, message, err := w.checkPart(ctx, p)
	if err != nil && !gone(err) {
		return err
	}
	w.metrics.checked.Inc()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.queue.done[key(p)] = time.Now()
	if err != nil || passed {
		return nil
	}
	d := Damage{Table: p.table, Part: p.name, Active: true, Reason: "it is damaged: " + firstLine(message), From: w.ledger.fromOf(p)}
	w.ledger.note(d)
	w.publish([]part{p})
	return w.save()
}

// fromOf is the first bundle that a part may have rows of.
func (l *ledger) fromOf(p part) uint32 {
	t := l.Tables[p.table]
	if t == nil || t.UUID != p.uuid {
		return Everything
	}
	return since(t.Partitions[p.partition], cover{Min: p.min, Max: p.max}, l.Progress+1)
}

func (w *Watch) checkPart(ctx context.Context, p part) (passed bool, message string, err error) {
	with := driver.Context(ctx, driver.WithSettings(driver.Settings{"check_query_single_value_result": 0, "max_execution_time": 0}))
	passed = true
	var name, text string
	var ok uint8
	err = w.each(with, fmt.Sprintf("CHECK TABLE `%s` PART '%s'", p.table, p.name), func() {
		if ok == 0 {
			passed, message = false, text
		}
	}, &name, &ok, &text)
	return passed, message, err
}

// gone reports whether there is no such part any more: it was merged meanwhile.
func gone(err error) bool {
	return clickhouse.IsCode(err, proto.ErrNoSuchDataPart, proto.ErrBadDataPartName, proto.ErrUnknownTable)
}

// firstLine is what ClickHouse says, without its code and its version.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if _, after, ok := strings.Cut(text, "DB::Exception: "); ok {
		text = after
	}
	const most = 160
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.TrimSpace(text)
}

// damageErrors are what reading a damaged file gives: a checksum, a compressed
// block, a file that is shorter or gone, a mark or an index that makes no sense.
const damageErrors = `'CHECKSUM_DOESNT_MATCH', 'CORRUPTED_DATA', 'CANNOT_DECOMPRESS', 'UNKNOWN_COMPRESSION_METHOD', 'TOO_LARGE_SIZE_COMPRESSED',
	'CANNOT_READ_ALL_DATA', 'ATTEMPT_TO_READ_AFTER_EOF', 'FILE_DOESNT_EXIST', 'CANNOT_READ_FROM_FILE_DESCRIPTOR', 'BROKEN_PROJECTION',
	'INCORRECT_FILE_NAME', 'UNEXPECTED_FILE_IN_DATA_PART', 'BAD_SIZE_OF_FILE_IN_DATA_PART', 'INCORRECT_MARK'`

// hearErrors makes all parts urgent when a merge, or somebody else's statement,
// met damage: ClickHouse counts that, but does not tell of which part. The caller
// holds the lock.
func (w *Watch) hearErrors(ctx context.Context) error {
	var sum uint64
	err := w.options.ClickHouse.Conn().QueryRow(ctx, "SELECT toUInt64(sum(value)) FROM system.errors WHERE name IN ("+damageErrors+")").Scan(&sum)
	if err != nil {
		return err
	}
	if w.heard && sum > w.errors && len(w.ledger.Damages) == 0 && time.Since(w.hastened) > roundEvery {
		w.hastened = time.Now()
		for k := range w.queue.parts {
			w.hasten(k)
		}
	}
	w.errors, w.heard = sum, true
	return nil
}

// roundEvery is the least time between two rounds without rest.
const roundEvery = time.Hour

// hasten makes a part urgent. The caller holds the lock.
func (w *Watch) hasten(k string) {
	if slices.Contains(w.queue.urgent, k) {
		return
	}
	w.queue.urgent = append(w.queue.urgent, k)
	select {
	case w.hurry <- struct{}{}:
	default: // asked for already
	}
}

// Verified is how far VerifyAll has come.
type Verified struct {
	Part         string
	Bytes, Total uint64
}

// VerifyAll verifies the checksums of all parts that there were at the last look,
// one after the other. report, which may be nil, is called after each.
func (w *Watch) VerifyAll(ctx context.Context, report func(Verified)) error {
	w.mutex.Lock()
	list := slices.SortedFunc(maps.Values(w.queue.parts), func(a, b part) int { return cmp.Compare(key(a), key(b)) })
	w.mutex.Unlock()
	var v Verified
	for _, p := range list {
		v.Total += p.bytes
	}
	for _, p := range list {
		if err := w.check(ctx, p); err != nil {
			return fmt.Errorf("checksums of table %s, part %s: %w", p.table, p.name, err)
		}
		v.Part, v.Bytes = key(p), v.Bytes+p.bytes
		if report != nil {
			report(v)
		}
	}
	return nil
}
