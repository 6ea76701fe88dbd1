package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"
)

// layoutVersion is the version of the broker's files that this guard knows.
const layoutVersion = 1

// ends is the side file with what must be known of a log although its tail, or
// all of a partition, may be gone.
type ends struct {
	// Epoch counts how often the log has lost its tail.
	Epoch int `json:"epoch"`
	// Partitions are the offsets after the last record, by "topic/partition".
	Partitions map[string]int64 `json:"partitions"`
	// Synced are offsets of which all before are on the disk for good, at least.
	Synced map[string]int64 `json:"synced"`
}

// syncedUpTo is the offset before which nothing of a partition may be missing. Files that
// do not tell are of an earlier version.
func (e *ends) syncedUpTo(name string) int64 {
	if e.Synced == nil {
		return math.MaxInt64
	}
	return e.Synced[name]
}

func partitionName(topic string, partition int) string { return topic + "/" + strconv.Itoa(partition) }

// preflight brings the files of a log into a state that the broker opens fast
// and without losing anything. Left alone, the broker would after a crash read
// the whole log into memory, drop what follows a damaged record in silence,
// forget the offsets of an empty partition, keep commits beyond the end (whose
// readers then wait for ever), and wait for members that are gone.
type preflight struct {
	dir      string // of the broker
	endsPath string
	log      zerolog.Logger

	mutex  sync.Mutex
	ends   ends     // what it was, then what it is
	lost   bool     // a partition ends before the end that it is known to have had
	groups []string // that have committed
}

func (p *preflight) run(ctx context.Context) error {
	if _, err := readJSON(p.endsPath, &p.ends); err != nil {
		return err
	}
	topics, err := p.topics()
	if err != nil {
		return err
	}
	if err := ignoreMissing(os.Remove(filepath.Join(p.dir, "session_state.json"))); err != nil {
		return err
	}
	now := make(map[string]int64)
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for _, topic := range topics {
		for partition := range topic.Partitions {
			work.Go(func() error {
				end, err := p.checkPartition(ctx, topic, partition)
				if err != nil {
					return fmt.Errorf("partition %s: %w", partitionName(topic.Name, partition), err)
				}
				p.mutex.Lock()
				now[partitionName(topic.Name, partition)] = end
				p.mutex.Unlock()
				return nil
			})
		}
	}
	if err := work.Wait(); err != nil {
		return err
	}
	synced := make(map[string]int64)
	for name, end := range now {
		synced[name] = min(p.ends.syncedUpTo(name), end)
	}
	p.ends.Partitions, p.ends.Synced = now, synced
	if err := p.checkGroups(); err != nil {
		return err
	}
	if p.lost {
		p.ends.Epoch++
		p.log.Error().Int("epoch", p.ends.Epoch).Msg("the log lost records that it had acknowledged, probably in a power loss: they are made again from their source")
	}
	return writeJSON(p.endsPath, p.ends)
}

const startAnew = "if it cannot be restored, delete the folder of the embedded log; blocks are then read again from their source"

type topicFile struct {
	Name       string            `json:"name"`
	Partitions int               `json:"partitions"`
	Configs    map[string]string `json:"configs"`
}

// compacts reports whether records of the topic may be missing between others.
func (t topicFile) compacts() bool { return strings.Contains(t.Configs["cleanup.policy"], "compact") }

func (p *preflight) topics() ([]topicFile, error) {
	var meta struct{ Version int }
	found, err := readJSON(filepath.Join(p.dir, "meta.json"), &meta)
	if err != nil {
		return nil, err
	}
	if !found {
		if _, err := os.Stat(filepath.Join(p.dir, "partitions")); err == nil {
			return nil, fmt.Errorf("%s has records but no meta.json: %s", p.dir, startAnew)
		}
		return nil, nil
	}
	var file struct {
		Version int         `json:"version"`
		Topics  []topicFile `json:"topics"`
	}
	if _, err := readJSON(filepath.Join(p.dir, "topics.json"), &file); err != nil {
		return nil, err
	}
	if meta.Version != layoutVersion || file.Version != layoutVersion && len(file.Topics) > 0 {
		return nil, fmt.Errorf("%s was written by another version of the embedded log: %s", p.dir, startAnew)
	}
	return file.Topics, nil
}

