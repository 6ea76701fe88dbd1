package metadata

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"tonscribe/internal/clickhouse"
)

// linkBatch is how many links are looked at at once, linkBatches how often
// before something else is done.
const (
	linkBatch   = 1000
	linkBatches = 20
)

// linkCursor is where the links are read on: at the bundle, after the link.
type linkCursor struct {
	mcSeqno uint32
	after   string
}

// find takes note of the links that have become visible and are not known.
func (w *work) find(ctx context.Context) error {
	mark, err := clickhouse.ReadWatermark(ctx, w.tables.Conn())
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return nil
	}
	for n := 0; err == nil && n < linkBatches && w.cursor.mcSeqno <= mark.MCSeqno; n++ {
		err = w.findSome(ctx, mark.MCSeqno)
	}
	if w.cursor.mcSeqno > 0 {
		w.lease.mcSeqno = w.cursor.mcSeqno - 1
		w.metrics.bundle.Set(float64(w.lease.mcSeqno))
	}
	return err
}

func (w *work) findSome(ctx context.Context, to uint32) error {
	next, found, n := w.cursor, map[hash]string{}, 0
	err := clickhouse.Each(ctx, w.tables.Conn(), `SELECT mc_seqno, link FROM metadata_links
		WHERE mc_seqno BETWEEN ? AND ? AND (mc_seqno > ? OR link > unhex(?)) ORDER BY mc_seqno, link LIMIT ?`,
		[]any{w.cursor.mcSeqno, to, w.cursor.mcSeqno, hex.EncodeToString([]byte(w.cursor.after)), linkBatch}, func() {
			found[sha256.Sum256([]byte(next.after))] = next.after
			n++
		}, &next.mcSeqno, &next.after)
	if err != nil {
		return err
	}
	if n < linkBatch {
		next = linkCursor{mcSeqno: to + 1}
	}
	if err := w.note(ctx, found); err != nil {
		return err
	}
	w.cursor = next
	return nil
}

// note makes those of the links that are not known due.
func (w *work) note(ctx context.Context, found map[hash]string) error {
	if len(found) == 0 {
		return nil
	}
	known, err := w.known(ctx, slices.Collect(maps.Keys(found)))
	if err != nil {
		return err
	}
	var fresh []fetch
	for h, link := range found {
		if _, is := known[h]; !is {
			queue := w.host(QueueOf(link))
			fresh = append(fresh, fetch{hash: h, queue: queue.number, link: link, due: queue.soon()})
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	if err := w.writeFetches(ctx, fresh); err != nil {
		return err
	}
	w.metrics.links.Add(float64(len(fresh)))
	return nil
}
