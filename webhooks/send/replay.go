package send

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
)

// Range says which deliveries are made again.
type Range struct {
	From, To time.Time // of the block, From included, To not
	// States are those of the deliveries; none are Exhausted, Ignored and Cancelled.
	States []State
}

// Replay is the making of a range of deliveries, one after another.
type Replay struct {
	Merchant, ID ID
	Range        Range
	Found        uint64 // deliveries
	Done         uint64 // those that were tried
	Delivered    uint64 // those that were taken
	State        ReplayState
	Created      time.Time
	Reported     time.Time // when its process last told of it

	changed uint64
}

// ReplayState is how a replay stands.
type ReplayState string

// The states of a replay.
const (
	ReplayRunning   ReplayState = "running"
	ReplayDone      ReplayState = "done"
	ReplayFailed    ReplayState = "failed" // its process was stopped, or the endpoint refused
	ReplayCancelled ReplayState = "cancelled"
)

// Errors of replays.
var (
	ErrReplaying = errors.New("a replay of the merchant is under way: wait for its end, or cancel it")
	ErrBusy      = errors.New("too many replays are under way: try again later")
	ErrRange     = errors.New("a replay needs a range of time, and states of deliveries that have ended")
)

const (
	maxReplays    = 64 // of a process
	replayPage    = 200
	replayReports = time.Second // between rows of a replay
	maxReports    = 1 << 30     // more rows than any replay writes
	// replayStale is after how long without a row a replay counts as failed.
	replayStale = time.Minute
)

func (r *Range) check() error {
	if len(r.States) == 0 {
		r.States = []State{Exhausted, Ignored, Cancelled}
	}
	for _, s := range r.States {
		if !slices.Contains([]State{Delivered, Exhausted, Ignored, Cancelled}, s) {
			return ErrRange
		}
	}
	if !r.From.Before(r.To) {
		return ErrRange
	}
	return nil
}

// conditions are those of its deliveries. Duplicates of payments are not made: the receiver would
// take them for payments.
func (r *Range) conditions() (lasting, changing []string) {
	test := false
	lasting, changing = (&Search{States: r.States, From: r.From, To: r.To, Test: &test}).conditions()
	return lasting, append(changing, "reason != "+literal([]byte(ReasonDuplicate)))
}

// Count returns how many deliveries a replay would make.
func (m *Manual) Count(ctx context.Context, merchant ID, r Range) (n uint64, err error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	lasting, changing := r.conditions()
	err = m.tables.Conn().QueryRow(ctx, "SELECT count() FROM deliveries FINAL WHERE merchant = "+literal(merchant[:])+" AND "+
		strings.Join(slices.Concat(lasting, changing), " AND ")+" SETTINGS use_skip_indexes_if_final = 0").Scan(&n)
	return n, err
}

// Replay makes the deliveries of a range again, in the background, so many a second as the
// configuration says. A merchant has one replay at a time.
func (m *Manual) Replay(ctx context.Context, merchant ID, of Range) (Replay, error) {
	found, err := m.Count(ctx, merchant, of)
	if err != nil {
		return Replay{}, err
	}
	_ = of.check() // which Count has done, for the states
	id, err := uuid.NewV7()
	if err != nil {
		return Replay{}, err
	}
	r := &Replay{Merchant: merchant, ID: ID(id), Range: of, Found: found, State: ReplayRunning, Created: time.Now().UTC().Truncate(time.Microsecond)}
	r.changed = uint64(r.Created.UnixMicro())
	if err := m.admit(ctx, r); err != nil {
		return Replay{}, err
	}
	made := *r
	if err := m.put(ctx, r); err != nil {
		m.dismiss(r)
		return Replay{}, err
	}
	select {
	case m.jobs <- r:
		return made, nil
	case <-ctx.Done():
		m.dismiss(r)
		return Replay{}, ctx.Err()
	}
}

// admit takes a replay up where its merchant has no other.
func (m *Manual) admit(ctx context.Context, r *Replay) error {
	others, err := m.readReplays(ctx, r.Merchant, "created >= "+moment(r.Created.Add(-m.configuration.KeepAttempts)))
	if err != nil {
		return err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	switch {
	case m.replays[r.Merchant] != nil || slices.ContainsFunc(others, func(o Replay) bool { return o.State == ReplayRunning }):
		return ErrReplaying
	case len(m.replays) >= maxReplays:
		return ErrBusy
	}
	m.replays[r.Merchant] = r
	return nil
}

func (m *Manual) dismiss(r *Replay) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	delete(m.replays, r.Merchant)
}

// Replays returns a replay of a merchant.
func (m *Manual) Replays(ctx context.Context, merchant, id ID) (Replay, error) {
	list, err := m.readReplays(ctx, merchant, "replay = "+literal(id[:]))
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Replay{}, err
	}
	return list[0], nil
}

// Cancel ends a replay of a merchant, of whatever process: after the attempt under way.
func (m *Manual) Cancel(ctx context.Context, merchant, id ID) (Replay, error) {
	r, err := m.Replays(ctx, merchant, id)
	if err != nil || r.State != ReplayRunning {
		return r, err
	}
	// No row of the process that makes it, which counts up from its creation, replaces this one,
	// also where the wall clock was put back since.
	r.State, r.changed = ReplayCancelled, max(r.changed+maxReports, uint64(time.Now().UnixMicro()))
	return r, m.put(ctx, &r)
}

