package query

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tonscribe/ton/address"
)

func TestParameterRulesOfAccountsAndTokens(t *testing.T) {
	t.Parallel()
	w, all := rulesTown(t)
	for name, check := range map[string]func(*testing.T, *town, []endpointRules){
		"values that do not convert are refused":       wrongValuesAreRefused,
		"empty values are as the contract has them":    emptyValues,
		"limit, offset and sort":                       limitOffsetAndSort,
		"lists in every form are one":                  listsInEveryForm,
		"addresses in every form are one":              addressesInEveryForm,
		"unknown addresses have nothing":               unknownAddresses,
		"rules of single endpoints":                    rulesOfEndpoints,
		"tokens are told of wherever they are named":   tokensAreToldOf,
		"every address is in the address book":         addressesAreInTheBook,
		"legacy information about accounts":            legacyInformation,
		"ready figures":                                rulesOfFigures,
		"transfers have their traces":                  transfersHaveTheirTraces,
		"unknown names are passed over with a warning": unknownNames,
	} {
		t.Run(name, func(t *testing.T) {
			part, s := *w, *w.server
			s.TB = t
			part.server = &s
			check(t, &part, all)
		})
	}
}

func wrongValuesAreRefused(t *testing.T, w *town, all []endpointRules) {
	bad := map[string][]string{
		"addr":   {"nobody", "0:12", "", "addr_none", "null", "0:" + zeros + "0", "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9d", "0:" + zeros + ",0:" + zeros},
		"addr*":  {"nobody", "0:12", "addr_none", "null", "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9d", "0:" + zeros + ",nobody"},
		"hash*":  {"zz", strings.Repeat("A", 43), zeros[1:], "0x" + zeros[1:], strings.Repeat("A", 43) + " ="},
		"bool":   {"yes", "2", "tRuE", " true"},
		"utime":  {"-1", "abc", "", "1,2", "0x10"},
		"uint64": {"-1", "1.5", "1e3", "18446744073709551616", "+1", "0x1", "a"},
		"int32":  {"2147483648", "1.5", "abc", "-2147483649", "1e2"},
	}
	for _, e := range all {
		e.each("addr addr* hash* bool utime uint64 int32", func(name, kind string) {
			text := fmt.Sprintf(wrongValue, name)
			if strings.HasSuffix(kind, "*") {
				text = fmt.Sprintf(wrongElement, 0, name)
				w.refuses(fmt.Sprintf("%s?%s=&%s[]=x", e.path, name, name), 422, fmt.Sprintf(wrongElement, 1, name))
				w.refuses(fmt.Sprintf("%s?%s=x&%s=y", e.path, name, name), 422, text+" (and 1 other error)")
			}
			for _, value := range bad[kind] {
				w.refuses(fmt.Sprintf("%s?%s=%s", e.path, name, url.QueryEscape(value)), 422, text)
			}
		})
		if strings.Contains(e.params, "start_utime") {
			w.refuses(e.path+"?limit=c&end_lt=a&end_utime=b", 422, fmt.Sprintf(wrongValue, "end_utime"))
			w.refuses(e.path+"?limit=c&end_lt=a&start_lt=b", 422, fmt.Sprintf(wrongValue, "start_lt")+" (and 1 other error)")
			w.refuses(e.path+"?limit=c&end_utime=1&owner_address=b", 422, fmt.Sprintf(wrongElement, 0, "owner_address"))
		}
	}
}

func emptyValues(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		want := w.body(e.path + "?" + e.base)
		e.each("bool", func(name, _ string) {
			w.same(e.path+" "+name, w.body(e.path+"?"+e.base+"&"+name+"="), w.body(e.path+"?"+e.base+"&"+name+"=false"))
		})
		e.each("int32", func(name, _ string) {
			if name == "limit" {
				if n := len(w.rowsOf(&e, e.base+"&limit=")); n != 1 {
					t.Errorf("%s: limit= gives %d rows instead of 1", e.path, n)
				}
				return
			}
			w.same(e.path+" "+name, w.body(e.path+"?"+e.base+"&"+name+"="), want)
		})
		for _, name := range e.lists {
			w.same(e.path+" an empty element more", w.body(e.path+"?"+e.base+"&"+name+"="), want)
		}
	}
}

