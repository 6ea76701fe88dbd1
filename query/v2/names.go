package v2

import (
	"encoding/hex"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/ton/address"
	tondns "tonscribe/ton/dns"
)

// recordCase is the case of the records of a kind.
func recordCase(kind tondns.Kind, name, typeName string, member api.Member[*node.Record]) api.Case[*node.Record] {
	return api.When(api.Typed(name, typeName, member), func(r *node.Record) (*node.Record, bool) { return r, r.Kind == kind })
}

func recordHash(r *node.Record) string { return hex.EncodeToString(r.Hash[:]) }

func recordAddress(r *node.Record) *address.Address { return &r.Address }

// nameValue is what a record says, in the words of dnsResolve.
var nameValue = api.OneOf("NameValue",
	recordCase(0, "ValueUnknown", "dns.entryDataUnknown", api.Cell("bytes", func(r *node.Record) *cell.Cell { return r.Cell })),
	recordCase(tondns.Text, "ValueText", "dns.entryDataText", text("text", func(r *node.Record) string { return r.Text })),
	recordCase(tondns.NextResolver, "ValueResolver", "dns.entryDataNextResolver", api.PartOf("resolver", accountAddress, recordAddress)),
	recordCase(tondns.Address, "ValueAddress", "dns.entryDataSmcAddress", api.PartOf("smc_address", accountAddress, recordAddress)),
	recordCase(tondns.ADNL, "ValueADNL", "dns.entryDataAdnlAddress", api.Object("adnl_address",
		api.Typed("AdnlAddress", "adnlAddress", api.Text("adnl_address", recordHash)), api.Same[*node.Record], nil)),
	recordCase(tondns.Storage, "ValueStorage", "dns.entryDataStorageAddress", api.Text("bag_id", recordHash)),
)

var stdAddress = api.Typed("StdAddress", "addr_std",
	api.Int32("workchain_id", (*address.Address).Workchain),
	api.Text("address", func(a *address.Address) string { return hex.EncodeToString(a.ID()) }),
)

// nameRecord is what a record says, in the words of getTokenData.
var nameRecord = api.OneOf("Record",
	recordCase(tondns.Address, "RecordAddress", "dns_smc_address", api.PartOf("smc_addr", stdAddress, recordAddress)),
	recordCase(tondns.ADNL, "RecordADNL", "dns_adnl_address", api.Text("adnl_addr", recordHash)),
	recordCase(tondns.NextResolver, "RecordResolver", "dns_next_resolver", api.PartOf("resolver", stdAddress, recordAddress)),
	recordCase(tondns.Storage, "RecordStorage", "dns_storage_address", api.Text("bag_id", recordHash)),
)

var dnsResolve = &Method{
	Name: "dnsResolve", Tag: tagUtils, Summary: "Resolve a name",
	Description: "What a resolver (TEP-81) says of a name; resolvers that it hands over to are asked too, up to ttl of them.",
	Params: []Param{
		addressParam("the resolver"),
		{Name: "name", Kind: TextKind, Description: "the name, its labels parted by dots; empty is the resolver's own"},
		{Name: "category", Kind: TextKind, Description: "not looked at"},
		{Name: "ttl", Kind: Int32Kind, Min: bound(0), Description: "how many resolvers are asked after the first"},
		seqnoParam,
	},
	Cache: time.Second, Parallel: 16, MaxBytes: maxContractBytes,
	Errors: ofNode(node.ErrNameRecords, node.TooLarge(maxContractBytes)),
	Result: of(api.Typed("ResolvedNames", "dns.resolved",
		api.List("entries", api.Typed("NameEntry", "dns.entry",
			text("name", func(e *node.NameEntry) string { return e.Name }),
			api.Hash("category", func(e *node.NameEntry) []byte { return e.Category[:] }),
			api.PartOf("entry", nameValue, func(e *node.NameEntry) *node.Record { return &e.Record }),
		), api.Same[[]node.NameEntry], func(e node.NameEntry) *node.NameEntry { return &e }),
	), func(c *call) ([]node.NameEntry, error) {
		s, err := c.account()
		if err != nil {
			return nil, err
		}
		name, err := tondns.Encode(c.text("name"))
		if err != nil {
			return nil, unprocessable("%s", err)
		}
		return c.Resolve(c, s, name, int(c.number("ttl")))
	}),
}
