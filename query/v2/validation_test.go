package v2

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/query/node"
)

const (
	rawZero  = "0:0000000000000000000000000000000000000000000000000000000000000000"
	someHash = "08f504e165de1094fe0f0cf57d8feb92b796bd89ec3addc8e388b51b9a2324f3"
)

// refusal is a request that its parameters forbid; no server is asked.
type refusalCase struct {
	method     string
	parameters map[string]string
	text       string
}

// The error table of the API's specification, row by row.
func TestSpecifiedErrorsOfGetTransactionsStd(t *testing.T) {
	of := func(more ...string) map[string]string {
		p := map[string]string{"address": someAddress}
		for i := 0; i < len(more); i += 2 {
			p[more[i]] = more[i+1]
		}
		return p
	}
	checkRefusals(t, []refusalCase{
		{"getTransactionsStd", of("address", "zz"), "failed to parse address"},
		{"getTransactionsStd", of("lt", "1", "hash", "zz"), "failed to parse hash"},
		{"getTransactionsStd", of("lt", "x", "hash", someHash), "failed to parse lt"},
		{"getTransactionsStd", of("lt", "9223372036854775808", "hash", someHash), "failed to parse lt"},
		{"getTransactionsStd", of("lt", "-1", "hash", someHash), "lt should be non-negative"},
		{"getTransactionsStd", of("lt", "1"), "lt and hash should be used together"},
		{"getTransactionsStd", of("lt", "0"), "lt and hash should be used together"},
		{"getTransactionsStd", of("hash", someHash), "lt and hash should be used together"},
		{"getTransactionsStd", of("limit", "0"), "limit should be positive"},
		{"getTransactionsStd", of("limit", "-5"), "limit should be positive"},
		{"getTransactionsStd", of("limit", "1001"), "limit should be less or equal 1000"},
		{"getTransactionsStd", of("limit", "x"), "failed to parse limit"},
		{"getTransactionsStd", of("to_lt", "x"), "failed to parse to_lt"},
		{"getTransactionsStd", of("archival", "maybe"), "failed to parse archival"},
		{"getTransactions", of("address", "zz"), "failed to parse address"},
		{"getTransactions", of("lt", "1"), "lt and hash should be used together"},
		{"getTransactions", of("limit", "1001"), "limit should be less or equal 1000"},
	})
}

func checkRefusals(t *testing.T, cases []refusalCase) {
	t.Helper()
	s := newService(t, nil)
	for _, c := range cases {
		for _, form := range forms {
			if form == "GET" && byName[c.method].PostOnly {
				continue
			}
			what, _ := json.Marshal(c.parameters)
			s.ask(form, c.method, c.parameters).refusal(t, form+" "+c.method+" "+string(what), 422, c.text)
		}
	}
}