func limitOffsetAndSort(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		e.each("int32", func(name, _ string) {
			if name != "limit" {
				w.same(e.path+" a negative offset", w.body(e.path+"?"+e.base+"&offset=-7"), w.body(e.path+"?"+e.base))
				if n := len(w.rowsOf(&e, e.base+"&offset=100000")); n != 0 {
					t.Errorf("%s: %d rows behind the end", e.path, n)
				}
				return
			}
			w.refuses(e.path+"?"+e.base+"&limit=1001", 422, "limit is not allowed: 1001 > 1000")
			w.refuses(e.path+"?"+e.base+"&limit=2147483647", 422, "limit is not allowed: 2147483647 > 1000")
			for _, limit := range []string{"0", "-5", "1"} {
				if n := len(w.rowsOf(&e, e.base+"&limit="+limit)); n != 1 {
					t.Errorf("%s: limit=%s gives %d rows instead of 1", e.path, limit, n)
				}
			}
			w.same(e.path+" the last limit counts", w.body(e.path+"?"+e.base+"&limit=3&limit=1"), w.body(e.path+"?"+e.base+"&limit=1"))
			if len(w.rowsOf(&e, e.base+"&limit=1000")) == 0 {
				t.Errorf("%s: limit=1000 finds nothing", e.path)
			}
		})
		if !strings.Contains(e.params, "sort sort") {
			w.same(e.path+" sort is ignored", w.body(e.path+"?"+e.base+"&sort=sideways"), w.body(e.path+"?"+e.base))
			continue
		}
		for _, wrong := range []string{"sideways", "", "ascending", "asc,desc"} {
			w.refuses(e.path+"?"+e.base+"&sort="+wrong, 422, "wrong value for sort parameter")
		}
		up, down := w.body(e.path+"?"+e.base+"&sort=asc"), w.body(e.path+"?"+e.base+"&sort=desc")
		for _, form := range []string{"a", "A", "ASC", "Asc"} {
			w.same(e.path+" sort="+form, w.body(e.path+"?"+e.base+"&sort="+form), up)
		}
		for _, form := range []string{"d", "D", "DESC"} {
			w.same(e.path+" sort="+form, w.body(e.path+"?"+e.base+"&sort="+form), down)
		}
		if e.path != "/jetton/wallets" { // which is not sorted without
			w.same(e.path+" without sort", w.body(e.path+"?"+e.base), down)
		}
	}
}

func listsInEveryForm(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		for _, name := range e.lists {
			a, b := url.QueryEscape(rawOf(e.a)), url.QueryEscape(rawOf(e.b))
			want := w.rowsOf(&e, name+"="+a+"&"+name+"="+b)
			one := w.rowsOf(&e, name+"="+a)
			if len(one) == 0 || len(want) <= len(one) && len(want) < 10 {
				t.Errorf("%s: %s finds %d rows for one and %d for two", e.path, name, len(one), len(want))
			}
			for what, query := range map[string]string{
				"joined by a comma":       name + "=" + a + "," + b,
				"with brackets":           name + "[]=" + a + "&" + name + "[]=" + b,
				"in both ways":            name + "=" + a + "&" + name + "[]=" + b,
				"in another order, twice": name + "=" + b + "&" + name + "=" + a + "&" + name + "=" + a,
			} {
				w.same(e.path+" "+name+" "+what, strings.Join(w.rowsOf(&e, query), "\n"), strings.Join(want, "\n"))
			}
			w.same(e.path+" "+name+" by index is ignored", strings.Join(w.rowsOf(&e, name+"="+a+"&"+name+"[0]="+b), "\n"), strings.Join(one, "\n"))
		}
	}
}

func addressesInEveryForm(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		account, name := e.a, "wallet"
		if len(e.lists) > 0 {
			name = e.lists[0]
		} else if account = addressOf(17); e.list == "" {
			continue
		}
		want := w.body(e.path + "?" + name + "=" + rawOf(account))
		written := func(f address.Form, alphabet *base64.Encoding) string {
			return string(address.AppendFriendly(nil, account, f, alphabet))
		}
		for _, form := range []string{
			strings.ToLower(rawOf(account)),
			written(address.Form{}, base64.URLEncoding), written(address.Form{NonBounceable: true}, base64.URLEncoding),
			written(address.Form{TestOnly: true}, base64.URLEncoding), written(address.Form{NonBounceable: true, TestOnly: true}, base64.URLEncoding),
			written(address.Form{}, base64.StdEncoding),
		} {
			w.same(e.path+" "+form, w.body(e.path+"?"+name+"="+url.QueryEscape(form)), want)
		}
	}
}

