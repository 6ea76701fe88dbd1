package v2

import (
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/stack"
)

// configInfo is a cell of the configuration.
var configInfo = api.Typed("ConfigInfo", "configInfo", api.Object("config", stack.Cells, api.Same[*cell.Cell], nil))

var errOneParam = unprocessable("only one of config_id or param should be specified")

var getConfigParam = &Method{
	Name: "getConfigParam", Tag: tagConfiguration, Summary: "One config parameter",
	Description: "The cell of a parameter of the blockchain configuration; bytes is empty when there is none. Either config_id or param names it; of a GET with both, config_id counts.",
	Params: []Param{
		{Name: "config_id", Kind: Int32Kind, Min: bound(0), RuleName: "param", Description: "number of the parameter"},
		{Name: "param", Kind: Int32Kind, Min: bound(0), Description: "number of the parameter"},
		seqnoParam,
	},
	Cache:  5 * time.Second,
	Errors: []Error{*errOneParam},
	first: func(v *Values) error {
		both := v.sent("config_id") && v.sent("param")
		if both && !v.query || !v.sent("config_id") && !v.sent("param") {
			return errOneParam
		}
		return nil
	},
	Result: of(configInfo, func(c *call) (*cell.Cell, error) {
		id := c.number("config_id")
		if !c.sent("config_id") {
			id = c.number("param")
		}
		return c.ConfigParam(c, uint32(id), c.optionalSeqno("seqno"))
	}),
}

var getConfigAll = &Method{
	Name: "getConfigAll", Tag: tagConfiguration, Summary: "All config parameters",
	Description: "The dictionary of the blockchain configuration, from 32-bit numbers to cells.",
	Params:      []Param{seqnoParam}, Cache: 5 * time.Second,
	Result: of(configInfo, func(c *call) (*cell.Cell, error) { return c.Config(c, c.optionalSeqno("seqno")) }),
}

var getLibraries = &Method{
	Name: "getLibraries", Tag: tagConfiguration, Summary: "Libraries",
	Description: "Public libraries by their hashes; unknown ones are left out. At most 16 different ones are looked for.",
	Params:      []Param{{Name: "libraries", Kind: HashesKind, Description: "hashes: repeated in a query, an array in a body"}},
	Cache:       5 * time.Second,
	Result: of(api.Typed("LibraryResult", "smc.libraryResult",
		api.List("result", api.Typed("LibraryEntry", "smc.libraryEntry",
			api.Hash("hash", func(l node.Library) []byte { return l.Hash[:] }),
			api.Bytes("data", func(l node.Library) []byte {
				return l.Cell.ToBOCWithOptions(cell.BOCSerializeOptions{}) // lite servers serialise without a checksum
			}),
		), api.Same[[]node.Library], api.Same[node.Library]),
	), func(c *call) ([]node.Library, error) { return c.Libraries(c, c.of("libraries").hashes) }),
}
