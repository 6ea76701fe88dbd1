package v2

import (
	"slices"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
)

type libraryEntry struct {
	_    typed    `type:"smc.libraryEntry"`
	Hash [32]byte `json:"hash"`
	Data []byte   `json:"data"`
}

type libraryResult struct {
	_      typed          `type:"smc.libraryResult"`
	Result []libraryEntry `json:"result"`
}

// librariesAtOnce is how many libraries lite servers take in a request.
const librariesAtOnce = 16

var getLibraries = &Method{
	Name: "getLibraries", Tag: tagConfiguration, Summary: "Libraries",
	Description: "Public libraries by their hashes; unknown ones are left out. At most 16 different ones are looked for.",
	Params:      []Param{{Name: "libraries", Kind: HashesKind, Description: "hashes: repeated in a query, an array in a body"}},
	Cache:       5 * time.Second,
	Result:      openapi.TypeOf[libraryResult](),
	serve: func(c *call) (any, error) {
		hashes := slices.Clone(c.of("libraries").hashes)
		slices.SortFunc(hashes, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
		hashes = slices.Compact(hashes)
		if len(hashes) == 0 {
			return libraryResult{}, nil
		}
		hashes = hashes[:min(len(hashes), librariesAtOnce)]
		found, err := c.libraries(hashes)
		if err != nil {
			return nil, err
		}
		var result libraryResult
		for i, library := range found {
			if library != nil {
				// Lite servers serialise without a checksum.
				data := library.ToBOCWithOptions(cell.BOCSerializeOptions{})
				result.Result = append(result.Result, libraryEntry{Hash: hashes[i], Data: data})
			}
		}
		return result, nil
	},
}

// libraryShelf keeps libraries, which are named by their hashes, for the code
// that needs them.
type libraryShelf struct {
	mu   sync.Mutex
	held map[[32]byte]*cell.Cell
}

// keptLibraries is how many libraries are kept; the code of a jetton wallet is a
// few kilobytes.
const keptLibraries = 1 << 10

func newLibraryShelf() *libraryShelf { return &libraryShelf{held: map[[32]byte]*cell.Cell{}} }

func (l *libraryShelf) find(hash [32]byte) *cell.Cell {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[hash]
}

func (l *libraryShelf) add(hash [32]byte, library *cell.Cell) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held) >= keptLibraries {
		clear(l.held)
	}
	l.held[hash] = library
}

// libraries asks for libraries; those that there are none of are nil.
func (c *call) libraries(hashes [][32]byte) ([]*cell.Cell, error) {
	asked := make([][]byte, len(hashes))
	for i := range hashes {
		asked[i] = hashes[i][:]
	}
	found, err := c.node.Libraries(c, asked...)
	if err != nil {
		return nil, err
	}
	for i, library := range found {
		if library != nil {
			c.shelf.add(hashes[i], library)
		}
	}
	return found, nil
}

// library is one library, nil when there is none with the hash.
func (c *call) library(hash [32]byte) (*cell.Cell, error) {
	if kept := c.shelf.find(hash); kept != nil {
		return kept, nil
	}
	found, err := c.libraries([][32]byte{hash})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
