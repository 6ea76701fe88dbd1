// Package parts notices when rows of the tables are gone or cannot be read any
// more. In come the parts that ClickHouse has; out comes which tables are
// damaged, since which bundle, and why. ClickHouse itself goes on without a part
// that it cannot open: the rows are missing and nothing says so.
//
// Four things are looked at. Parts that were put aside (detached) as broken.
// Parts that were there and are neither there nor merged into another one any
// more: a ledger, kept in a file, has the ranges of insert numbers that every
// table's parts cover, and since which bundle. Checksums of all files of a part,
// one part after the other, with long pauses. And counts: what seals and blocks
// promise against what tables have. The package must never change a table.
package parts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// Configuration says how often is looked.
type Configuration struct {
	// Look is the pause between two looks at the list of parts.
	Look time.Duration `yaml:"look"`
	// Check is the least pause between two parts whose checksums are verified. It
	// is at least restOfCheck times what the last one took; 0 verifies none.
	Check time.Duration `yaml:"check"`
}

// DefaultConfiguration costs one in a hundred of a processor at most.
func DefaultConfiguration() Configuration {
	return Configuration{Look: 15 * time.Second, Check: 5 * time.Second}
}

// Validate refuses what makes no sense.
func (c Configuration) Validate() error {
	if c.Look < 10*time.Millisecond || c.Check < 0 {
		return errors.New("storage: look must be at least 10ms, and check may not be negative")
	}
	return nil
}

const (
	// lastLook bounds the look at the end: the process is to stop.
	lastLook = 3 * time.Second
	// restOfCheck is how many times as long as it took nothing is verified after
	// a part was.
	restOfCheck = 50
	// patience bounds one look, checkPatience the checksums of one part.
	patience      = 30 * time.Second
	checkPatience = time.Hour
	// quiet is the least time between two log lines about looks that fail.
	quiet = time.Minute
)

// Everything stands for the bundles of which nothing is known: all of them.
const Everything = 0

// Damage is what is wrong with a table.
type Damage struct {
	Table string `json:"table"`
	// Part is the name of the part, empty when it is not known which one.
	Part string `json:"part,omitempty"`
	// Detached reports whether the part lies aside, Active whether the table still has it.
	Detached bool   `json:"detached,omitempty"`
	Active   bool   `json:"active,omitempty"`
	Reason   string `json:"reason"`
	// From is the first bundle whose rows may be missing; no row of an earlier one
	// is. Covered says that no row is missing at all.
	From    uint32 `json:"from"`
	Covered bool   `json:"covered,omitempty"`
}

func (d Damage) String() string {
	what := "rows"
	if d.Part != "" {
		what = "part " + d.Part
	}
	return fmt.Sprintf("table %s, %s: %s", d.Table, what, d.Reason)
}

// Options of a watch.
type Options struct {
	Configuration
	// ClickHouse is reached as the user that owns the tables.
	ClickHouse *clickhouse.Client
	// File keeps the ledger; empty keeps it in memory.
	File string
	// Advice says what to do about damage.
	Advice string
	// Marks is how many bytes of marks ClickHouse holds at most; 0 is not known.
	Marks  int64
	Report report.Reporter
}

// Watch looks after the parts of one database.
type Watch struct {
	*lifetime.Run
	options Options
	metrics metrics
	hurry   chan struct{} // a part is urgent

	mutex   sync.Mutex
	ledger  ledger
	written []byte // the file's content
	first   bool   // the next look is the first one of this process
	// repairs are the times of the newest ones that were seen, by table.
	repairs  map[string]time.Time
	queue    checks
	reported time.Time
	known    map[string]bool // damage that was logged
	outgrown bool            // marks need more than Marks, which was logged
	errors   uint64          // of damage that ClickHouse has counted
	heard    bool            // errors is known
	// hastened is when all parts were made urgent.
	hastened time.Time

	damaged atomic.Pointer[[]Damage]
	defined atomic.Pointer[definitions]
}

// definitions are the tables as of a mark, which tells their definitions from others.
type definitions struct {
	mark   uint64
	tables map[string]tableOf
}

type metrics struct {
	damaged *prometheus.GaugeVec
	checked prometheus.Counter
	looks   prometheus.Histogram
	marks   prometheus.Gauge
}