func TestParametersOutsideTheirBoundsAreRefused(t *testing.T) {
	var cases []refusalCase
	for _, method := range []string{
		"getAddressInformation", "getExtendedAddressInformation", "getWalletInformation", "getAddressBalance", "getAddressState",
		"getTokenData", "getShardAccountCell", "dnsResolve",
	} {
		cases = append(cases,
			refusalCase{method, nil, "empty address"},
			refusalCase{method, map[string]string{"address": ""}, "empty address"},
			refusalCase{method, map[string]string{"address": "invalid"}, "failed to parse address"},
			refusalCase{method, map[string]string{"address": someAddress, "seqno": "invalid"}, "failed to parse seqno"},
			refusalCase{method, map[string]string{"address": someAddress, "seqno": "2147483648"}, "failed to parse seqno"},
		)
		if method != "getExtendedAddressInformation" { // has no such rule
			cases = append(cases, refusalCase{method, map[string]string{"address": someAddress, "seqno": "0"}, "seqno should be positive"})
		}
	}
	block := func(name, value string) map[string]string {
		p := map[string]string{"workchain": "-1", "shard": "-9223372036854775808", "seqno": "5"}
		p[name] = value
		if value == "" {
			delete(p, name)
		}
		return p
	}
	missing := func(method, name string) string {
		if method == "getShardBlockProof" {
			return name + " required"
		}
		return "failed to parse " + name
	}
	for _, method := range []string{"getShardBlockProof", "getBlockHeader", "getBlockTransactions", "getBlockTransactionsExt"} {
		cases = append(cases,
			refusalCase{method, block("workchain", "invalid"), "failed to parse workchain"},
			refusalCase{method, block("workchain", ""), missing(method, "workchain")},
			refusalCase{method, block("shard", "invalid"), "failed to parse shard"},
			refusalCase{method, block("shard", ""), missing(method, "shard")},
			refusalCase{method, block("seqno", ""), missing(method, "seqno")},
			refusalCase{method, block("seqno", "invalid"), "failed to parse seqno"},
			refusalCase{method, block("seqno", "-1"), "seqno should be positive"},
		)
	}
	for _, method := range []string{"getBlockTransactions", "getBlockTransactionsExt"} {
		cases = append(cases,
			refusalCase{method, block("root_hash", "x"), "failed to parse root_hash"},
			refusalCase{method, block("file_hash", "x"), "failed to parse file_hash"},
			refusalCase{method, block("after_lt", "x"), "failed to parse after_lt"},
			refusalCase{method, block("after_lt", "-1"), "after_lt should be non-negative"},
			refusalCase{method, block("after_hash", "x"), "failed to parse after_hash"},
			refusalCase{method, block("after_lt", "5"), "after_lt and after_hash should be used together"},
			refusalCase{method, block("after_hash", someAddress), "after_lt and after_hash should be used together"},
			refusalCase{method, block("count", "x"), "failed to parse count"},
			refusalCase{method, block("count", "0"), "count should be positive"},
			refusalCase{method, block("count", "10001"), "count should be less or equal 10000"},
		)
	}
	cases = append(cases,
		refusalCase{"getShardBlockProof", block("from_seqno", "x"), "failed to parse from_seqno"},
		refusalCase{"getShardBlockProof", block("from_seqno", "-1"), "from_seqno should be non-negative"},
		refusalCase{"getMasterchainBlockSignatures", map[string]string{"seqno": "invalid"}, "failed to parse seqno"},
		refusalCase{"getMasterchainBlockSignatures", nil, "failed to parse seqno"},
		refusalCase{"getShards", nil, "failed to parse seqno"},
		refusalCase{"lookupBlock", map[string]string{"shard": "1", "seqno": "5"}, "failed to parse workchain"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "seqno": "5"}, "failed to parse shard"},
		refusalCase{"getShards", map[string]string{"seqno": "0"}, "seqno should be positive"},
		refusalCase{"shards", map[string]string{"seqno": "x"}, "failed to parse seqno"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "shard": "1"}, "exactly one of seqno, lt, unixtime should be specified"},
		refusalCase{"lookupBlock", block("lt", "5"), "exactly one of seqno, lt, unixtime should be specified"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "shard": "1", "lt": "-1"}, "lt should be non-negative"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "shard": "1", "lt": "x"}, "failed to parse lt"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "shard": "1", "unixtime": "-1"}, "unixtime should be non-negative"},
		refusalCase{"lookupBlock", map[string]string{"workchain": "0", "shard": "1", "unixtime": "x"}, "failed to parse unixtime"},
		refusalCase{"tryLocateTx", map[string]string{"destination": someAddress, "created_lt": "1"}, "empty source address"},
		refusalCase{"tryLocateResultTx", map[string]string{"source": someAddress, "created_lt": "1"}, "empty destination address"},
		refusalCase{"tryLocateSourceTx", map[string]string{"source": "x", "destination": someAddress, "created_lt": "1"}, "failed to parse address"},
		refusalCase{"tryLocateTx", map[string]string{"source": someAddress, "destination": someAddress}, "failed to parse created_lt"},
		refusalCase{"tryLocateTx", map[string]string{"source": someAddress, "destination": someAddress, "created_lt": "x"}, "failed to parse created_lt"},
		refusalCase{"tryLocateTx", map[string]string{"source": someAddress, "destination": someAddress, "created_lt": "-1"}, "created_lt should be non-negative"},
		refusalCase{"getConfigParam", nil, "only one of config_id or param should be specified"},
		refusalCase{"getConfigParam", map[string]string{"param": "-1"}, "param should be non-negative"},
		refusalCase{"getConfigParam", map[string]string{"config_id": "-1"}, "param should be non-negative"},
		refusalCase{"getConfigParam", map[string]string{"config_id": "x"}, "failed to parse config_id"},
		refusalCase{"getConfigParam", map[string]string{"param": "x"}, "failed to parse param"},
		refusalCase{"getConfigAll", map[string]string{"seqno": "0"}, "seqno should be positive"},
		refusalCase{"getLibraries", map[string]string{"libraries": "x"}, "failed to parse libraries"},
		refusalCase{"dnsResolve", map[string]string{"address": someAddress, "ttl": "x"}, "failed to parse ttl"},
		refusalCase{"dnsResolve", map[string]string{"address": someAddress, "ttl": "-1"}, "ttl should be non-negative"},
		refusalCase{"sendBoc", nil, "empty boc"},
		refusalCase{"sendBoc", map[string]string{"boc": ""}, "empty boc"},
		refusalCase{"sendBocReturnHash", map[string]string{"boc": "*"}, "invalid base64 encoded bytes: illegal base64 data at input byte 0"},
		refusalCase{"estimateFee", map[string]string{"address": "x", "body": "te6cckEBAQEAAgAAAEysuc0="}, "failed to parse address"},
		refusalCase{"runGetMethod", map[string]string{"address": "x"}, "failed to parse address"},
		refusalCase{"runGetMethod", map[string]string{"address": someAddress}, "method required"},
		refusalCase{"runGetMethodStd", map[string]string{"address": someAddress, "method": "seqno"}, "stack required"},
	)
	checkRefusals(t, cases)
}

