package sink

import (
	"errors"
	"fmt"
	"time"

	"tonscribe/schema/table"
)

// Configuration of the component. A batch is inserted when it is full, when a
// bundle ended and nothing more is waiting, or when it has waited long enough.
// Every insert costs about the same, however few rows it has: who reads what is
// new from the log can let the tables wait.
type Configuration struct {
	// Group is the consumer group that all sinks of a log share.
	Group string `yaml:"group"`
	// MaxRows is the number of transactions (or blocks) that fill a batch.
	MaxRows int `yaml:"max_rows"`
	// MaxBytes of records fill a batch. About ten times as much memory is used
	// for each partition of transactions.
	MaxBytes int `yaml:"max_bytes"`
	// MaxWait is the longest that a row waits for more while records keep coming.
	MaxWait time.Duration `yaml:"max_wait"`
	// Quiet is how long nothing must come after a bundle's end for the batch to
	// be inserted at once.
	Quiet time.Duration `yaml:"quiet"`
	// Every is the time from one round of inserts to the next: unless its batch is full,
	// a partition has one in each. With 0 the tables have a bundle as soon as can be.
	Every time.Duration `yaml:"every"`
	// Rest is how long, in durations of the last insert, a batch that is not full
	// waits after it, so that small batches do not take all of ClickHouse.
	Rest float64 `yaml:"rest"`
	// MaxRest bounds that rest: inserts that a busy machine makes slow must not
	// delay the next bundle as well.
	MaxRest time.Duration `yaml:"max_rest"`
	// Inserts is how many tables of a batch are inserted at a time, twice as many
	// of a small one.
	Inserts int `yaml:"inserts"`
	// Last is the last bundle of a range, behind which nothing comes; 0 is none.
	Last uint32 `yaml:"-"`
	// MaxDataDepth is the depth of the deepest data, as a tree of cells, that
	// table accounts keeps; 0 is any depth, and a negative number keeps none.
	MaxDataDepth int `yaml:"max_data_depth"`
}

// keepsData reports whether table accounts keeps data of a depth.
func (c Configuration) keepsData(depth uint32) bool {
	return c.MaxDataDepth == 0 || int64(depth) <= int64(c.MaxDataDepth)
}

// feedOf makes rows of the records of a topic.
func (c Configuration) feedOf(topic string) (*table.Feed, error) {
	return table.NewFeed(topic, c.TableOptions())
}

// TableOptions say what rows leave out.
func (c Configuration) TableOptions() table.Options { return table.Options{KeepsData: c.keepsData} }

// DefaultConfiguration fits two processors and the embedded engine.
func DefaultConfiguration() Configuration {
	return Configuration{
		Group:        "sink",
		MaxRows:      25_000,
		MaxBytes:     32 << 20,
		MaxWait:      time.Second,
		Quiet:        2 * time.Millisecond,
		Rest:         2,
		MaxRest:      250 * time.Millisecond,
		Inserts:      2,
		MaxDataDepth: 12,
	}
}

// HeadEvery is what Every is for who follows the log itself: requests see what is new at
// once, and an insert costs the same whatever it holds.
const HeadEvery = 30 * time.Second

// ForHistory are the settings for a range of the chain that is there already: nobody
// waits for a bundle, so that batches grow while records keep coming. What ends with the
// last bundle, where that is known, is inserted at once, and all else when nothing came for
// a moment.
func (c Configuration) ForHistory(last uint32) Configuration {
	c.Every, c.Quiet, c.MaxWait, c.Last = 0, max(c.Quiet, historyQuiet), max(c.MaxWait, historyWait), last
	return c
}

const (
	// historyQuiet is longer than what a stage needs for a bundle on a busy machine, which
	// would be busier with an insert for each.
	historyQuiet = time.Second
	// historyWait is how old a batch of a range may become that is not full.
	historyWait = 10 * time.Second
)

// maxEvery bounds how long a bundle is in the log alone: well below how old tables
// may be for a replica to begin to follow the log.
const maxEvery = 30 * time.Second

func (c Configuration) validate() error {
	switch {
	case c.Group == "":
		return errors.New("sink: group is empty")
	case c.MaxRows < 1 || c.MaxBytes < 1:
		return errors.New("sink: max_rows and max_bytes must be at least 1")
	case c.MaxWait < 0 || c.Quiet < 0 || c.Rest < 0 || c.MaxRest < 0:
		return errors.New("sink: max_wait, quiet, rest and max_rest may not be negative")
	case c.Every < 0 || c.Every > maxEvery:
		return fmt.Errorf("sink: every is %s, it must be between 0 and %s", c.Every, maxEvery)
	case c.Inserts < 1:
		return errors.New("sink: inserts must be at least 1")
	}
	return nil
}
