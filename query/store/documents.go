package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/ClickHouse/ch-go/proto"
)

// Document is what became of a link of a token's content.
type Document struct {
	Failed bool
	JSON   string
}

// Documents are those of the links that were fetched, or tried to be.
func (s *Store) Documents(ctx context.Context, links []string) (map[string]Document, error) {
	byHash := make(map[string]string, len(links))
	var list strings.Builder
	for i, link := range links {
		sum := sha256.Sum256([]byte(link))
		byHash[string(sum[:])] = link
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteString("unhex('" + hex.EncodeToString(sum[:]) + "')")
	}
	hash := proto.ColFixedStr{Size: sha256.Size}
	var fetched proto.ColUInt64
	var failure, document proto.ColStr
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "fetched", Data: &fetched}, {Name: "failure", Data: &failure}, {Name: "document", Data: &document}}
	found, newest := map[string]Document{}, map[string]uint64{}
	statement := "SELECT hash, fetched, failure, document FROM metadata WHERE hash IN (" + list.String() + ")"
	err := s.run(ctx, "metadata", statement, result, func(rows int) error {
		for i := range rows {
			link, asked := byHash[string(hash.Row(i))]
			if !asked || fetched[i] < newest[link] {
				continue
			}
			newest[link] = fetched[i]
			// A document that was had before and cannot be had now stays.
			found[link] = Document{Failed: document.Row(i) == "" && failure.Row(i) != "", JSON: strings.Clone(document.Row(i))}
		}
		return nil
	})
	return found, err
}