// New makes a watch that does nothing yet.
func New(options Options) (*Watch, error) {
	m := options.Report.Meter("storage")
	w := &Watch{
		options: options, Run: lifetime.NewRun(), hurry: make(chan struct{}, 1), first: true, known: map[string]bool{},
		metrics: metrics{
			damaged: m.Gauges("damaged", "Damaged parts of a table.", "table"),
			checked: m.Counter("checked_parts_total", "Parts whose checksums were verified."),
			looks:   m.Histogram("look_seconds", "Time of a look at the list of parts.", 0.001, 2, 12),
			marks:   m.Gauge("marks_bytes", "Memory for the marks of all tables, by which ClickHouse finds rows in files."),
		},
	}
	if err := w.ledger.load(options.File); err != nil {
		return nil, err
	}
	w.publish(nil)
	return w, nil
}

// Start looks once, so that damage of the time before is known to who starts
// later, and goes on looking. The last look is at the end, when nothing is inserted
// any more: the next start misses what is gone by then.
func (w *Watch) Start(ctx context.Context) error {
	w.poll(ctx)
	w.Run.Start(func(ctx context.Context) error {
		w.Go(func() { w.verify(ctx) })
		w.count(ctx)
		for lifetime.Sleep(ctx, w.options.Look) == nil {
			w.poll(ctx)
		}
		if w.options.File != "" {
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
			defer cancel()
			w.poll(last)
		}
		return nil
	})
	return nil
}

// Damages are what is known to be wrong, without what is only left over.
func (w *Watch) Damages() []Damage { return *w.damaged.Load() }

// Ready is nil when nothing is known to be wrong, and otherwise names the tables
// and the way out.
func (w *Watch) Ready(context.Context) error {
	list := w.Damages()
	if len(list) == 0 {
		return nil
	}
	var texts []string
	for len(list) > 0 {
		d, n := list[0], len(list)
		list = slices.DeleteFunc(slices.Clone(list), func(other Damage) bool { return other.Table == d.Table })
		text := d.String()
		if more := n - len(list) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		texts = append(texts, text)
	}
	return fmt.Errorf("%s: %s", strings.Join(texts, "; "), w.options.Advice)
}

// ErrDamaged says that a table that would be read has lost rows.
var ErrDamaged = errors.New("a table that this is read from is damaged")

// Refuse is an error for a statement that reads a damaged table: its answer could
// lack rows.
func (w *Watch) Refuse(statement string) error {
	for _, d := range w.Damages() {
		if !d.Covered && mentions(statement, d.Table) {
			return fmt.Errorf("%w: %s", ErrDamaged, d)
		}
	}
	return nil
}

// mentions reports whether a statement has the name as a word.
func mentions(statement, name string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(statement)
}

// Suspect verifies the part at once that the failure of a statement names.
func (w *Watch) Suspect(message string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	for k, p := range w.queue.parts {
		if p.path != "" && strings.Contains(message, p.path) {
			w.hasten(k)
		}
	}
}

// poll is Poll for who has nobody to give an error to.
func (w *Watch) poll(ctx context.Context) {
	began := time.Now()
	err := w.Poll(ctx)
	w.metrics.looks.Observe(time.Since(began).Seconds())
	if err != nil && ctx.Err() == nil && time.Since(w.reported) > quiet {
		w.reported = time.Now()
		w.options.Report.Log.Warn().Err(err).Msg("the parts of the tables could not be looked at")
	}
}

// Poll compares the parts that there are with those that there were.
func (w *Watch) Poll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// Both are read before the parts: a repair has dropped what it drops, and what is
	// inserted after this look belongs to later bundles than these.
	repairs, err := w.readRepairs(ctx)
	if err != nil {
		return err
	}
	progress, err := w.progress(ctx)
	if err != nil {
		return err
	}
	tables, err := w.tables(ctx)
	if err != nil {
		return err
	}
	found, err := w.list(ctx, tables)
	if err != nil {
		return err
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.ledger.accept(w.repaired(repairs))
	w.ledger.update(tables, found, progress, w.first)
	w.first = false
	w.queue.keep(found)
	w.publish(found)
	w.weighMarks(found)
	if err := w.hearErrors(ctx); err != nil {
		return err
	}
	return w.save()
}

