package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/metadata"
	"tonscribe/schema/table"
)

// aboutLink is the table, or contract, that an entry of a link is from.
type aboutLink uint64

const (
	linkNamed    aboutLink = iota // by a contract's content; at is the bundle
	linkListed                    // in metadata_links; at is the bundle
	linkFetch                     // in metadata_fetches; at is when it was tried
	linkDocument                  // in metadata; at is when it was fetched
)

// documentSize is that of an entry in words: hash of the link (4), kind, at, and
// in the last bit whether there is a document.
const documentSize = 4 + 1 + 1

func (v *verifier) newDocumentSpill(ctx context.Context) error {
	rows, err := v.number(ctx, "SELECT (SELECT count() FROM metadata_links) + (SELECT count() FROM metadata_fetches) + (SELECT count() FROM metadata)")
	if err != nil {
		return err
	}
	if err := v.one(ctx, "SELECT max(mc_seqno) FROM metadata_workers", nil, &v.linksRead); err != nil {
		return err
	}
	// Most links are those that a content has now.
	v.documents, err = newSpill(documentSize, 2*rows)
	return err
}

func (v *verifier) keepLink(hash string, kind aboutLink, at uint64, had bool) error {
	w := wordsOf([]byte(hash))
	return v.documents.add(w[0], w[1], w[2], w[3], uint64(kind), at<<1|flag(had))
}

func hashOfLink(link string) string {
	sum := sha256.Sum256([]byte(link))
	return string(sum[:])
}

// keepNamed keeps the links of a contract's contents.
func (v *verifier) keepNamed(r *contractRow) (err error) {
	if v.documents == nil || r.bundle() > v.to {
		return nil
	}
	r.made.Documents(func(l *table.DocumentLink) {
		if err == nil {
			err = v.keepLink(hashOfLink(l.Link), linkNamed, uint64(l.MCSeqno), false)
		}
	})
	return err
}

// checkDocuments tests the rows about links one by one, and then those of each
// link together. Somebody may be fetching meanwhile: who fetches reads a link,
// writes that it is to be fetched, then the document, then that it was fetched,
// so the tables are read the other way round.
func (v *verifier) checkDocuments(ctx context.Context) error {
	for _, read := range []func(context.Context) error{v.readFetches, v.readDocuments, v.readLinks} {
		if err := read(ctx); err != nil {
			return err
		}
	}
	mark, err := clickhouse.ReadWatermark(ctx, v.client.Conn())
	if errors.Is(err, clickhouse.ErrNoWatermark) {
		return nil // the check of progress says so
	}
	if err != nil {
		return err
	}
	for part := range v.documents.parts {
		err := v.documents.groups(part, 4, func(entries [][]uint64) error { return v.link(ctx, entries, mark.MCSeqno) })
		if err != nil {
			return err
		}
	}
	return nil
}

func linkKey(hash string) string { return fmt.Sprintf("hash = unhex('%x')", hash) }

func (v *verifier) readFetches(ctx context.Context) error {
	var f fetchRow
	query := "SELECT hash, lane, link, tried, failure, attempts, due, had FROM metadata_fetches " + streaming
	return v.each(ctx, query, nil, []any{&f.hash, &f.lane, &f.link, &f.tried, &f.failure, &f.attempts, &f.due, &f.had}, func() error {
		v.findings.checked(CheckDocuments, 1)
		if what := f.wrong(); what != "" {
			v.findings.differs(CheckDocuments, "metadata_fetches", fmt.Sprintf("%s AND tried = %d", linkKey(f.hash), f.tried), "%s", what)
			return nil
		}
		return v.keepLink(f.hash, linkFetch, f.tried, f.had)
	})
}

// fetchRow is a row of metadata_fetches.
type fetchRow struct {
	hash, link, failure string
	lane                uint16
	tried               uint64
	attempts, due       uint32
	had                 bool
}

// tried is 0 of what was not tried yet, or 1 where an operator wants it now.
func wasTried(tried uint64) bool { return tried > 1 }

// wrong says what a row cannot say, nothing when it can be.
func (f *fetchRow) wrong() string {
	switch lane := metadata.QueueOf(f.link); {
	case f.hash != hashOfLink(f.link):
		return fmt.Sprintf("hash is %x, that of the link %x", f.hash, hashOfLink(f.link))
	case f.lane != lane:
		return fmt.Sprintf("lane is %d, that of the link %d", f.lane, lane)
	case !wasTried(f.tried) && (f.attempts > 0 || f.failure != "" || f.had):
		return fmt.Sprintf("it was never tried, but attempts is %d, failure %q, had %t", f.attempts, f.failure, f.had)
	case (f.attempts > 0) != (f.failure != ""):
		return fmt.Sprintf("attempts is %d, but failure %q", f.attempts, f.failure)
	case wasTried(f.tried) && f.failure == "" && !f.had:
		return "it was tried without a failure, but had is false"
	case f.due == metadata.Never && (!f.had || f.failure != "" || f.lane != metadata.QueueInLink):
		return "due is never, but it is not a document that lies in its link"
	}
	return wrongFailure(f.failure)
}

// wrongFailure says of a failure's text that it has no known reason.
func wrongFailure(failure string) string {
	reason, _, _ := strings.Cut(failure, ": ")
	if failure == "" || slices.Contains(metadata.Reasons, reason) {
		return ""
	}
	return fmt.Sprintf("failure %q has none of the known reasons: %s", failure, strings.Join(metadata.Reasons, ", "))
}

