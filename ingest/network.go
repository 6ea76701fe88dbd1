package ingest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// parseHash reads a hash of 32 bytes in hexadecimal digits or base64, nil when it
// is empty.
func parseHash(text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.URLEncoding.DecodeString,
		base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if hash, err := decode(text); err == nil && len(hash) == 32 {
			return hash, nil
		}
	}
	return nil, fmt.Errorf("%q is no hash: want 64 hexadecimal digits, or 32 bytes in base64", text)
}

// checkNetwork refuses a source whose chain is another network's, as far as the
// block that the run begins at, or the one before it, tells. A source that does
// not have it yet is believed until it comes.
func (c *Component) checkNetwork(ctx context.Context, r *reader, first uint32) error {
	zerostate, err := parseHash(c.configuration.Zerostate)
	if err != nil || c.configuration.GlobalID == 0 && zerostate == nil {
		return err
	}
	if _, last := c.source.Range(); last < first {
		return nil
	}
	seqno := max(first-1, 1)
	good, _, err := r.masters(ctx, seqno)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	why := ""
	for _, b := range good {
		switch {
		case c.configuration.GlobalID != 0 && b.GlobalID != c.configuration.GlobalID:
			why = fmt.Sprintf("has global_id %d, not %d", b.GlobalID, c.configuration.GlobalID)
		case zerostate != nil && seqno == 1 && !bytes.Equal(b.Prev[0].RootHash, zerostate):
			why = fmt.Sprintf("follows the zerostate %x, not %x", b.Prev[0].RootHash, zerostate)
		default:
			return nil
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("source %s has the blocks of another network: masterchain block %s from %s %s: name its network with --network, or set ingest.global_id and ingest.zerostate to what they are there",
		c.configuration.Source, FormatID(good[len(good)-1].ID), good[len(good)-1].origin, why)
}

// proves reports whether blocks of the source are proven by signatures, so that the
// last one needs no successor.
func (c Configuration) proves() bool { return strings.HasPrefix(c.Source, "liteserver:") }