func TestNumbersAreReadFromTextAndFromJSON(t *testing.T) {
	s := newService(t, nil)
	for _, body := range []string{
		`{"workchain":-1,"shard":-9223372036854775808,"seqno":5,"count":7,"root_hash":null}`,
		`{"workchain":"-1","shard":"-9223372036854775808","seqno":"5","count":"7"}`,
		`{"workchain":-1,"shard":"9223372036854775808","seqno":5,"count":7}`,
		`{"workchain":-1,"shard":"0x8000000000000000","seqno":5,"count":7}`,
	} {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			t.Fatal(err)
		}
		v, err := fromObject(getBlockTransactions, object)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		for name, want := range map[string]int64{"workchain": -1, "shard": -9223372036854775808, "seqno": 5, "count": 7} {
			if got := v.number(name); got != want {
				t.Errorf("%s: %s is %d, want %d", body, name, got, want)
			}
		}
	}
	for _, body := range []string{`{"seqno":5.0}`, `{"seqno":1e2}`, `{"seqno":true}`, `{"seqno":[5]}`, `{"seqno":" 5"}`} {
		s.send("POST", Prefix+"/getShards", body).refusal(t, body, 422, "failed to parse seqno")
	}
	words := map[string]bool{"true": true, `"Yes"`: true, "5": true, `"1"`: true, "false": false, `"off"`: false, "0": false}
	for text, want := range words {
		object := map[string]json.RawMessage{"address": json.RawMessage(`"` + someAddress + `"`), "archival": json.RawMessage(text)}
		if v, err := fromObject(getTransactions, object); err != nil || v.flag("archival") != want {
			t.Errorf("archival %s: %v, want %v", text, err, want)
		}
	}
}

func TestEmptyOptionalHashesCountAsAbsent(t *testing.T) {
	v, err := fromQuery(getTransactions, "address="+rawZero+"&hash=&unknown=1&api_key=x")
	if err != nil || v.sent("hash") {
		t.Errorf("empty hash: sent %v, error %v", v.sent("hash"), err)
	}
	if got := v.number("limit"); got != 10 {
		t.Errorf("limit is %d, want its default 10", got)
	}
}