// publish makes known what is wrong. The caller holds the lock, but in New.
func (w *Watch) publish(found []part) {
	list := slices.Clone(w.ledger.Damages)
	w.damaged.Store(&list)
	w.metrics.damaged.Reset()
	for _, d := range list {
		w.metrics.damaged.WithLabelValues(d.Table).Inc()
		if key := d.String(); !w.known[key] && found != nil {
			w.known[key] = true
			w.options.Report.Log.Error().Str("table", d.Table).Str("part", d.Part).Str("reason", d.Reason).Uint32("from", d.From).
				Msg("a table is damaged: " + w.options.Advice)
		}
	}
}

// weighMarks tells how much memory the marks of the parts need, and says so when that is
// more than ClickHouse holds: a look-up then reads those of a whole part anew.
func (w *Watch) weighMarks(found []part) {
	var bytes uint64
	for _, p := range found {
		bytes += p.marks
	}
	bytes += bytes / 2 // in a file they are compressed
	w.metrics.marks.Set(float64(bytes))
	outgrown := w.options.Marks > 0 && bytes > uint64(w.options.Marks)
	if outgrown && !w.outgrown {
		w.options.Report.Log.Warn().Uint64("needed", bytes).Int64("held", w.options.Marks).
			Msg("the tables have outgrown the memory of ClickHouse, and look-ups take many times as long: raise clickhouse.memory_bytes")
	}
	w.outgrown = outgrown
}

// save writes the ledger when it has changed.
func (w *Watch) save() error {
	if w.options.File == "" {
		return nil
	}
	text, err := json.Marshal(&w.ledger)
	if err != nil || string(text) == string(w.written) {
		return err
	}
	next := w.options.File + ".new"
	if err := os.WriteFile(next, text, 0o600); err != nil {
		return err
	}
	// A full disk may have taken less than all of it.
	if back, err := os.ReadFile(next); err != nil || string(back) != string(text) {
		return errors.Join(fmt.Errorf("%s was not written whole", next), err)
	}
	if err := os.Rename(next, w.options.File); err != nil {
		return err
	}
	w.written = text
	return nil
}

// part is one that ClickHouse has.
type part struct {
	table, uuid, partition, name, path string
	min, max                           int64
	bytes, marks                       uint64
	reason                             string // of a detached one
	detached                           bool
}

// transient are tables whose rows views make anew as a whole, again and again.
var transient = []string{"stats_balances", "stats_jetton_totals", "stats_jettons"}

// putAside are the reasons of detached parts whose rows are missing. An empty one
// is somebody's own.
const putAside = "'broken', 'broken-on-start', 'unexpected', 'covered-by-broken', ''"

func (w *Watch) each(ctx context.Context, query string, take func(), columns ...any) error {
	return clickhouse.Each(ctx, w.options.ClickHouse.Conn(), query, nil, take, columns...)
}

// tableOf is what is known of a table that has parts.
type tableOf struct {
	uuid       string // tells it from others that had its name before
	replicated bool
	// keepsEmpty reports whether rows expire and a part stays when all of its rows have.
	keepsEmpty bool
}

