package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// difference names the first place where two forms differ, with both values, or
// is empty. An absent map or list is an empty one.
func difference(ours, theirs any) string {
	return walk("", reflect.ValueOf(ours), reflect.ValueOf(theirs))
}

func walk(path string, ours, theirs reflect.Value) string {
	switch ours.Kind() {
	case reflect.Pointer:
		if ours.IsNil() || theirs.IsNil() {
			if ours.IsNil() == theirs.IsNil() {
				return ""
			}
			return differ(path, show(ours), show(theirs))
		}
		return walk(path, ours.Elem(), theirs.Elem())
	case reflect.Struct:
		for i := range ours.NumField() {
			name, _, _ := strings.Cut(ours.Type().Field(i).Tag.Get("json"), ",")
			if d := walk(strings.TrimPrefix(path+"."+name, "."), ours.Field(i), theirs.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		for i := range min(ours.Len(), theirs.Len()) {
			if d := walk(fmt.Sprintf("%s[%d]", path, i), ours.Index(i), theirs.Index(i)); d != "" {
				return d
			}
		}
		if ours.Len() != theirs.Len() {
			return differ("number of "+path, fmt.Sprint(ours.Len()), fmt.Sprint(theirs.Len()))
		}
		return ""
	case reflect.Map:
		return walkMap(path, ours.Interface().(map[string]string), theirs.Interface().(map[string]string))
	}
	if !ours.Equal(theirs) {
		return differ(path, show(ours), show(theirs))
	}
	return ""
}

func walkMap(path string, ours, theirs map[string]string) string {
	for key := range theirs {
		if _, ok := ours[key]; !ok {
			return differ(path+"["+key+"]", "missing", theirs[key])
		}
	}
	for key, value := range ours {
		other, ok := theirs[key]
		if !ok {
			return differ(path+"["+key+"]", value, "missing")
		}
		if value != other {
			return differ(path+"["+key+"]", value, other)
		}
	}
	return ""
}

func show(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "absent"
		}
		v = v.Elem()
	}
	return fmt.Sprintf("%+v", v.Interface())
}

func differ(path, ours, theirs string) string {
	return fmt.Sprintf("%s: decode has %s, pytoniq-core %s", path, ours, theirs)
}

// blockDifference matches the transactions by their hash, so that a missing one
// is called missing and not different from its neighbour.
func blockDifference(ours, theirs *form) string {
	byHash := map[string]*transactionForm{}
	for i := range theirs.Transactions {
		t := &theirs.Transactions[i]
		byHash[t.Hash] = t
	}
	for i := range ours.Transactions {
		t := &ours.Transactions[i]
		other := byHash[t.Hash]
		if other == nil {
			return fmt.Sprintf("transaction %s of %s at lt %d: pytoniq-core has none", t.Hash, t.Account, t.LT)
		}
		delete(byHash, t.Hash)
		if d := difference(*t, *other); d != "" {
			return "transaction " + t.Hash + ": " + d
		}
	}
	for hash, t := range byHash {
		return fmt.Sprintf("transaction %s of %s at lt %d: decode has none", hash, t.Account, t.LT)
	}
	a, b := *ours, *theirs
	a.Transactions, b.Transactions = nil, nil
	if len(ours.Transactions) != len(theirs.Transactions) {
		return differ("number of transactions", fmt.Sprint(len(ours.Transactions)), fmt.Sprint(len(theirs.Transactions)))
	}
	return difference(a, b)
}

func TestADifferenceIsNamedWithBothValues(t *testing.T) {
	opcode := uint32(7)
	changed := func(change func(*form)) *form {
		f := &form{
			Header: &headerForm{Seqno: 5},
			Transactions: []transactionForm{
				{Hash: "aa", Account: "0:1", LT: 3, OutMsgs: []messageForm{{Hash: "m1"}, {Hash: "m2", Opcode: &opcode}}},
				{Hash: "bb", Account: "0:2", LT: 4},
			},
			Imported: map[string]string{"m0": "aa"},
		}
		change(f)
		return f
	}
	for _, c := range []struct {
		change func(*form)
		want   string
	}{
		{func(*form) {}, ""},
		{func(f *form) { f.Transactions = f.Transactions[1:] }, "transaction aa of 0:1 at lt 3: pytoniq-core has none"},
		{func(f *form) { f.Transactions = append(f.Transactions, transactionForm{Hash: "cc", Account: "0:3"}) }, "transaction cc of 0:3 at lt 0: decode has none"},
		{func(f *form) { f.Transactions = append(f.Transactions, f.Transactions[0]) }, "number of transactions: decode has 2, pytoniq-core 3"},
		{func(f *form) { slices.Reverse(f.Transactions[0].OutMsgs) }, "transaction aa: out_msgs[0].hash: decode has m1, pytoniq-core m2"},
		{func(f *form) { f.Transactions[0].OutMsgs[1].Opcode = nil }, "transaction aa: out_msgs[1].opcode: decode has 7, pytoniq-core absent"},
		{func(f *form) { f.Transactions[0].OutMsgs = f.Transactions[0].OutMsgs[:1] }, "transaction aa: number of out_msgs: decode has 2, pytoniq-core 1"},
		{func(f *form) { f.Header.Seqno = 6 }, "header.seqno: decode has 5, pytoniq-core 6"},
		{func(f *form) { f.Imported["m9"] = "bb" }, "imported[m9]: decode has missing, pytoniq-core bb"},
		{func(f *form) { f.Imported = nil }, "imported[m0]: decode has aa, pytoniq-core missing"},
	} {
		if got := blockDifference(changed(func(*form) {}), changed(c.change)); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}
