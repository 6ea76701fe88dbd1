package sink

import "tonscribe/schema/record"

// codes has every code by its hash.
var codes = table[*record.Code]{
	name: "codes",
	columns: []column[*record.Code]{
		col("hash", func(c *record.Code) []byte { return c.Hash }),
		col("methods", func(c *record.Code) []uint32 { return c.Methods }),
		col("methods_known", func(c *record.Code) bool { return c.MethodsKnown }),
		col("boc", func(c *record.Code) string { return text(c.Boc) }),
	},
}
