package answers

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/openapitest"
)

// values are what a chain knows, by the names that answers have for it: the
// address of an element of "nft_items" is both "address" and "nft_items.address".
type values map[string]map[string]int // name → value → how often it was seen

// walk adds what is in an answer.
func (v values) walk(parent, name string, node any) {
	switch node := node.(type) {
	case map[string]any:
		for member, child := range node {
			v.walk(name, member, child)
		}
	case []any:
		for _, child := range node {
			v.walk(parent, name, child)
		}
	case string, json.Number:
		if text := fmt.Sprint(node); text != "" {
			v.add(name, text)
			v.add(parent+"."+name, text)
		}
	}
}

func (v values) add(name, value string) {
	if v[name] == nil {
		v[name] = map[string]int{}
	}
	v[name][value]++
}

// some are the value that is seen most, one in the middle and one that is rare,
// of each of the names.
func (v values) some(names ...string) (list []string) {
	for _, name := range names {
		seen := slices.SortedFunc(maps.Keys(v[name]), func(a, b string) int {
			if n := v[name][b] - v[name][a]; n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		if len(seen) > 0 {
			list = append(list, seen[0], seen[len(seen)/2], seen[len(seen)-1])
		}
	}
	return unique(list)
}

func unique(list []string) (rest []string) {
	for _, text := range list {
		if !slices.Contains(rest, text) {
			rest = append(rest, text)
		}
	}
	return rest
}

// known are the names in values of what a parameter asks for.
var known = map[string][]string{
	"account": {"transactions.account"}, "exclude_account": {"transactions.account"}, "after_hash": {"transactions.account"},
	"address": {
		"transactions.account", "jetton_masters.address", "jetton_wallets.address", "nft_collections.address", "nft_items.address",
		"multisigs.address", "orders.address", "vesting_contracts.address", "user_friendly",
	},
	"admin_address": {"admin_address"}, "owner_address": {"jetton_wallets.owner", "nft_items.owner_address"},
	"jetton_address": {"jetton_masters.address"}, "jetton_master": {"jetton_masters.address"}, "jetton_wallet": {"jetton_wallets.address"},
	"collection_address": {"nft_collections.address"}, "item_address": {"nft_items.address"}, "multisig_address": {"multisigs.address"},
	"wallet_address": {"signers", "proposers", "vesting_contracts.owner_address", "sender_address"}, "contract_address": {"vesting_contracts.address"},
	"wallet": {"dns_wallet"}, "source": {"messages.source"}, "destination": {"messages.destination"},
	"workchain": {"blocks.workchain"}, "shard": {"blocks.shard"}, "seqno": {"mc_block_seqno", "blocks.seqno"}, "from_seqno": {"mc_block_seqno"}, "mc_seqno": {"mc_block_seqno"},
	"hash": {"transactions.hash", "messages.hash"}, "msg_hash": {"messages.hash", "hash_norm"}, "ext_msg_hash": {"messages.hash", "hash_norm"}, "body_hash": {"message_content.hash"},
	"tx_hash": {"transactions.hash"}, "trace_id": {"trace_id"}, "action_id": {"action_id"}, "action_type": {"actions.type"}, "exclude_action_type": {"actions.type"},
	"root_hash": {"root_hash"}, "file_hash": {"file_hash"}, "code_hash": {"code_hash"}, "libraries": {"code_hash"},
	"opcode": {"opcode"}, "lt": {"transactions.lt"}, "start_lt": {"transactions.lt"}, "end_lt": {"transactions.lt"}, "to_lt": {"transactions.lt"},
	"after_lt": {"transactions.lt"}, "created_lt": {"created_lt"},
	"start_utime": {"transactions.now"}, "end_utime": {"transactions.now"}, "unixtime": {"gen_utime"},
	"index": {"index"}, "domain": {"domain"}, "name": {"domain"},
	"boc": {"message_content.body"}, "body": {"message_content.body"}, "bodies": {"message_content.body"}, "opcodes": {"opcode"}, "init_code": {"code_boc"}, "init_data": {"data_boc"},
}

// fixed are values of parameters that no chain tells.
var fixed = map[string][]string{
	"limit": {"1", "7", "50", "1000", "0", "1001", "-1"}, "offset": {"1", "0", "10", "1000", "100001", "-1"}, "count": {"1", "3", "10000", "0", "10001"},
	"workchain": {"0", "-1", "5"}, "config_id": {"0", "8", "15", "20", "34", "-17", "999"}, "param": {"0", "20", "34", "-1"}, "ttl": {"0", "1", "16", "-1"}, "direction": {"in", "out"},
	"method": {"seqno", "get_jetton_data", "get_wallet_data", "get_nft_data", "get_collection_data", "no_such_method", "85143"},
	"source": {"null"}, "destination": {"null"}, "category": {"wallet"}, "name": {"ton", "", "."}, "days": {"1", "7", "30", "365"}, "cursor": {"AAAA"},
	"@extra": {"mine"}, "action_type": {"ton_transfer", "jetton_transfer,nft_transfer", "a-b"}, "exclude_action_type": {"ton_transfer"}, "supported_action_types": {"v1", "latest", "jetton_swap", "v99"}, "opcode": {"0x0f8a7ea5", "260734629"}, "seqno": {"1"}, "from_seqno": {"1"}, "shard": {"8000000000000000", "-9223372036854775808"},
	"domain": {"nobody-has-this.ton"}, "index": {"0"}, "x_no_address_book": {"true"}, "x_no_metadata": {"true"}, "x_debug_request": {"true"},
}

// notVaried are parameters that would make answers differ by the time they take,
// or get in the way of the key.
var notVaried = []string{"x_timeout", "api_key"}

// bodies are values that only bodies have.
var bodies = map[string][]any{
	"stack": {
		[]any{}, []any{[]any{"num", "0x1"}}, []any{map[string]any{"type": "num", "value": "1"}}, []any{map[string]any{"@type": "tvm.stackEntryNumber", "number": map[string]any{"@type": "tvm.numberDecimal", "number": "5"}}},
		[]any{[]any{"num", "x"}}, []any{7}, "x", nil,
	},
	"method": {85143, "", nil},
	"cell":   {map[string]any{"data": map[string]any{"b64": "AAAA", "len": 24}, "refs": []any{}}, map[string]any{}, "x"},
	"params": {map[string]any{}, []any{}, 7}, "id": {"1", 7, nil, []any{}}, "jsonrpc": {"2.0", nil},
}

const (
	absentAddress = "0:0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F0F"
	manyValues    = 12
)

var (
	addressForm = regexp.MustCompile(`^-?[0-9]+:[0-9A-F]{64}$`)
	hashForm    = regexp.MustCompile(`^[A-Za-z0-9+/]{43}=$`)
	numberForm  = regexp.MustCompile(`^-?[0-9]+$`)
)

// choice is a value of a parameter: texts for a query, or what is in a body.
type choice struct {
	texts []string
	value any // nil for one made of the texts
}

// choices are the values of a parameter: those that much, something and nothing of
// the chain has, those at the ends of what is allowed and wrong ones. The first is
// right where any is.
func (p *plan) choices(o *openapitest.Operation, parameter openapitest.Parameter) (list []choice) {
	special := p.special(o, parameter)
	if isCell(parameter) {
		return special
	}
	there := p.there(o, parameter.Name)
	texts := slices.Concat(there, words(parameter.Schema), fixed[parameter.Name])
	if len(texts) == 0 && known[parameter.Name] == nil && bodies[parameter.Name] == nil {
		p.t.Errorf("%s has the parameter %s, of which no values are known here", o.Path, parameter.Name)
	}
	if len(texts) == 0 {
		list, special = special, nil
	}
	if len(there) > 0 {
		texts = append(texts, otherForms(there[0])...)
	}
	for _, text := range unique(append(texts, "", "x")) {
		list = append(list, choice{texts: []string{text}})
	}
	if len(there) > 1 {
		list = append(list, choice{texts: there[:2]}, choice{texts: there[:min(manyValues, len(there))]})
	}
	return append(list, special...)
}

// there are values of a parameter that the chain has.
func (p *plan) there(o *openapitest.Operation, name string) []string {
	texts := p.values.some(known[name]...)
	switch {
	case name == "address": // those of the operation's own list are the first ones
		return unique(append(p.values.some(listOf(o)+".address"), texts...))
	case name == "boc":
		return append(slices.Sorted(maps.Keys(p.values[externalMessage])), texts...)
	case name == "shard" && isV2(o):
		for i := range texts {
			texts[i] = decimalShard(texts[i])
		}
	}
	return texts
}

// special are values that only bodies have.
func (p *plan) special(o *openapitest.Operation, parameter openapitest.Parameter) (list []choice) {
	if o.Body == nil {
		return nil
	}
	name := parameter.Name
	if isCell(parameter) {
		name = "cell"
	}
	if name == "cell" {
		for _, boc := range p.there(o, "boc") {
			list = append(list, choice{value: spelt(cellOf(boc))})
		}
	}
	for _, value := range bodies[name] {
		list = append(list, choice{value: value})
	}
	if parameter.Example != nil {
		list = append(list, choice{value: parameter.Example})
	}
	return list
}

// isCell reports whether a member of a body is a cell that is spelt out.
func isCell(parameter openapitest.Parameter) bool {
	return bodies[parameter.Name] == nil && strings.Contains(fmt.Sprint(parameter.Schema["type"]), "object") || parameter.Name == "cell"
}

// listOf is the name of the list that an operation answers with, as far as its
// path has it: jetton_masters of /jetton/masters.
func listOf(o *openapitest.Operation) string {
	_, path, _ := strings.Cut(o.Path, "/v3/")
	if name, ok := map[string]string{"multisig/wallets": "multisigs", "multisig/orders": "orders", "vesting": "vesting_contracts"}[path]; ok {
		return name
	}
	return strings.ReplaceAll(path, "/", "_")
}

// otherForms are a value written otherwise, one like it that nobody has, and one
// that is nearly right.
func otherForms(text string) []string {
	switch {
	case addressForm.MatchString(text):
		return []string{absentAddress, strings.ToLower(text), text[:len(text)-1]}
	case hashForm.MatchString(text):
		hash, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		return []string{hex.EncodeToString(hash), base64.URLEncoding.EncodeToString(hash), strings.Repeat("0f", 32), text[:40]}
	case numberForm.MatchString(text):
		return []string{"0", "1", "-1", "2000000000", "4611686018427387904", "99999999999999999999", "1.5"}
	}
	return []string{strings.ToUpper(text)}
}

// words are what a schema names.
func words(schema map[string]any) (list []string) {
	for _, one := range append([]any{schema}, asList(schema["anyOf"])...) {
		one, _ := one.(map[string]any)
		for _, word := range asList(one["enum"]) {
			list = append(list, fmt.Sprint(word))
		}
		if fmt.Sprint(one["type"]) == "boolean" {
			list = append(list, "true", "false")
		}
	}
	if len(list) > 4 { // forms of yes and no, or all methods
		list = list[:4]
	}
	return list
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

func decimalShard(text string) string {
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return text
	}
	return strconv.FormatInt(int64(n), 10)
}

// externalMessage is the name of whole messages, which no answer has.
const externalMessage = "external message"

// addMessages adds external messages to accounts: some that their contracts take
// or refuse, and some to who has no money to take any.
func (v values) addMessages() {
	accounts, messages := v.some("transactions.account", "multisigs.address", "nft_items.address", "account"), v.some("message_content.body")
	for _, account := range accounts {
		to, err := address.ParseRawAddr(account)
		if err != nil {
			continue
		}
		for _, body := range messages {
			message, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: to, Body: cellOf(body)})
			if err != nil {
				continue
			}
			v.add(externalMessage, base64.StdEncoding.EncodeToString(message.ToBOC()))
		}
	}
}

