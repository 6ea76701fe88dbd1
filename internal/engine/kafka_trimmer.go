package engine

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	keepInterval = time.Second
	endsInterval = 5 * time.Second
	// absence is how long a group without members still counts as a reader, so
	// that one that restarts, or starts after its writer, finds its records.
	absence = 10 * time.Minute
)

// trimmer trims the log, one file at a time, to what is unread or recent. Where
// a reader is too far behind, it makes writers wait. It also keeps the side file
// of ends.
type trimmer struct {
	cluster  *kfake.Cluster
	options  KafkaOptions
	dir      string
	endsPath string
	log      zerolog.Logger
	absence  time.Duration

	ends     ends
	saved    ends
	groups   map[string]time.Time // when it last had members
	opened   time.Time
	refusing map[string]*kfake.FaultHandle // by partition

	mutex  sync.Mutex
	seen   map[string]bool  // groups met since the last visit
	synced map[string]int64 // by partition

	bytes   *prometheus.GaugeVec
	full    *prometheus.GaugeVec
	trimmed *prometheus.CounterVec
	quit    chan struct{}
	done    chan struct{}
	err     error
}

func newTrimmer(cluster *kfake.Cluster, options KafkaOptions, dir string, check *preflight) *trimmer {
	m, labels := options.Report.Meter("engine_kafka"), []string{"topic", "partition"}
	t := &trimmer{
		cluster: cluster, options: options, dir: dir, endsPath: check.endsPath, log: options.Report.Log, absence: absence,
		ends: check.ends, synced: maps.Clone(check.ends.Synced), groups: make(map[string]time.Time), opened: time.Now(),
		refusing: make(map[string]*kfake.FaultHandle), seen: make(map[string]bool),
		bytes:   m.Gauges("bytes", "Bytes that the embedded log holds of a partition.", labels...),
		full:    m.Gauges("full", "1 while writers of a partition wait because a reader is too far behind.", labels...),
		trimmed: m.Counters("trimmed_bytes_total", "Bytes that the embedded log has deleted after they were read.", labels...),
		quit:    make(chan struct{}), done: make(chan struct{}),
	}
	for _, group := range check.groups {
		t.groups[group] = t.opened
	}
	cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.JoinGroup, kmsg.OffsetCommit}, Count: -1, Observe: true, When: t.meet})
	return t
}