// snapshot is the broker's summary of a partition; with one that fits the files
// it opens them without a replay.
type snapshot struct {
	Version          int               `json:"version"`
	HighWatermark    int64             `json:"high_watermark"`
	LastStableOffset int64             `json:"last_stable_offset"`
	LogStartOffset   int64             `json:"log_start_offset"`
	Epoch            int32             `json:"epoch"`
	MaxTimestamp     int64             `json:"max_timestamp"`
	CreatedAt        time.Time         `json:"created_at"`
	AbortedTxns      []json.RawMessage `json:"aborted_txns,omitempty"`
	Segments         []segmentSummary  `json:"segments"`
}

type segmentSummary struct {
	BaseOffset int64 `json:"base_offset"`
	Size       int64 `json:"size"`
	MinEpoch   int32 `json:"min_epoch,omitempty"`
	MaxEpoch   int32 `json:"max_epoch,omitempty"`
}

// partitionDir is where the broker keeps a partition.
func partitionDir(dir, topic string, partition int) string {
	return filepath.Join(dir, "partitions", url.PathEscape(topic)+"-"+strconv.Itoa(partition))
}

// checkPartition checks every record batch, cuts off a torn one at the end, and
// leaves a snapshot that fits. It returns the partition's end.
func (p *preflight) checkPartition(ctx context.Context, topic topicFile, partition int) (int64, error) {
	dir := partitionDir(p.dir, topic.Name, partition)
	var old snapshot
	if _, err := readJSON(filepath.Join(dir, "snapshot.json"), &old); err != nil || old.Version != layoutVersion {
		old = snapshot{} // it is only a summary
	}
	name := partitionName(topic.Name, partition)
	known := max(p.ends.Partitions[name], old.HighWatermark)
	segments, err := p.checkSegments(ctx, dir, topic.compacts(), p.ends.syncedUpTo(name))
	if err != nil {
		return 0, err
	}
	if len(segments) == 0 {
		if known > 0 {
			err = keepEnd(dir, known, old)
		}
		return known, err
	}
	first, last := segments[0], segments[len(segments)-1]
	if last.end < known {
		p.mutex.Lock()
		p.lost = true
		p.mutex.Unlock()
		p.log.Error().Str("partition", name).Int64("end", last.end).Int64("was", known).Msg("the log lost records")
	}
	if slices.ContainsFunc(segments, func(s segment) bool { return s.transactional }) {
		return last.end, nil // only the broker's own replay can judge transactions
	}
	fresh := snapshot{
		Version: layoutVersion, HighWatermark: last.end, LastStableOffset: last.end,
		LogStartOffset: min(max(first.first, old.LogStartOffset), last.end),
		Epoch:          max(old.Epoch, last.lastEpoch), CreatedAt: old.CreatedAt,
	}
	if fresh.CreatedAt.IsZero() {
		fresh.CreatedAt = time.UnixMilli(first.firstTimestamp)
	}
	for _, s := range segments {
		fresh.MaxTimestamp = max(fresh.MaxTimestamp, s.maxTimestamp)
		fresh.Segments = append(fresh.Segments, segmentSummary{s.base, s.size, s.minEpoch, s.maxEpoch})
	}
	return last.end, writeJSON(filepath.Join(dir, "snapshot.json"), fresh)
}

// keepEnd records the end of a partition without records: the broker takes it
// from an empty file whose name is that offset.
func keepEnd(dir string, end int64, old snapshot) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(segmentPath(dir, end), nil, 0o666); err != nil {
		return err
	}
	created := old.CreatedAt
	if created.IsZero() {
		created = time.Now()
	}
	return writeJSON(filepath.Join(dir, "snapshot.json"), snapshot{
		Version: layoutVersion, HighWatermark: end, LastStableOffset: end, LogStartOffset: end, Epoch: old.Epoch,
		CreatedAt: created, Segments: []segmentSummary{{BaseOffset: end}},
	})
}

func readJSON(path string, into any) (found bool, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return false, ignoreMissing(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return true, fmt.Errorf("%s is damaged: %w: %s", path, err, startAnew)
	}
	return true, nil
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return writeFile(path, data)
}
