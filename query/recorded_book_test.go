package query

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// bookRow is a row of a recorded address book.
type bookRow struct {
	UserFriendly string   `json:"user_friendly"`
	Domain       *string  `json:"domain"`
	Interfaces   []string `json:"interfaces"`
}

// recordedBook is what public answers say of addresses.
func recordedBook(t *testing.T) map[string]json.RawMessage {
	t.Helper()
	dir := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(dir, "api_v3_traces/walletkit/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recorded answers: %v", len(files), err)
	}
	all := map[string]json.RawMessage{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Book map[string]json.RawMessage `json:"address_book"`
		}
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		maps.Copy(all, answer.Book)
	}
	return all
}

// codesOfRecordings are the hashes of the codes that the recorded interfaces are
// known by.
var codesOfRecordings = map[string]string{
	"wallet_v3r2":            "hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=",
	"wallet_v4r2":            "/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=",
	"wallet_v5r1":            "IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=",
	"jetton_wallet_governed": "iUaPAseOVwgC45l5yFFvw43wfqdqSDV+BTbyuns+43s=",
}

func TestAddressBookRowsEqualTheRecordedOnes(t *testing.T) {
	t.Parallel()
	book := recordedBook(t)
	var names []*record.Contract
	for i, raw := range slices.Sorted(maps.Keys(book)) {
		var row bookRow
		if err := json.Unmarshal(book[raw], &row); err != nil {
			t.Fatal(err)
		}
		if a, _, err := address.Parse(raw); err == nil && row.Domain != nil {
			names = append(names, &record.Contract{Account: addressOf(byte(150 + i)), CodeHash: hashOf(1), DataHash: hashOf(2),
				NftItem: &record.NFTItem{Init: true, Owner: a[:], Dns: &record.DNSName{Domain: *row.Domain, Wallet: a[:]}}})
		}
	}
	if len(names) == 0 {
		t.Fatal("no recorded row has a domain")
	}
	w := newTown(t, names...)
	for i, raw := range slices.Sorted(maps.Keys(book)) {
		w.bookAccount(t, byte(i), raw, book[raw])
	}
	for raw, want := range book {
		var rows map[string]any
		if err := json.Unmarshal(w.ask("/api/v3/addressBook?address="+url.QueryEscape(raw)).Body.Bytes(), &rows); err != nil {
			t.Fatal(err)
		}
		var recorded any
		if err := json.Unmarshal(want, &recorded); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(rows[raw], recorded) {
			t.Errorf("%s: %v, the recorded answer has %v", raw, rows[raw], recorded)
		}
	}
}

// bookAccount gives an address an account with a code of the recorded interfaces.
func (w *town) bookAccount(t *testing.T, n byte, raw string, recorded json.RawMessage) {
	t.Helper()
	var row bookRow
	if err := json.Unmarshal(recorded, &row); err != nil {
		t.Fatal(err)
	}
	a, _, err := address.Parse(raw)
	if err != nil {
		return // addr_none
	}
	hash, methods := hashOf(200+n), []uint32{code.MethodID("a_method_of_no_interface")}
	if len(row.Interfaces) > 0 {
		if known, is := codesOfRecordings[row.Interfaces[0]]; is {
			hash, _ = base64.StdEncoding.DecodeString(known)
		} else if slices.Equal(row.Interfaces, []string{"dns", "editable", "nft_item"}) {
			methods = []uint32{code.MethodID("dnsresolve"), code.MethodID("get_editor"), code.MethodID("get_nft_data")}
		} else {
			t.Fatalf("%s has interfaces %v, of which no code is known", raw, row.Interfaces)
		}
	}
	// An empty list is that of a code whose methods are not known.
	known := row.Interfaces == nil || len(row.Interfaces) > 0
	if !known {
		methods = nil
	}
	slices.Sort(methods)
	list := "[]"
	if len(methods) > 0 {
		text, _ := json.Marshal(methods)
		list = string(text)
	}
	w.exec(t, fmt.Sprintf("INSERT INTO codes (hash, methods, methods_known, boc) VALUES (unhex('%x'), %s, %t, 'x')", hash, list, known))
	w.exec(t, fmt.Sprintf("INSERT INTO accounts (workchain, account_prefix, account, version, mc_seqno, now, status, balance, code_hash, record) VALUES (%d, %d, unhex('%x'), 2, %d, 1, 'active', 0, unhex('%x'), '')",
		int32(binary.BigEndian.Uint32(a[:])), schema.Prefix(a[4:]), a[4:], w.watermark, hash))
}
