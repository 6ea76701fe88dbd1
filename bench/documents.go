package bench

import (
	"context"
	"crypto/sha256"
	"fmt"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
)

// documentsAtOnce is how many documents go in with one insert.
const documentsAtOnce = 20_000

// insertDocuments puts the documents behind the contents of tokens into their
// table, as if they had been fetched once and never had to be again.
func (t tables) insertDocuments(ctx context.Context, tokens *synthetic.Tokens) error {
	var hashes [][]byte
	var links, documents []string
	number := 0
	insert := func() error {
		if len(links) == 0 {
			return nil
		}
		n := len(links)
		err := t.Insert(ctx, clickhouse.Insert{Table: "metadata", Token: fmt.Sprintf("bench %d", number), Columns: []clickhouse.Column{
			{Name: "hash", Values: hashes}, {Name: "link", Values: links}, {Name: "document", Values: documents},
			{Name: "fetched", Values: repeated(uint64(1), n)}, {Name: "failure", Values: make([]string, n)},
		}})
		number++
		hashes, links, documents = nil, nil, nil
		return err
	}
	err := tokens.Documents(func(d synthetic.Document) error {
		hash := sha256.Sum256([]byte(d.Link))
		hashes, links, documents = append(hashes, hash[:]), append(links, d.Link), append(documents, d.JSON)
		if len(links) < documentsAtOnce {
			return nil
		}
		return insert()
	})
	if err != nil {
		return err
	}
	return insert()
}

func repeated[T any](value T, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = value
	}
	return list
}
