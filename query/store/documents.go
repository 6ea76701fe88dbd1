package store

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/cache"
	"tonscribe/query/reader"
)

// Document is what became of a link of a token's content.
type Document struct {
	Failed bool
	JSON   string
}

// fetchedDocument is a row of metadata.
type fetchedDocument struct {
	link    string
	fetched uint64
	Document
}

// Documents are those of the links that were fetched, or tried to be.
func (s *Store) Documents(ctx context.Context, links []string) (map[string]Document, error) {
	byHash := make(map[cache.Hash]string, len(links))
	wanted := make([]cache.Hash, len(links))
	for i, link := range links {
		wanted[i] = sha256.Sum256([]byte(link))
		byHash[wanted[i]] = link
	}
	rows, err := reader.Gather(ctx, reader.Chunks(wanted, s.reader.Splits(len(wanted)), cache.CompareHashes), func(ctx context.Context, part []cache.Hash) ([]fetchedDocument, error) {
		return s.documents(ctx, part, byHash)
	})
	if err != nil {
		return nil, err
	}
	found, newest := map[string]Document{}, map[string]uint64{}
	for _, row := range rows {
		if row.fetched >= newest[row.link] {
			newest[row.link], found[row.link] = row.fetched, row.Document
		}
	}
	return found, nil
}

// documents are the rows of the links that have some hashes.
func (s *Store) documents(ctx context.Context, wanted []cache.Hash, links map[cache.Hash]string) ([]fetchedDocument, error) {
	hash := proto.ColFixedStr{Size: len(cache.Hash{})}
	var fetched proto.ColUInt64
	var failure, document proto.ColStr
	result := proto.Results{{Name: "hash", Data: &hash}, {Name: "fetched", Data: &fetched}, {Name: "failure", Data: &failure}, {Name: "document", Data: &document}}
	var found []fetchedDocument
	statement := "SELECT hash, fetched, failure, document FROM metadata WHERE " + cache.HashesIn(wanted).String()
	err := s.reader.Run(ctx, "metadata", statement, result, func(rows int) error {
		for i := range rows {
			if link, asked := links[cache.Hash(hash.Row(i))]; asked {
				// A document that was had before and cannot be had now stays.
				failed := document.Row(i) == "" && failure.Row(i) != ""
				found = append(found, fetchedDocument{link, fetched[i], Document{Failed: failed, JSON: strings.Clone(document.Row(i))}})
			}
		}
		return nil
	})
	return found, err
}
