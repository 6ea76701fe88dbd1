package contracts

import "github.com/xssnick/tonutils-go/tvm/cell"

// OffchainContent is content of TEP-64 that is in a file.
func OffchainContent(uri string) *cell.Cell {
	return snake([]byte{1}, []byte(uri))
}

// OnchainContent is content of TEP-64 by attribute names: name, symbol,
// decimals, image, description, …
func OnchainContent(attributes map[string]string) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreDict(named(attributes, func(value string) *cell.Builder {
		return cell.BeginCell().MustStoreRef(snake([]byte{0}, []byte(value)))
	})).EndCell()
}

// CommentBody is a message with a text.
func CommentBody(text string) *cell.Cell {
	return snake([]byte{0, 0, 0, 0}, []byte(text))
}

// SnakeText is a text without a prefix, as the URI of an item is.
func SnakeText(text string) *cell.Cell {
	return snake(nil, []byte(text))
}

// snake chains bytes through first references, as many in a cell as fit.
func snake(prefix, data []byte) *cell.Cell {
	const room = 127
	all := append(append([]byte{}, prefix...), data...)
	var next *cell.Cell
	for start := (max(len(all), 1) - 1) / room * room; start >= 0; start -= room {
		part := all[start:min(start+room, len(all))]
		builder := cell.BeginCell().MustStoreSlice(part, uint(len(part))*8)
		if next != nil {
			builder.MustStoreRef(next)
		}
		next = builder.EndCell()
	}
	return next
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
