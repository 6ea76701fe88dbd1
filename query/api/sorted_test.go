package api

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestMembersAreSortedByTheirNamesAtEveryDepth(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{}`,
		`{"@type":"a","z":"1","b":{"y":true,"x":{"":"_","@type":"c"}}}`: `{"@type":"a","b":{"x":{"":"_","@type":"c"},"y":true},"z":"1"}`,
		`{"ab":"\"}{,\\","a":"é","a_b":{}}`:                             `{"a":"é","a_b":{},"ab":"\"}{,\\"}`,
	} {
		if got := string(AppendSorted([]byte("x"), []byte(text))); got != "x"+want {
			t.Errorf("%s:\n got %s\nwant x%s", text, got, want)
		}
		// encoding/json sorts the members of maps.
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if sorted, err := json.Marshal(value); err != nil || !bytes.Equal(sorted, AppendSorted(nil, []byte(text))) {
			t.Errorf("encoding/json has %s, %v", sorted, err)
		}
	}
}