// cellOf reads a bag of cells; what is none is an empty cell.
func cellOf(boc string) *cell.Cell {
	data, err := base64.StdEncoding.DecodeString(boc)
	if err != nil {
		return cell.BeginCell().EndCell()
	}
	c, err := cell.FromBOC(data)
	if err != nil {
		return cell.BeginCell().EndCell()
	}
	return c
}

// spelt is a cell as methods take it that want no bag.
func spelt(c *cell.Cell) map[string]any {
	bits, data, err := c.MustBeginParse().RestBits()
	if err != nil {
		panic(err) // the rest is all of it
	}
	refs := []any{}
	for i := range c.RefsNum() {
		refs = append(refs, spelt(c.MustPeekRef(int(i))))
	}
	return map[string]any{"data": map[string]any{"b64": data, "len": bits}, "refs": refs}
}

// row is what goes together, by parameters.
type row map[string]string

// together are the parameters that the elements of lists tell, by members. Their
// values are asked for at once too.
var together = map[string]map[string]string{
	"transactions": {"account": "account", "address": "account", "lt": "lt", "hash": "hash", "mc_seqno": "mc_block_seqno"},
	"blocks": {
		"workchain": "workchain", "shard": "shard", "seqno": "seqno", "root_hash": "root_hash", "file_hash": "file_hash", "lt": "end_lt", "unixtime": "gen_utime",
	},
	"messages":       {"source": "source", "destination": "destination", "created_lt": "created_lt", "hash": "hash", "msg_hash": "hash", "opcode": "opcode"},
	"jetton_wallets": {"address": "address", "owner_address": "owner", "jetton_address": "jetton"},
	"nft_items":      {"address": "address", "owner_address": "owner_address", "collection_address": "collection_address", "index": "index"},
}