// replay makes the deliveries of one.
func (m *Manual) replay(ctx context.Context, r *Replay) {
	defer m.dismiss(r)
	err := m.replayAll(ctx, r)
	switch {
	case err == nil && r.State == ReplayRunning:
		r.State = ReplayDone
	case err != nil:
		r.State = ReplayFailed
		m.report.Log.Warn().Err(err).Hex("merchant", r.Merchant[:]).Msg("the replay failed")
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	if err := m.put(closing, r); err != nil {
		m.report.Log.Warn().Err(err).Hex("merchant", r.Merchant[:]).Msg("the end of the replay could not be written")
	}
}

// replayAll goes through the deliveries, the oldest first, until the replay is cancelled.
func (m *Manual) replayAll(ctx context.Context, r *Replay) error {
	reported, due := time.Now(), time.Now()
	pause := time.Duration(float64(time.Second) / m.configuration.ReplayRate)
	lasting, changing := r.Range.conditions()
	for from := (*place)(nil); ; {
		list, err := page(ctx, m.tables, r.Merchant, lasting, changing, from, "", replayPage)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, d := range list {
			from = d.place()
			if err := lifetime.Sleep(ctx, time.Until(due)); err != nil {
				return err
			}
			due = time.Now().Add(pause)
			a, err := m.Redeliver(ctx, r.Merchant, d.Event)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			r.Done++
			if a.Succeeded() {
				r.Delivered++
			}
			if time.Since(reported) < replayReports {
				continue
			}
			reported = time.Now()
			now, err := m.Replays(ctx, r.Merchant, r.ID)
			if err != nil {
				return err
			}
			if now.State == ReplayCancelled {
				r.State, r.changed = ReplayCancelled, max(r.changed, now.changed)
				return nil
			}
			if err := m.put(ctx, r); err != nil {
				return err
			}
		}
	}
}

// put writes how a replay stands.
func (m *Manual) put(ctx context.Context, r *Replay) error {
	r.changed++
	r.Reported = time.Now().UTC().Truncate(time.Microsecond)
	rows := []Replay{*r}
	return m.tables.Insert(ctx, clickhouse.Insert{Table: "replays", Token: token(), Columns: []clickhouse.Column{
		clickhouse.ColumnOf("merchant", rows, func(r *Replay) []byte { return r.Merchant[:] }),
		clickhouse.ColumnOf("replay", rows, func(r *Replay) []byte { return r.ID[:] }),
		clickhouse.ColumnOf("range_from", rows, func(r *Replay) time.Time { return r.Range.From }),
		clickhouse.ColumnOf("range_to", rows, func(r *Replay) time.Time { return r.Range.To }),
		clickhouse.ColumnOf("states", rows, func(r *Replay) []string { return texts(r.Range.States) }),
		clickhouse.ColumnOf("found", rows, func(r *Replay) uint64 { return r.Found }),
		clickhouse.ColumnOf("done", rows, func(r *Replay) uint64 { return r.Done }),
		clickhouse.ColumnOf("delivered", rows, func(r *Replay) uint64 { return r.Delivered }),
		clickhouse.ColumnOf("state", rows, func(r *Replay) string { return string(r.State) }),
		clickhouse.ColumnOf("created", rows, func(r *Replay) time.Time { return r.Created }),
		clickhouse.ColumnOf("reported", rows, func(r *Replay) time.Time { return r.Reported }),
		clickhouse.ColumnOf("expires", rows, func(r *Replay) time.Time { return r.Created.Add(m.configuration.KeepAttempts) }),
		clickhouse.ColumnOf("changed", rows, func(r *Replay) uint64 { return r.changed }),
	}})
}

func texts(states []State) []string {
	list := make([]string, len(states))
	for n, s := range states {
		list[n] = string(s)
	}
	return list
}

func (m *Manual) readReplays(ctx context.Context, merchant ID, condition string) (list []Replay, err error) {
	var r Replay
	var key, state string
	var states []string
	err = clickhouse.Each(ctx, m.tables.Conn(), `SELECT replay, range_from, range_to, states, found, done, delivered, state, created, reported, changed FROM replays
		WHERE merchant = `+literal(merchant[:])+" AND "+condition+" ORDER BY replay, changed DESC LIMIT 1 BY replay", nil, func() {
		one := r
		one.Merchant, one.State = merchant, ReplayState(state)
		copy(one.ID[:], key)
		one.Range.States = nil
		for _, s := range states {
			one.Range.States = append(one.Range.States, State(s))
		}
		if one.State == ReplayRunning && time.Since(one.Reported) > replayStale {
			one.State = ReplayFailed
		}
		list = append(list, one)
	}, &key, &r.Range.From, &r.Range.To, &states, &r.Found, &r.Done, &r.Delivered, &state, &r.Created, &r.Reported, &r.changed)
	return list, err
}