func unknownAddresses(t *testing.T, w *town, all []endpointRules) {
	nobody := rawOf(addressOf(99))
	for _, e := range all {
		e.each("addr addr*", func(name, _ string) {
			if n := len(w.rowsOf(&e, name+"="+nobody)); n != 0 {
				t.Errorf("%s?%s: %d rows of an address that nobody has", e.path, name, n)
			}
		})
	}
	w.same("metadata", w.body("/metadata?address="+nobody), "{}")
	w.same("metadata of no address", w.body("/metadata?address=junk"), "{}")
	if n := len(w.rowsOf(&endpointRules{path: "/dns/records", list: "records"}, "domain=nobody.ton")); n != 0 {
		t.Errorf("%d records of a domain that nobody has", n)
	}
}

// tokensAreToldOf asks for a jetton wallet where answers have metadata: it is that
// of the addresses in the address book.
func tokensAreToldOf(t *testing.T, w *town, _ []endpointRules) {
	wallet := rawOf(w.oneTransfer().SourceWallet)
	for _, path := range []string{
		"/accountStates?address=", "/walletStates?address=", "/messages?destination=", "/messages?source=",
		"/jetton/wallets?address=", "/jetton/transfers?jetton_wallet=",
	} {
		path += wallet + "&limit=1"
		book, metadata := w.bookAndMetadata(path)
		for _, kind := range []string{wallet, "jetton_wallets", "jetton_masters"} {
			if !strings.Contains(metadata, `"`+kind+`"`) {
				t.Errorf("%s: no %s in metadata %s", path, kind, metadata)
			}
		}
		w.same(path, metadata, w.body("/metadata?address="+strings.Join(book, ",")))
		if _, metadata = w.bookAndMetadata(path + "&x_no_metadata=true"); metadata != "{}" {
			t.Errorf("%s: metadata %s although there should be none", path, metadata)
		}
	}
}

var rawAddresses = regexp.MustCompile(`"(-?[0-9]+:[0-9A-F]{64}|addr_none)"`)

func addressesAreInTheBook(t *testing.T, w *town, all []endpointRules) {
	paths := []string{"/messages?limit=20", "/transactions?limit=20"}
	for _, e := range all {
		if e.path != "/topAccountsByBalance" {
			paths = append(paths, e.path+"?"+e.base)
		}
	}
	for _, path := range paths {
		book, _ := w.bookAndMetadata(path)
		list, _, _ := strings.Cut(w.body(path), `"address_book":`)
		found := rawAddresses.FindAllStringSubmatch(list, -1)
		for _, address := range found {
			if !slices.Contains(book, address[1]) {
				t.Errorf("%s: %s has no row in the address book", path, address[1])
			}
		}
		if len(found) == 0 {
			t.Errorf("%s: no address", path)
		}
	}
}

// bookAndMetadata are the addresses in the address book of an answer, and its
// metadata.
func (w *town) bookAndMetadata(path string) (book []string, metadata string) {
	w.Helper()
	var answer struct {
		Book     map[string]any  `json:"address_book"`
		Metadata json.RawMessage `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(w.body(path)), &answer); err != nil {
		w.Fatal(path, err)
	}
	return slices.Sorted(maps.Keys(answer.Book)), string(answer.Metadata)
}

func unknownNames(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		got := w.ask("/api/v3" + e.path + "?" + e.base + "&_=123&nothing=1")
		if want := `299 - "unknown parameters were ignored: _, nothing"`; got.Code != http.StatusOK || got.Header().Get("Warning") != want {
			t.Errorf("%s: %d, Warning %q instead of %q", e.path, got.Code, got.Header().Get("Warning"), want)
		}
	}
}

// transfersHaveTheirTraces compares the trace of a transfer with that of its transaction.
func transfersHaveTheirTraces(t *testing.T, w *town, _ []endpointRules) {
	for path, name := range map[string]string{"/jetton/transfers": "jetton_transfers", "/jetton/burns": "jetton_burns", "/nft/transfers": "nft_transfers"} {
		id := func(r map[string]any) string { return fmt.Sprint(r["transaction_hash"], " ", r["trace_id"]) }
		pairs, _ := w.page(path+"?limit=20", name, id)
		if len(pairs) == 0 {
			t.Errorf("%s has no rows", path)
		}
		for _, pair := range pairs {
			hash, trace, _ := strings.Cut(pair, " ")
			want, _ := w.page("/transactions?hash="+url.QueryEscape(hash), "transactions", func(r map[string]any) string { return fmt.Sprint(r["trace_id"]) })
			if len(want) != 1 || want[0] != trace {
				t.Errorf("%s: the transfer of transaction %s is of trace %s, the transaction of %v", path, hash, trace, want)
			}
		}
	}
}
