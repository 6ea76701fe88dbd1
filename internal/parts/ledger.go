package parts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// ledger is what there was at the last look.
type ledger struct {
	// Progress is the bundle up to which everything was in the tables then.
	Progress uint32 `json:"progress"`
	// Known reports whether there was a look at all.
	Known  bool                    `json:"known"`
	Tables map[string]*ledgerTable `json:"tables"`
	// Damages stay until they are repaired. Those that ClickHouse itself shows
	// again at every look are not among them.
	Damages []Damage `json:"damages,omitempty"`

	settled map[string]bool
}

type ledgerTable struct {
	// UUID tells a table from one that was made anew under its name.
	UUID       string             `json:"uuid"`
	Partitions map[string][]cover `json:"partitions"`
}

// cover is the inserts [Min, Max] that a part has.
type cover struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
	// From is the first bundle of which it may have rows.
	From uint32 `json:"from"`
}

func (l *ledger) load(file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, l); err != nil {
		return fmt.Errorf("%s is damaged: delete it; what parts the tables had is then not known, and repair brings back all bundles where it would bring back some: %w", file, err)
	}
	return nil
}

// update takes the tables and parts that there are now, and notes what is lost.
// At the first look nothing was inserted since the engine opened its tables, so
// that parts which have the inserts of one that lies aside are its equals: the
// parts that it was merged from.
func (l *ledger) update(tables map[string]tableOf, found []part, progress uint32, first bool) {
	fresh := l.Progress + 1
	if !l.Known {
		fresh = Everything
	}
	now := map[string]*ledgerTable{}
	for name, t := range tables {
		now[name] = &ledgerTable{UUID: t.uuid, Partitions: map[string][]cover{}}
	}
	var aside []part
	for _, p := range found {
		t := now[p.table]
		switch {
		case t == nil || t.UUID != p.uuid: // made while this was read
		case p.detached:
			aside = append(aside, p)
		default:
			t.Partitions[p.partition] = append(t.Partitions[p.partition], cover{Min: p.min, Max: p.max})
		}
	}
	l.forget(found, now)
	l.lying(aside, now, fresh, first)
	l.compare(now, fresh)
	l.Tables, l.Progress, l.Known, l.settled = now, progress, true, nil
}

// compare notes covers that are gone, and tells the new ones since when they are.
func (l *ledger) compare(now map[string]*ledgerTable, fresh uint32) {
	for name, before := range l.Tables {
		t := now[name]
		if t == nil || t.UUID != before.UUID {
			continue
		}
		for partition, covers := range before.Partitions {
			for _, c := range covers {
				if !covered(t.Partitions[partition], c.Min, c.Max) {
					l.note(Damage{Table: name, Part: fmt.Sprintf("%s_%d_%d", partition, c.Min, c.Max), Reason: "its rows are gone", From: c.From})
				}
			}
		}
	}
	for name, t := range now {
		var before map[string][]cover
		if old := l.Tables[name]; old != nil && old.UUID == t.UUID {
			before = old.Partitions
		}
		fresh := fresh
		if before == nil && l.settled[name] {
			fresh = Everything
		}
		for partition, covers := range t.Partitions {
			slices.SortFunc(covers, func(a, b cover) int { return cmp.Compare(a.Min, b.Min) })
			for i := range covers {
				covers[i].From = since(before[partition], covers[i], fresh)
			}
		}
	}
}

// since is the first bundle that a cover may have rows of: that of the covers
// that it was merged from, or fresh when it has inserts that none of them has.
func since(before []cover, c cover, fresh uint32) uint32 {
	from := fresh
	for _, b := range before {
		if b.Max >= c.Min && b.Min <= c.Max {
			from = min(from, b.From)
		}
	}
	return from
}

// covered reports whether all inserts [low, high] are in some of the covers.
func covered(covers []cover, low, high int64) bool {
	if low < 0 || high < low {
		return false
	}
	for end := low - 1; end < high; {
		at := end + 1
		for _, c := range covers {
			if c.Min <= at {
				end = max(end, c.Max)
			}
		}
		if end < at {
			return false
		}
	}
	return true
}

// lying says what is missing for the parts that lie aside, and keeps it in mind:
// later inserts may get the numbers of lost ones.
func (l *ledger) lying(aside []part, now map[string]*ledgerTable, fresh uint32, first bool) {
	for _, p := range aside {
		d := Damage{Table: p.table, Part: p.name, Detached: true, Reason: reasonOf(p), From: fresh}
		if slices.ContainsFunc(l.Damages, func(o Damage) bool { return o.Table == d.Table && o.Part == d.Part && o.Detached }) {
			continue // known already
		}
		covers := now[p.table].Partitions[p.partition]
		var before []cover
		if old := l.Tables[p.table]; old != nil && old.UUID == p.uuid {
			before = old.Partitions[p.partition]
		}
		if first && covered(inside(covers, p), p.min, p.max) || merged(before, covers, p) {
			d.Covered = true
			d.Reason += "; other parts have its rows"
		} else {
			for _, c := range before {
				if p.min < 0 || c.Max >= p.min && c.Min <= p.max {
					d.From = min(d.From, c.From)
				}
			}
		}
		l.Damages = sorted(append(l.Damages, d))
	}
}

// inside are the covers that the part may have been merged from.
func inside(covers []cover, p part) []cover {
	return slices.DeleteFunc(slices.Clone(covers), func(c cover) bool { return c.Min < p.min || c.Max > p.max })
}

// merged reports whether the part had been merged into a wider one, which is there
// still, when everything was whole.
func merged(before, now []cover, p part) bool {
	return slices.ContainsFunc(before, func(c cover) bool {
		return c.Min <= p.min && c.Max >= p.max && c.Max-c.Min > p.max-p.min && covered(now, c.Min, c.Max)
	})
}

func reasonOf(p part) string {
	if p.reason == "" {
		return "it was detached, its rows are missing"
	}
	return "ClickHouse put it aside as " + p.reason
}

// note keeps damage in mind.
func (l *ledger) note(d Damage) {
	// A part that lies aside says the same, and more.
	for i, o := range l.Damages {
		if o.Table == d.Table && (o.Part == d.Part || o.Detached && !o.Covered && !d.Active && !d.Detached && o.From <= d.From) {
			l.Damages[i].From = min(o.From, d.From)
			return
		}
	}
	l.Damages = sorted(append(l.Damages, d))
}

// forget drops damage that is no more: parts that somebody took away from where
// they lay, damaged ones that a merge could read after all, and tables that were
// made anew.
func (l *ledger) forget(found []part, now map[string]*ledgerTable) {
	l.Damages = slices.DeleteFunc(l.Damages, func(d Damage) bool {
		old, t := l.Tables[d.Table], now[d.Table]
		if t == nil || old != nil && old.UUID != t.UUID {
			return true
		}
		there := slices.ContainsFunc(found, func(p part) bool { return p.table == d.Table && p.name == d.Part && p.detached == d.Detached })
		return !there && (d.Active || d.Detached && d.Covered)
	})
}

// accept takes everything as it is now for whole.
func (l *ledger) accept(tables []string) {
	l.Damages = slices.DeleteFunc(l.Damages, func(d Damage) bool { return slices.Contains(tables, d.Table) })
	for _, name := range tables {
		delete(l.Tables, name)
		if l.settled == nil {
			l.settled = map[string]bool{}
		}
		l.settled[name] = true // what was brought back is of any bundle
	}
}
