package explain_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"tonscribe/cmd/tonscribe/explain"
	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
)

func TestPartsStandBelowTheActionThatTheyAreAPartOf(t *testing.T) {
	made := func(name string, above ...*action.Action) *action.Action {
		return &action.Action{Type: action.TypeNamed(name), Rule: "a rule", Success: true, Ancestors: above}
	}
	finished := made("nft_finish_auction")
	bought := made("nft_purchase", finished)
	// In the order of their beginnings others stand between.
	list := []*action.Action{made("nft_transfer", finished, bought), made("ton_transfer"), bought, finished, made("call_contract")}
	var out bytes.Buffer
	if err := explain.Trace(&out, &record.Trace{}, &trace.Tree{Root: &trace.Node{Tx: &record.Transaction{}}}, list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range strings.Split(out.String(), "\n")[1:] {
		if line != "" && !strings.Contains(line, "a rule") {
			got = append(got, line)
		}
	}
	if want := []string{"ton_transfer", "nft_finish_auction", "  nft_purchase", "    nft_transfer", "call_contract"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
