package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// gapLog records the bundles that were skipped. The stream shows them too: the
// bundle after a gap names the one before it as its predecessor.
type gapLog struct {
	path    string
	metrics *metrics
	log     zerolog.Logger
}

type gapLine struct {
	McSeqno uint32    `json:"mc_seqno"`
	Bad     bool      `json:"bad"` // refused, otherwise missing
	Why     string    `json:"why"`
	At      time.Time `json:"at"`
}

func (g *gapLog) add(seqno uint32, why *problem) error {
	if why.left {
		return nil
	}
	g.metrics.gaps.Inc()
	g.log.Warn().Uint32("bundle", seqno).Msg("bundle skipped: " + why.text)
	if g.path == "" {
		return nil
	}
	line, err := json.Marshal(gapLine{McSeqno: seqno, Bad: why.bad, Why: why.text, At: time.Now().UTC()})
	if err != nil {
		return fmt.Errorf("gap of bundle %d: %w", seqno, err)
	}
	file, err := os.OpenFile(g.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("gap file: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("gap file: %w", err)
	}
	return nil
}