// meet notes the group of a request. It runs inside the broker.
func (t *trimmer) meet(request kmsg.Request) bool {
	var group string
	switch r := request.(type) {
	case *kmsg.JoinGroupRequest:
		group = r.Group
	case *kmsg.OffsetCommitRequest:
		group = r.Group
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.seen[group] = true
	return false
}

func (t *trimmer) run() {
	defer close(t.done)
	look, save := time.NewTicker(keepInterval), time.NewTicker(endsInterval)
	defer look.Stop()
	defer save.Stop()
	for {
		var err error
		select {
		case <-look.C:
			err = t.visit()
		case <-save.C:
			err = t.saveEnds()
		case <-t.quit:
			t.err = errors.Join(t.visit(), t.saveEnds())
			return
		}
		if err != nil {
			t.log.Error().Err(err).Msg("keeping the embedded log")
		}
	}
}

func (t *trimmer) stop() error {
	close(t.quit)
	<-t.done
	return t.err
}

// noteSynced notes that what a partition has before an offset is on the disk for good.
func (t *trimmer) noteSynced(name string, end int64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.synced[name] = max(t.synced[name], end)
}

func (t *trimmer) saveEnds() error {
	t.mutex.Lock()
	t.ends.Synced = maps.Clone(t.synced)
	t.mutex.Unlock()
	if maps.Equal(t.saved.Partitions, t.ends.Partitions) && maps.Equal(t.saved.Synced, t.ends.Synced) {
		return nil
	}
	if err := writeJSON(t.endsPath, t.ends); err != nil {
		return err
	}
	t.saved = ends{Partitions: maps.Clone(t.ends.Partitions), Synced: t.ends.Synced}
	return nil
}

// visit goes over every partition once.
func (t *trimmer) visit() error {
	entries, err := os.ReadDir(filepath.Join(t.dir, "partitions"))
	if err != nil {
		return ignoreMissing(err)
	}
	readers := t.readers()
	var failures []error
	for _, e := range entries {
		topic, partition, ok := parsePartitionDir(e.Name())
		if ok {
			failures = append(failures, t.visitPartition(topic, partition, readers))
		}
	}
	return errors.Join(failures...)
}

func parsePartitionDir(name string) (topic string, partition int, ok bool) {
	dash := strings.LastIndexByte(name, '-')
	if dash < 0 {
		return "", 0, false
	}
	partition, err := strconv.Atoi(name[dash+1:])
	topic, errTopic := url.PathUnescape(name[:dash])
	return topic, partition, err == nil && errTopic == nil
}

func (t *trimmer) visitPartition(topic string, partition int, readers []*kfake.GroupInfo) error {
	info, about := t.cluster.PartitionInfo(topic, int32(partition)), t.cluster.TopicInfo(topic)
	if info == nil || about == nil {
		return nil // deleted
	}
	name := partitionName(topic, partition)
	t.ends.Partitions[name] = info.HighWatermark
	if t.options.SyncWrites {
		t.noteSynced(name, info.HighWatermark)
	}
	if policy := about.Configs["cleanup.policy"]; policy != nil && strings.Contains(*policy, "compact") {
		return nil
	}
	files, err := segmentSizes(partitionDir(t.dir, topic, partition))
	if err != nil {
		return err
	}
	needed := t.needed(topic, partition, info.LogStartOffset, readers)
	start, held, freed := files.trim(t.options.RetentionBytes, needed)
	if start > info.LogStartOffset {
		if err := t.cluster.DeleteRecords(topic, int32(partition), start); err != nil {
			return err
		}
		t.trimmed.WithLabelValues(topic, strconv.Itoa(partition)).Add(float64(freed))
	}
	t.bytes.WithLabelValues(topic, strconv.Itoa(partition)).Set(float64(held))
	t.refuse(topic, partition, files.unread(needed, info.HighWatermark) >= t.options.LimitBytes)
	return nil
}

// readers are the groups that count: with members, or without for a short time.
func (t *trimmer) readers() []*kfake.GroupInfo {
	now := time.Now()
	t.mutex.Lock()
	for group := range t.seen {
		t.groups[group] = now
	}
	clear(t.seen)
	t.mutex.Unlock()
	var readers []*kfake.GroupInfo
	for group, last := range t.groups {
		info := t.cluster.GroupInfo(group)
		switch {
		case info == nil:
			delete(t.groups, group)
			continue
		case len(info.Members) > 0:
			t.groups[group] = now
		case now.Sub(last) > t.absence:
			continue
		}
		readers = append(readers, info)
	}
	return readers
}

// needed is the first offset of a partition that some reader has yet to read.
func (t *trimmer) needed(topic string, partition int, logStart int64, readers []*kfake.GroupInfo) int64 {
	needed := int64(math.MaxInt64)
	for _, group := range readers {
		if commit, ok := group.Commits[topic][int32(partition)]; ok {
			needed = min(needed, max(commit.Offset, 0))
		} else if reads(group, topic) {
			needed = logStart
		}
	}
	if needed == math.MaxInt64 && time.Since(t.opened) < t.absence {
		return logStart // its reader may be about to come
	}
	return needed
}

func reads(group *kfake.GroupInfo, topic string) bool {
	for _, member := range group.Members {
		if _, ok := member.Assignment[topic]; ok || slices.Contains(member.SubscribedTopics, topic) {
			return true
		}
	}
	return false
}

// refuse makes writers of a partition wait, or lets them in again.
func (t *trimmer) refuse(topic string, partition int, full bool) {
	name := partitionName(topic, partition)
	handle, refusing := t.refusing[name]
	if full == refusing {
		return
	}
	gauge := t.full.WithLabelValues(topic, strconv.Itoa(partition))
	if refusing {
		handle.Remove()
		delete(t.refusing, name)
		gauge.Set(0)
		t.log.Info().Str("partition", name).Msg("the reader has caught up, writers go on")
		return
	}
	t.refusing[name] = t.cluster.Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Partitions: []int32{int32(partition)}, Err: kerr.ThrottlingQuotaExceeded, Count: -1,
	})
	gauge.Set(1)
	t.log.Warn().Str("partition", name).Int64("bytes", t.options.LimitBytes).Msg("a reader is too far behind, writers wait for it")
}

// segmentFiles are the files of a partition in order.
type segmentFiles []struct{ base, size int64 }

func segmentSizes(dir string) (segmentFiles, error) {
	bases, err := segmentBases(dir)
	if err != nil {
		return nil, err
	}
	files := make(segmentFiles, 0, len(bases))
	for _, base := range bases {
		info, err := os.Stat(segmentPath(dir, base))
		if errors.Is(err, fs.ErrNotExist) {
			continue // compacted or deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		files = append(files, struct{ base, size int64 }{base, info.Size()})
	}
	return files, nil
}

// trim says from which offset on the files must stay: they hold at least keep
// bytes, everything from the offset needed on, and the file being written. held
// is what stays, freed what goes.
func (f segmentFiles) trim(keep, needed int64) (start, held, freed int64) {
	for i := len(f) - 1; i >= 0; i-- {
		behind := i == len(f)-1 || held < keep || f[i+1].base > needed
		if behind && freed == 0 {
			start, held = f[i].base, held+f[i].size
		} else {
			freed += f[i].size
		}
	}
	return start, held, freed
}

// unread is what the files hold from the offset needed on, those that were read in part
// with all their bytes. The last one goes up to the offset end.
func (f segmentFiles) unread(needed, end int64) (bytes int64) {
	for i := len(f) - 1; i >= 0 && end > needed; i-- {
		bytes, end = bytes+f[i].size, f[i].base
	}
	return bytes
}