func TestCacheKeysFollowWhatWasReadNotHowItWasWritten(t *testing.T) {
	key := func(m *Method, query string) string {
		v, err := fromQuery(m, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return v.key(m)
	}
	const raw = "0:83dfd552e63729b472fcbcc8c45ebcc6691702558b68ec7527e1ba403a0f31a8"
	if a, b := key(getAddressState, "address="+raw), key(getAddressState, "x=1&address="+strings.ToUpper(raw)); a != b {
		t.Errorf("two writings of an address have keys %q and %q", a, b)
	}
	if a, b := key(getTokenData, "address="+raw), key(getTokenData, "address="+someAddress); a == b {
		t.Errorf("answers repeat the form of an address, yet both forms have the key %q", a)
	}
	if a, b := key(getAddressState, "address="+raw), key(getAddressBalance, "address="+raw); a == b {
		t.Errorf("two methods have the key %q", a)
	}
	if a, b := key(getAddressState, "address="+raw), key(getAddressState, "address="+raw+"&seqno=1"); a == b {
		t.Errorf("two blocks have the key %q", a)
	}
}

func TestMethodsThatNeedALiteServerSaySoWithoutOne(t *testing.T) {
	s := newService(t, nil)
	for _, form := range forms {
		s.ask(form, "getMasterchainInfo", nil).refusal(t, form, 542, "no workers available (no lite server is configured)")
		s.ask(form, "getConsensusBlock", nil).refusal(t, form, 500, "no workers alive")
	}
}

// unreachable are lite servers none of which can be reached.
type unreachable struct{ node.Servers }

func (unreachable) Head(ctx context.Context) (*ton.BlockIDExt, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("%w: %w", lite.ErrUnavailable, ctx.Err())
}

func TestServersThatCannotBeReachedAreATimeoutButForTheConsensusBlock(t *testing.T) {
	s := newService(t, unreachable{}, func(c *Configuration) { c.Deadline = 10 * time.Millisecond })
	for _, form := range forms {
		s.ask(form, "getMasterchainInfo", nil).refusal(t, form, 504, "LITE_SERVER_NETWORK timeout")
		s.ask(form, "getConsensusBlock", nil).refusal(t, form, 500, "no workers alive")
	}
}

// lost are lite servers that could be reached once.
type lost struct{ node.Servers }

func (lost) Head(context.Context) (*ton.BlockIDExt, error) { return &ton.BlockIDExt{SeqNo: 7}, nil }
func (lost) Reached() bool                                 { return false }

func TestWhatServersSaidBeforeTheyWereLostIsNoConsensusBlock(t *testing.T) {
	s := newService(t, lost{})
	for _, form := range forms {
		s.ask(form, "getConsensusBlock", nil).refusal(t, form, 500, "no workers alive")
	}
}

func TestOfABadMethodAndABadStackTheMethodIsNamed(t *testing.T) {
	s := newService(t, lost{})
	for _, name := range []string{"runGetMethod", "runGetMethodStd"} {
		r := s.send("POST", Prefix+"/"+name, `{"address":"`+someAddress+`","method":[],"stack":{}}`)
		r.refusal(t, name, 422, "failed to parse method")
	}
}

func TestPostOnlyMethodsRefuseGET(t *testing.T) {
	s := newService(t, nil)
	for _, m := range methods {
		if m.PostOnly {
			s.ask("GET", m.Name, nil).refusal(t, m.Name, 405, "method GET is not supported")
		}
	}
}

func TestOfTwoNamesOfAConfigParameterAGETTakesConfigID(t *testing.T) {
	s := newService(t, nil)
	both := map[string]string{"config_id": "15", "param": "16"}
	for _, form := range []string{"POST", "JSON-RPC"} {
		s.ask(form, "getConfigParam", both).refusal(t, form, 422, "only one of config_id or param should be specified")
		s.ask(form, "getConfigParam", map[string]string{"config_id": "-1", "param": "16"}).refusal(t, form, 422, "only one of config_id or param should be specified")
		s.ask(form, "getConfigParam", map[string]string{"seqno": "0"}).refusal(t, form, 422, "only one of config_id or param should be specified")
	}
	s.ask("GET", "getConfigParam", both).refusal(t, "GET", 542, "no workers available (no lite server is configured)")
}

func TestProofsFromTheNewestBlockAreKeptBriefly(t *testing.T) {
	const block = "workchain=-1&shard=-9223372036854775808&seqno=5"
	for query, want := range map[string]time.Duration{block: time.Second, block + "&from_seqno=9": 5 * time.Minute} {
		v, err := fromQuery(getShardBlockProof, query)
		if err != nil {
			t.Fatal(err)
		}
		if got := getShardBlockProof.keep(v); got != want {
			t.Errorf("%s is kept for %s, want %s", query, got, want)
		}
	}
}
