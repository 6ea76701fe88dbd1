package params

import (
	"slices"
	"strings"
	"testing"

	"tonscribe/test/support/costtest"
)

// everyKind are parameters of all kinds.
var everyKind = slices.Concat([]Param{
	{Name: "account", Kind: AddressKind, Multi: true}, {Name: "destination", Kind: AddressOrNullKind}, {Name: "hash", Kind: HashKind, Multi: true},
	{Name: "one", Kind: HashKind}, {Name: "shard", Kind: ShardKind}, {Name: "opcode", Kind: OpcodeKind}, {Name: "seqno", Kind: SeqnoKind},
	{Name: "workchain", Kind: Int32Kind}, {Name: "flag", Kind: BoolKind}, {Name: "symbol", Kind: TextKind, Multi: true}, {Name: "word", Kind: TextKind},
}, UtimeRange("now"), LTRange("lt"), PageParams("desc", "lt"))

func FuzzParse(f *testing.F) {
	address := "0:" + strings.Repeat("a1", 32)
	for _, query := range []string{
		"account=" + address + "&account[]=" + address + "," + address + "&limit=5&offset=3&sort=asc&cursor=AQ", "destination=null&hash=" + strings.Repeat("A", 43) + "%3D",
		"shard=8000000000000000&opcode=0x0f8a7ea5&seqno=x&workchain=-1&flag=on&symbol=a,b&symbol=&word=%00", "start_utime=1.5e300&end_utime=NaN&start_lt=-1&end_lt=18446744073709551616",
		"%zz&&=&a=b&api_key=1&x_timeout=%", strings.Repeat("account=&", 50) + strings.Repeat("hash="+strings.Repeat("0", 64)+"&", 20),
	} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		costtest.Check(t, func() {
			v, err := Parse(everyKind, query)
			if err != nil {
				return
			}
			v.Fingerprint()
			if page, err := v.Page(Descending); err == nil && (page.Limit < 1 || page.Limit > MaxLimit || page.Offset < 0) {
				t.Errorf("%q is page %+v", query, page)
			}
		})
	})
}