func (w *Watch) tables(ctx context.Context) (map[string]tableOf, error) {
	tables := map[string]tableOf{}
	var name string
	var t tableOf
	var mark uint64
	var settled bool // times are in seconds: another change in the same one would not be seen
	err := w.each(ctx, `SELECT sum(cityHash64(name, uuid, metadata_modification_time)), max(metadata_modification_time) + INTERVAL 5 SECOND < now()
		FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`, func() {}, &mark, &settled)
	if err != nil {
		return nil, err
	}
	if known := w.defined.Load(); known != nil && settled && mark == known.mark {
		return known.tables, nil
	}
	// Engines with their settings are texts that ClickHouse writes anew for each answer.
	err = w.each(ctx, `SELECT name, toString(uuid), engine LIKE 'Replicated%', engine_full LIKE '%remove_empty_parts = 0%' FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
		func() { tables[name] = t }, &name, &t.uuid, &t.replicated, &t.keepsEmpty)
	if err == nil && settled {
		w.defined.Store(&definitions{mark, tables})
	}
	return tables, err
}

// list reads what parts there are of some tables. Where rows do not expire a part
// without any is what a deletion left.
func (w *Watch) list(ctx context.Context, tables map[string]tableOf) ([]part, error) {
	var found []part
	var p part
	var empty bool
	take := func() {
		t, is := tables[p.table]
		newer := is && !strings.Contains(p.path, t.uuid) // than the one that tables has
		if !is || newer || t.replicated || empty && !t.keepsEmpty || strings.HasPrefix(p.table, ".") || slices.Contains(transient, p.table) {
			return
		}
		p.uuid = t.uuid
		if p.detached {
			p.path = ""
		}
		found = append(found, p)
	}
	err := w.each(ctx, `SELECT table, partition_id, name, path, min_block_number, max_block_number, bytes_on_disk, marks_bytes, '' AS why, false AS aside, rows = 0 AS empty
		FROM system.parts WHERE database = currentDatabase() AND active
		UNION ALL
		SELECT table, ifNull(partition_id, ''), name, path, ifNull(min_block_number, -1), ifNull(max_block_number, -1), toUInt64(0), toUInt64(0), ifNull(reason, ''), true, false
		FROM system.detached_parts WHERE database = currentDatabase() AND ifNull(reason, '') IN (`+putAside+`)`,
		take, &p.table, &p.partition, &p.name, &p.path, &p.min, &p.max, &p.bytes, &p.marks, &p.reason, &p.detached, &empty)
	return found, err
}

// progress is the newest bundle of which every partition of every topic is in
// the tables.
func (w *Watch) progress(ctx context.Context) (uint32, error) {
	watermark, err := clickhouse.ReadWatermark(ctx, w.options.ClickHouse.Conn())
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return 0, nil
	}
	return watermark.MCSeqno, err
}

// Sum joins damages of a table: from the lowest bundle on.
func Sum(list []Damage) map[string]uint32 {
	from := map[string]uint32{}
	for _, d := range list {
		if d.Covered {
			continue
		}
		if before, ok := from[d.Table]; !ok || d.From < before {
			from[d.Table] = d.From
		}
	}
	return from
}

func sorted(list []Damage) []Damage {
	slices.SortFunc(list, func(a, b Damage) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}

// readRepairs reads when tables were repaired last. Those that have no tables yet
// have no repairs.
func (w *Watch) readRepairs(ctx context.Context) (map[string]time.Time, error) {
	at := map[string]time.Time{}
	var name string
	var newest time.Time
	err := w.each(ctx, "SELECT name, max(at) FROM repairs GROUP BY name", func() { at[name] = newest }, &name, &newest)
	if gone(err) {
		return at, nil
	}
	return at, err
}

// repaired are the tables that were repaired since the last look. The caller holds
// the lock.
func (w *Watch) repaired(repairs map[string]time.Time) (tables []string) {
	for name, at := range repairs {
		if w.repairs != nil && at.After(w.repairs[name]) {
			tables = append(tables, name)
		}
	}
	w.repairs = repairs
	return tables
}

// accept has a repair be later than those before it, also after the clock was put back.
const accept = "INSERT INTO repairs SELECT arrayJoin(?), greatest(now64(6, 'UTC'), (SELECT max(at) FROM repairs) + INTERVAL 1 MICROSECOND)"

// Accept takes the tables as they are now for whole: their rows were brought
// back. Watches of other processes do so with their next look.
func (w *Watch) Accept(ctx context.Context, tables []string) error {
	if err := w.options.ClickHouse.Conn().Exec(clickhouse.Foreground(ctx), accept, tables); err != nil {
		return fmt.Errorf("tell of the repair: %w", err)
	}
	w.mutex.Lock()
	w.ledger.accept(tables)
	w.mutex.Unlock()
	return w.Poll(ctx)
}

// Exec runs a statement that takes a part away. That there is no such part any
// more, because it was taken away before or merged, is no error.
func (w *Watch) Exec(ctx context.Context, statement string) error {
	with := driver.Context(ctx, driver.WithSettings(driver.Settings{"allow_drop_detached": 1}))
	err := w.options.ClickHouse.Conn().Exec(with, statement)
	if gone(err) {
		return nil
	}
	return err
}
