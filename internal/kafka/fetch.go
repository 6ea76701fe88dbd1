package kafka

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	// fetchBytes is what one answer of a broker holds, about: each consumer that waits for
	// something else has one in memory, and the embedded log the next one.
	fetchBytes = 2 << 20
	fetchWait  = 5 * time.Second
	// readLimit bounds how long a broker may take to deliver a record of an
	// answer it has begun.
	readLimit = 10 * time.Second
	// stallLimit is the longest time without a record before the connection is
	// renewed: kafka-go is known to stall after broker trouble.
	stallLimit = 60 * time.Second
	// queueLength is small because a record may have some MiB.
	queueLength = 16
)

type fetched struct {
	*entry
	err error
}

// fetcher reads one partition from an offset on. Offsets must be contiguous:
// the log holds no transactions and is not compacted, so a jump means that
// records were lost.
type fetcher struct {
	client *Client
	tp     TopicPartition
	offset int64 // of the next record
	queue  chan fetched
	last   time.Time   // when a record came last
	note   func(error) // gets why nothing comes any more, nil when the log has what is next; may be nil
}

// run ends with ctx or after an error that another connection does not cure,
// which is the last thing in the queue.
func (f *fetcher) run(ctx context.Context) {
	defer close(f.queue)
	if f.client.written != nil {
		defer f.client.written.join(f)()
	}
	for ctx.Err() == nil {
		err := f.client.persistLong(ctx, "fetch", func(ctx context.Context, works func()) error {
			before := f.offset
			err := f.session(ctx, works)
			if f.offset > before && (err == nil || temporary(err)) {
				return nil // it worked for a while: pauses start from the shortest again
			}
			return err
		})
		if err != nil && ctx.Err() == nil {
			f.noted(err)
			_ = f.send(ctx, fetched{err: err}) // nobody listens any more when this fails
			return
		}
	}
}

func (f *fetcher) noted(err error) {
	if f.note != nil {
		f.note(err)
	}
}

func (f *fetcher) send(ctx context.Context, item fetched) error {
	select {
	case f.queue <- item:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// session reads over one connection, and calls works whenever it got what there is; nil
// means that it was given up because nothing came for long.
func (f *fetcher) session(ctx context.Context, works func()) error {
	conn, err := f.client.dialLeader(ctx, f.tp)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer closeWith(ctx, conn)()
	// Not every broker refuses a fetch beyond the end of the log.
	if err := f.checkRange(conn); err != nil {
		return err
	}
	f.noted(nil)
	for f.last = time.Now(); ; {
		if err := f.takeWritten(ctx, works); err != nil {
			return err
		}
		if _, err := conn.Seek(f.offset, kafka.SeekAbsolute|kafka.SeekDontCheck); err != nil {
			return err
		}
		end, err := f.readBatch(ctx, conn)
		if errors.Is(err, kafka.OffsetOutOfRange) {
			return errors.Join(f.checkRange(conn), err)
		}
		if err != nil {
			return err
		}
		works()
		if time.Since(f.last) > stallLimit {
			if end > f.offset {
				f.client.metrics.stalls.WithLabelValues(f.tp.labels()).Inc()
				f.client.report.Log.Warn().Stringer("partition", f.tp).Int64("offset", f.offset).Int64("end", end).
					Msg("nothing came although the log has more; connecting again")
			}
			return nil
		}
	}
}

// checkRange refuses an offset that the log does not have (any more).
func (f *fetcher) checkRange(conn *kafka.Conn) error {
	conn.SetDeadline(time.Now().Add(readLimit))
	defer conn.SetDeadline(time.Time{})
	first, end, err := conn.ReadOffsets()
	switch {
	case err != nil:
		return err
	case f.offset < first:
		return finalError{fmt.Errorf("%s: the log begins at offset %d, but offset %d is next: %d records were deleted "+
			"before they were read; stop the members of the consumer group and set it to the beginning of the topic to go on there, and let retention be longer", f.tp, first, f.offset, first-f.offset)}
	case f.offset > end:
		return finalError{fmt.Errorf("%s: the log ends at offset %d, but offset %d is next: it lost its end or was made anew; "+
			"delete the consumer group to start from its beginning", f.tp, end, f.offset)}
	}
	return nil
}

// readBatch asks for records once and queues them; end is the log's end then.
func (f *fetcher) readBatch(ctx context.Context, conn *kafka.Conn) (end int64, err error) {
	conn.SetReadDeadline(time.Now().Add(fetchWait + readLimit))
	batch := conn.ReadBatchWith(kafka.ReadBatchConfig{MinBytes: 1, MaxBytes: fetchBytes, MaxWait: fetchWait})
	defer batch.Close()
	end = batch.HighWaterMark()
	for {
		conn.SetReadDeadline(time.Now().Add(readLimit))
		message, err := batch.ReadMessage()
		if errors.Is(err, io.EOF) || errors.Is(err, kafka.RequestTimedOut) {
			f.client.metrics.lag.WithLabelValues(f.tp.labels()).Set(float64(max(0, end-f.offset)))
			return end, nil
		}
		if err != nil {
			return end, err
		}
		if message.Offset != f.offset {
			return end, finalError{fmt.Errorf("%s: offset %d came where offset %d is next: records are missing in the log",
				f.tp, message.Offset, f.offset)}
		}
		if err := f.queueUp(ctx, &entry{offset: message.Offset, value: message.Value}); err != nil {
			return end, err
		}
	}
}

// takeWritten queues what the process wrote itself, for as long as the reader can go on
// with it.
func (f *fetcher) takeWritten(ctx context.Context, works func()) error {
	if f.client.written == nil {
		return nil
	}
	for {
		entries, left, moved := f.client.written.after(f, queueLength)
		switch {
		case moved != nil:
			if asks, err := f.await(ctx, moved); asks || err != nil {
				return err
			}
			continue
		case len(entries) == 0:
			return nil
		}
		for _, e := range entries {
			if err := f.queueUp(ctx, e); err != nil {
				return err
			}
		}
		works()
		f.client.metrics.lag.WithLabelValues(f.tp.labels()).Set(float64(left))
	}
}

// await waits until more was written; asks is whether that takes so long that the log is
// asked all the same.
func (f *fetcher) await(ctx context.Context, moved <-chan struct{}) (asks bool, err error) {
	timer := time.NewTimer(stallLimit)
	defer timer.Stop()
	defer func() { f.last = time.Now() }()
	select {
	case <-moved:
		return false, nil
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (f *fetcher) queueUp(ctx context.Context, e *entry) error {
	if err := f.send(ctx, fetched{entry: e}); err != nil {
		return err
	}
	f.offset++
	f.last = time.Now()
	return nil
}
