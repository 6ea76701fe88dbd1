package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kfake"

	"tonscribe/internal/report"
)

// KafkaOptions say where an embedded log lives and how much it keeps.
type KafkaOptions struct {
	// Dir holds the log.
	Dir string
	// RetentionBytes is how much of every partition stays although all groups
	// have read it. 0 means 128 MiB.
	RetentionBytes int64
	// LimitBytes is how much a partition may hold that a group has not read yet;
	// beyond it writers are refused (with an error that clients retry) until
	// the group catches up. 0 means four times RetentionBytes.
	LimitBytes int64
	// SegmentBytes is the size of the files that make up a partition, and the
	// step in which it is trimmed. 0 means 16 MiB.
	SegmentBytes int64
	// SyncWrites makes every record survive a power loss, at the cost of half a
	// millisecond and most of the throughput. Without it what was written since Sync
	// may be gone after a power loss (which changes Epoch), and nothing else.
	SyncWrites bool
	Report     report.Reporter
}

const (
	defaultRetentionBytes = 128 << 20
	defaultSegmentBytes   = 16 << 20
	// Offsets of a group that has been away stay for ten years, not a week.
	offsetsRetentionMinutes = 10 * 365 * 24 * 60
)

// Kafka is an embedded log that speaks the Kafka protocol to clients in this
// process. It opens no port.
type Kafka struct {
	options  KafkaOptions
	lock     *os.File
	ends     ends
	cluster  *kfake.Cluster
	listener *listener
	keeper   *trimmer
	disk     disk

	closing func() error // once
}

// StartKafka checks and opens the log in the folder. It refuses a folder that is
// open elsewhere, and one whose files are damaged otherwise than by a crash. ctx
// bounds nothing but the check.
func StartKafka(ctx context.Context, options KafkaOptions) (*Kafka, error) {
	k, err := openKafka(ctx, options.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("embedded kafka: %w", err)
	}
	return k, nil
}

func (o KafkaOptions) withDefaults() KafkaOptions {
	o.SegmentBytes = cmp.Or(o.SegmentBytes, defaultSegmentBytes)
	o.RetentionBytes = cmp.Or(o.RetentionBytes, defaultRetentionBytes)
	o.LimitBytes = cmp.Or(o.LimitBytes, 4*o.RetentionBytes)
	return o
}

func openKafka(ctx context.Context, options KafkaOptions) (_ *Kafka, err error) {
	if options.Dir, err = filepath.Abs(options.Dir); err != nil {
		return nil, err
	}
	if options.RetentionBytes < 0 || options.LimitBytes < 0 {
		return nil, fmt.Errorf("retention_bytes %d and limit_bytes %d may not be negative", options.RetentionBytes, options.LimitBytes)
	}
	data := filepath.Join(options.Dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	k := &Kafka{options: options, listener: newListener(), disk: disk{dir: data, last: map[string]int64{}}}
	k.closing = sync.OnceValue(k.close)
	if k.lock, err = lockFile(filepath.Join(options.Dir, "lock")); err != nil {
		return nil, fmt.Errorf("folder %s: %w", options.Dir, err)
	}
	defer func() {
		if err != nil {
			k.lock.Close()
		}
	}()
	check := preflight{dir: data, endsPath: filepath.Join(options.Dir, "ends.json"), log: options.Report.Log}
	if err := check.run(ctx); err != nil {
		return nil, err
	}
	k.ends = check.ends
	if k.cluster, err = kfake.NewCluster(k.clusterOptions(data)...); err != nil {
		return nil, fmt.Errorf("open %s: %w", data, err)
	}
	if len(k.ends.Partitions) > 0 { // opening read the log through memory that is not needed again
		debug.FreeOSMemory()
	}
	k.keeper = newTrimmer(k.cluster, options, data, &check)
	go k.keeper.run()
	options.Report.Log.Info().Str("folder", options.Dir).Int("partitions", len(k.ends.Partitions)).Msg("embedded log is open")
	return k, nil
}

func (k *Kafka) clusterOptions(data string) []kfake.Opt {
	configs := map[string]string{
		// The broker itself deletes nothing: a partition that it trims to nothing
		// forgets its offsets, and it does not know what is read. That is for the trimmer.
		"log.retention.ms":          "-1",
		"log.retention.bytes":       "-1",
		"log.segment.bytes":         strconv.FormatInt(k.options.SegmentBytes, 10),
		"offsets.retention.minutes": strconv.Itoa(offsetsRetentionMinutes),
	}
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.DataDir(data), kfake.ClusterID(rand.Text()), kfake.BrokerConfigs(configs),
		kfake.ListenFn(func(string, string) (net.Listener, error) { return k.listener, nil }),
		kfake.WithLogger(brokerLog{k.options.Report.Log}),
	}
	if k.options.SyncWrites {
		options = append(options, kfake.SyncWrites())
	}
	return options
}

// Dial connects to the log inside this process; network and address are
// ignored, so that it serves for whatever broker address a client was told.
func (k *Kafka) Dial(ctx context.Context, _, _ string) (net.Conn, error) { return k.listener.dial(ctx) }

// Address is the broker's address as clients see it; with Dial it only needs
// to look like one.
func (k *Kafka) Address() string { return k.listener.Addr().String() }

// Epoch changes when the log has lost records that it had acknowledged (after a
// power loss), so that offsets may have been given to other records.
func (k *Kafka) Epoch() string { return strconv.Itoa(k.ends.Epoch) }

// Sync makes what a partition has survive a power loss.
func (k *Kafka) Sync(topic string, partition int) error {
	if k.options.SyncWrites {
		return nil
	}
	info := k.cluster.PartitionInfo(topic, int32(partition))
	if err := k.disk.sync(topic, partition); err != nil || info == nil {
		return err
	}
	k.keeper.noteSynced(partitionName(topic, partition), info.HighWatermark)
	return nil
}

// Stop closes the log. Readers and writers end first: a member that is still in
// its group at the stop is remembered by nobody and has to join again.
func (k *Kafka) Stop(ctx context.Context) error {
	closed := make(chan error, 1)
	go func() { closed <- k.closing() }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("embedded kafka: stop: %w", ctx.Err())
	}
}

func (k *Kafka) close() error {
	err := k.keeper.stop()
	k.listener.Close()
	k.cluster.Close()
	if err := errors.Join(err, k.lock.Close()); err != nil {
		return fmt.Errorf("embedded kafka: %w", err)
	}
	return nil
}