// methods are get-methods that contracts of a list have.
var methods = map[string]string{
	"jetton_masters": "get_jetton_data", "jetton_wallets": "get_wallet_data", "nft_items": "get_nft_data", "nft_collections": "get_collection_data",
	"multisigs": "get_multisig_data", "vesting_contracts": "get_vesting_data", "nft_sales": "get_sale_data", "transactions": "seqno",
}

// rows are those of an answer that has a list.
func rows(answer any, most int) (found []row) {
	object, _ := answer.(map[string]any)
	for _, list := range slices.Sorted(maps.Keys(object)) {
		elements := asList(object[list])
		for i := 0; i < len(elements); i += max(1, len(elements)/most) {
			element, _ := elements[i].(map[string]any)
			r := row{}
			for parameter, member := range together[list] {
				if text := element[member]; text != nil {
					r[parameter] = fmt.Sprint(text)
				}
			}
			if len(r) > 1 {
				found = append(found, r)
			}
			address := element["address"]
			if address == nil {
				address = element["account"]
			}
			if method := methods[list]; method != "" && address != nil {
				found = append(found, row{"address": fmt.Sprint(address), "method": method})
			}
		}
	}
	return found
}

func TestValuesAreThoseOfTheChainAndNearOnes(t *testing.T) {
	v := values{}
	var answer any
	if err := json.Unmarshal([]byte(`{"nft_items":[{"address":"A","owner_address":"O"},{"address":"B","owner_address":"O"},{"address":"C","owner_address":"P"}]}`), &answer); err != nil {
		t.Fatal(err)
	}
	v.walk("", "", answer)
	if got := v.some("nft_items.owner_address", "address", "nobody"); !slices.Equal(got, []string{"O", "P", "A", "B", "C"}) {
		t.Errorf("got %q", got)
	}
	if got := rows(answer, 2); len(got) != 6 || got[0]["owner_address"] != "O" || got[1]["method"] != "get_nft_data" {
		t.Errorf("rows %v", got)
	}
}
