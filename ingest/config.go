package ingest

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
)

// Policy says what happens when a block is missing or bad.
type Policy string

// The policies.
const (
	// Wait asks again, with growing pauses, until the block is there. Nothing
	// after it is published.
	Wait Policy = "wait"
	// Skip leaves the bundle out, records the gap and goes on.
	Skip Policy = "skip"
)

// Configuration of the stage.
type Configuration struct {
	// Source of blocks: files:DIR, archive:DIR or liteserver:CONFIG.json.
	Source string `yaml:"source"`
	// From is the first masterchain seqno to publish; 0 means the first that
	// the source allows. What the log already holds is not published again.
	From uint32 `yaml:"from"`
	// FromHead begins at the newest block of lite servers where From is 0, although
	// some of them keep older ones.
	FromHead bool `yaml:"-"`
	// To is the last one; 0 means to follow the source for ever.
	To uint32 `yaml:"to"`
	// ToHash is the root hash of masterchain block To, in hexadecimal digits or
	// base64; empty: whatever the source has there. Of a folder of blocks only the
	// block after one tells that it is the chain's, so the last one is believed.
	ToHash string `yaml:"to_hash"`
	// OnBad and OnGap say what to do about a block that fails verification and
	// about one that the source does not have: wait or skip. A block that the
	// source has not reached yet is always waited for.
	OnBad Policy `yaml:"on_bad"`
	OnGap Policy `yaml:"on_gap"`
	// SkipAfter is how long a block near the end of the source is waited for
	// before its bundle is skipped: it may be on its way. Further back bundles
	// are skipped at once.
	SkipAfter time.Duration `yaml:"skip_after"`
	// GlobalID is the network's id (block.tlb, global_id); 0 takes that of the
	// first block. A block of another network is bad.
	GlobalID int32 `yaml:"global_id"`
	// Zerostate is the root hash of the network's zerostate, which masterchain
	// block 1 must follow; empty: any.
	Zerostate string `yaml:"zerostate"`
	// GapFile gets one JSON line for every bundle that is skipped; empty: none.
	GapFile string `yaml:"gap_file"`

	// Proofs says how the source liteserver knows which masterchain blocks are
	// in the chain: secure, by validators' signatures, or off, by the word of
	// most servers.
	Proofs lite.Proofs `yaml:"proofs"`
	// Lite is how the source liteserver uses the servers.
	Lite lite.Tuning `yaml:"lite"`

	// Window is how many bundles are read ahead of the one being published.
	Window int `yaml:"window"`
	// WindowBytes bounds the bytes of blocks held by the window.
	WindowBytes int64 `yaml:"window_bytes"`
	// Readers is how many blocks are read and checked at the same time. From
	// lite servers it is sixteen times as many: they are waited for.
	Readers int `yaml:"readers"`
	// MaxBlockBytes is the largest block taken. A node's own limit is 4 MiB.
	MaxBlockBytes int `yaml:"max_block_bytes"`
	// ChunkBytes is about how much goes out in one write to the log.
	ChunkBytes int `yaml:"chunk_bytes"`
	// MaxBacklog stops publishing while the next stage is further behind than
	// this many bytes, so that the log's retention does not eat what was not
	// read yet; 0 means no bound.
	MaxBacklog int64 `yaml:"max_backlog"`
	// RetryMin and RetryMax bound the pauses before asking again.
	RetryMin time.Duration `yaml:"retry_min"`
	RetryMax time.Duration `yaml:"retry_max"`
	// ReportEvery is the time between two progress lines in the log.
	ReportEvery time.Duration `yaml:"report_every"`
}

// DefaultConfiguration suits one machine. The source is still to be named.
func DefaultConfiguration() Configuration {
	return Configuration{
		OnBad:         Wait,
		OnGap:         Wait,
		SkipAfter:     5 * time.Second,
		Proofs:        lite.Secure,
		Lite:          lite.DefaultTuning(),
		Window:        64,
		WindowBytes:   256 << 20,
		Readers:       2 * runtime.GOMAXPROCS(0),
		MaxBlockBytes: 4 << 20,
		ChunkBytes:    4 << 20,
		RetryMin:      500 * time.Millisecond,
		RetryMax:      30 * time.Second,
		ReportEvery:   5 * time.Second,
	}
}

// Check tells what is wrong with a configuration and, as far as that can be seen
// without opening it, with its source.
func (c Configuration) Check() error {
	if err := c.Validate(); err != nil {
		return err
	}
	source, err := NewSource(c, report.Silent())
	if err != nil {
		return err
	}
	return source.Check()
}

// Bounds of what has its room from the start.
const (
	maxWindow  = 1_000_000
	maxReaders = 10_000
)

// Validate tells what is wrong with a configuration by itself.
func (c Configuration) Validate() error {
	for _, p := range []struct {
		key    string
		policy Policy
	}{{"on_bad", c.OnBad}, {"on_gap", c.OnGap}} {
		if p.policy != Wait && p.policy != Skip {
			return fmt.Errorf("ingest: %s %q: must be wait or skip", p.key, p.policy)
		}
	}
	if c.To != 0 && c.From > c.To {
		return fmt.Errorf("--from %d is after --to %d", c.From, c.To)
	}
	if c.ToHash != "" && c.To == 0 {
		return errors.New("ingest.to_hash is the hash of masterchain block ingest.to, which is not set: give --to SEQNO:HASH")
	}
	for key, hash := range map[string]string{"--to, ingest.to_hash": c.ToHash, "ingest.zerostate": c.Zerostate} {
		if _, err := parseHash(hash); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, n := range []struct {
		key   string
		value int64
	}{
		{"window", int64(c.Window)}, {"window_bytes", c.WindowBytes}, {"readers", int64(c.Readers)},
		{"max_block_bytes", int64(c.MaxBlockBytes)}, {"chunk_bytes", int64(c.ChunkBytes)},
		{"retry_min", int64(c.RetryMin)}, {"retry_max", int64(c.RetryMax)}, {"report_every", int64(c.ReportEvery)},
	} {
		if n.value <= 0 {
			return fmt.Errorf("ingest: %s must be above 0", n.key)
		}
	}
	if c.MaxBacklog < 0 || c.SkipAfter < 0 {
		return errors.New("ingest: max_backlog and skip_after may not be negative")
	}
	if c.Window > maxWindow || c.Readers > maxReaders {
		return fmt.Errorf("ingest: window %d and readers %d: at most %d and %d", c.Window, c.Readers, maxWindow, maxReaders)
	}
	return nil
}