func (v *verifier) readDocuments(ctx context.Context) error {
	var d documentRow
	query := "SELECT hash, link, fetched, failure, document FROM metadata " + streaming
	return v.each(ctx, query, nil, []any{&d.hash, &d.link, &d.fetched, &d.failure, &d.document}, func() error {
		v.findings.checked(CheckDocuments, 1)
		if what := d.wrong(); what != "" {
			v.findings.differs(CheckDocuments, "metadata", fmt.Sprintf("%s AND fetched = %d", linkKey(d.hash), d.fetched), "%s", what)
			return nil
		}
		return v.keepLink(d.hash, linkDocument, d.fetched, d.document != "")
	})
}

// documentRow is a row of metadata.
type documentRow struct {
	hash, link, failure, document string
	fetched                       uint64
}

// wrong says what a row cannot say, nothing when it can be.
func (d *documentRow) wrong() string {
	switch {
	case d.hash != hashOfLink(d.link):
		return fmt.Sprintf("hash is %x, that of the link %x", d.hash, hashOfLink(d.link))
	case !wasTried(d.fetched):
		return fmt.Sprintf("fetched is %d", d.fetched)
	case (d.document == "") == (d.failure == ""):
		return fmt.Sprintf("failure is %q beside a document of %d bytes, where there is always one of them", d.failure, len(d.document))
	case d.document == "":
		return wrongFailure(d.failure)
	}
	kept, err := metadata.Kept([]byte(d.document))
	if err == nil && metadata.QueueOf(d.link) == metadata.QueueInLink {
		kept, err = metadata.InLink(d.link)
	}
	switch {
	case err != nil:
		return fmt.Sprintf("document is none: %v", err)
	case kept != d.document:
		return fmt.Sprintf("document is %.200q, but what is kept of it is %.200q", d.document, kept)
	}
	return ""
}

func (v *verifier) readLinks(ctx context.Context) error {
	var mcSeqno uint32
	var link string
	return v.each(ctx, "SELECT mc_seqno, link FROM metadata_links "+streaming, nil, []any{&mcSeqno, &link}, func() error {
		v.findings.checked(CheckDocuments, 1)
		if link == "" || mcSeqno == 0 {
			v.findings.differs(CheckDocuments, "metadata_links", fmt.Sprintf("mc_seqno = %d AND link = %q", mcSeqno, link), "it names nothing")
			return nil
		}
		return v.keepLink(hashOfLink(link), linkListed, uint64(mcSeqno), false)
	})
}

// aboutOne is what is known of one link: the bundles in which contents have it,
// ascending, and its newest rows.
type aboutOne struct {
	named, listed   []uint64
	fetch, document *standing
}

type standing struct {
	at  uint64
	had bool
}

func gather(entries [][]uint64) (o aboutOne) {
	for _, w := range entries {
		at, had := w[5]>>1, w[5]&1 == 1
		switch aboutLink(w[4]) {
		case linkNamed:
			o.named = append(o.named, at)
		case linkListed:
			o.listed = append(o.listed, at)
		case linkFetch:
			o.fetch = &standing{at, had}
		case linkDocument:
			o.document = &standing{at, had}
		}
	}
	return o
}

// link compares what the tables say of a link.
func (v *verifier) link(ctx context.Context, entries [][]uint64, watermark uint32) error {
	hash, o := hashOf(entries[0]), gather(entries)
	differs := func(table, format string, args ...any) {
		v.findings.differs(CheckDocuments, table, linkKey(hash), format, args...)
	}
	for _, at := range o.named {
		if !slices.Contains(o.listed, at) {
			v.findings.differs(CheckDocuments, "metadata_links", fmt.Sprintf("mc_seqno = %d AND SHA256(link) = unhex('%x')", at, hash),
				"no row, but a contract's content has the link since that bundle")
		}
	}
	for table, row := range map[string]*standing{"metadata_fetches": o.fetch, "metadata": o.document} {
		switch {
		case row == nil:
		case len(o.listed) == 0:
			differs(table, "table metadata_links does not have the link")
		case o.listed[0] > uint64(watermark):
			differs(table, "table metadata_links has the link from bundle %d on, and the watermark is %d", o.listed[0], watermark)
		}
	}
	switch f, d := o.fetch, o.document; {
	case f == nil && d != nil:
		return v.fetchOf(ctx, hash)
	case f == nil && len(o.listed) > 0 && o.listed[0] <= uint64(v.linksRead):
		differs("metadata_fetches", "no row, but links were read up to bundle %d, and bundle %d has it", v.linksRead, o.listed[0])
	case f == nil:
	case d == nil && wasTried(f.at):
		differs("metadata", "no row, but table metadata_fetches says that the link was tried at %d", f.at)
	case d != nil && d.at <= f.at && d.had != f.had:
		differs("metadata_fetches", "had is %t, but the row of table metadata, of %d, has a document: %t", f.had, d.at, d.had)
	}
	return nil
}

// fetchOf looks for the row of metadata_fetches of a link that has a document:
// it may have come since that table was read.
func (v *verifier) fetchOf(ctx context.Context, hash string) error {
	n, err := v.number(ctx, "SELECT count() FROM metadata_fetches WHERE "+linkKey(hash))
	if err == nil && n == 0 {
		v.findings.differs(CheckDocuments, "metadata_fetches", linkKey(hash), "no row, but table metadata has one")
	}
	return err
}
