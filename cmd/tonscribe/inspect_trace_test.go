package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tonscribe/test/support/realdata"
)

// inspectTrace runs `inspect trace`.
func inspectTrace(t *testing.T, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := inspectTraceCommand()
	c.SetArgs(args)
	c.SetIn(strings.NewReader(stdin))
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceErrors, c.SilenceUsage = true, true
	err := c.Execute()
	return out.String(), err
}

// recordedTraceFiles are the recordings and answers of the test data.
func recordedTraceFiles(t *testing.T) (list []string) {
	for _, folder := range []string{"traces", "api_v3_traces/walletkit"} {
		files, err := filepath.Glob(filepath.Join(realdata.Path(t, folder), "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", folder, len(files), err)
		}
		list = append(list, files...)
	}
	return list
}

func TestInspectTracePrintsEveryRecordingAndWhyItsActionsAreThere(t *testing.T) {
	for _, file := range recordedTraceFiles(t) {
		text, err := inspectTrace(t, "", file)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		var got struct {
			Trace struct {
				ID    string   `json:"trace_id"`
				Order []string `json:"transactions_order"`
			}
			Actions []struct {
				Trace string `json:"trace_id"`
				Type  string
			}
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Trace.ID == "" || len(got.Trace.Order) == 0 || len(got.Actions) == 0 {
			t.Errorf("%s: %d transactions, %d actions, %v", filepath.Base(file), len(got.Trace.Order), len(got.Actions), err)
		}
		// What was printed can be read again, and is the same then, but for what
		// contracts are, which is not printed.
		again, err := inspectTrace(t, text, "-")
		if err != nil || traceOf(t, again) != traceOf(t, text) {
			t.Errorf("%s: read again it is another trace, %v", filepath.Base(file), err)
		}
		why, err := inspectTrace(t, "", "--explain", file)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
		for _, a := range got.Actions {
			if name := strings.Replace(a.Type, "extra_currency_transfer", "", 1); !strings.Contains(why, name) || a.Trace != got.Trace.ID {
				t.Errorf("%s: %s is not explained", filepath.Base(file), a.Type)
			}
		}
	}
}

func TestInspectTraceTellsWhatIsForeseen(t *testing.T) {
	for _, file := range recordedTraceFiles(t)[:3] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for emulated, want := range map[string]string{"false": "finalized", "true": "pending"} {
			got, err := inspectTrace(t, strings.NewReplacer(`"emulated":false`, `"emulated":`+emulated, `"emulated": false`, `"emulated":`+emulated).Replace(string(text)), "-")
			if err != nil {
				t.Fatal(err)
			}
			all, those := strings.Count(got, `"finality": `), strings.Count(got, `"finality": "`+want+`"`)
			if all == 0 || those != all || strings.Count(got, `"emulated": `+emulated) == 0 {
				t.Errorf("%s, emulated %s: of %d transactions and actions %d are %s", filepath.Base(file), emulated, all, those, want)
			}
		}
	}
}

// halfForeseen is an answer of which all transactions but the first few are foreseen: for
// times before those of the first ones, as where these came later than they were foreseen.
func halfForeseen(t *testing.T, answer string, came int) string {
	t.Helper()
	var all struct {
		Traces   []map[string]any `json:"traces"`
		Metadata json.RawMessage  `json:"metadata"`
	}
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(&all); err != nil || len(all.Traces) != 1 {
		t.Fatalf("%d traces, %v", len(all.Traces), err)
	}
	transactions := all.Traces[0]["transactions"].(map[string]any)
	order := all.Traces[0]["transactions_order"].([]any)
	for i, hash := range order {
		if tx := transactions[hash.(string)].(map[string]any); i >= came {
			tx["emulated"], tx["mc_block_seqno"], tx["lt"] = true, nil, strconv.Itoa(1000+i)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// recordedAnswers are answers of /api/v3/traces with one trace each, by the names of their files.
func recordedAnswers(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "api_v3_traces/walletkit"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	answers := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		answers[filepath.Base(file)] = string(text)
	}
	return answers
}

// A trace of which a part is foreseen is as an answer of /api/v3/pendingTraces has it.
func TestInspectTraceKeepsWhatIsPendingPending(t *testing.T) {
	for file, text := range recordedAnswers(t) {
		for _, came := range []int{0, 1} {
			answer := halfForeseen(t, text, came)
			printed, err := inspectTrace(t, answer, "-")
			if err != nil {
				t.Errorf("%s, %d came: %v", file, came, err)
				continue
			}
			var got struct {
				Trace struct {
					ID       *string `json:"trace_id"`
					External *string `json:"external_hash"`
					Info     struct {
						State   string `json:"trace_state"`
						Nodes   int    `json:"transactions"`
						Pending int    `json:"pending_messages"`
					} `json:"trace_info"`
					Order        []string `json:"transactions_order"`
					Transactions map[string]struct {
						Emulated bool
						InMsg    struct{ Hash string } `json:"in_msg"`
					}
				}
				Actions []struct {
					Trace *string `json:"trace_id"`
					EndLt string  `json:"end_lt"`
				}
			}
			if err := json.Unmarshal([]byte(printed), &got); err != nil {
				t.Fatal(err)
			}
			g := got.Trace
			if (g.ID == nil) != (came == 0) || g.ID != nil && *g.ID != g.Order[0] || g.External == nil || g.Info.State != "pending" ||
				g.Info.Nodes != len(g.Order) || g.Info.Pending != len(g.Order)-came || len(g.Transactions) != len(g.Order) {
				t.Errorf("%s, %d came: id %v, external hash %v, %+v, %d transactions in order", file, came, g.ID, g.External, g.Info, len(g.Order))
			}
			if first := g.Transactions[g.Order[0]]; g.External != nil && first.InMsg.Hash != *g.External || first.Emulated != (came == 0) {
				t.Errorf("%s, %d came: the first transaction is %+v", file, came, first)
			}
			last := uint64(math.MaxUint64)
			for _, a := range got.Actions {
				lt, err := strconv.ParseUint(a.EndLt, 10, 64)
				if err != nil || lt > last || (a.Trace == nil) != (came == 0) {
					t.Errorf("%s, %d came: an action of trace %v that ends at %s, %v, behind one at %d", file, came, a.Trace, a.EndLt, err, last)
				}
				last = lt
			}
			again, err := inspectTrace(t, printed, "-", "--trace", g.Order[0])
			if err != nil || traceOf(t, again) != traceOf(t, printed) {
				t.Errorf("%s, %d came: read again it is another trace, %v", file, came, err)
			}
			if why, err := inspectTrace(t, answer, "-", "--explain"); err != nil || !strings.HasPrefix(why, "trace "+g.Order[0]+": ") {
				t.Errorf("%s, %d came: explained as %.80q, %v", file, came, why, err)
			}
		}
	}
}

// Of a trace with a message that nobody has received yet there are no actions, as in the
// index.
func TestInspectTraceHasNoActionsOfATraceThatGoesOn(t *testing.T) {
	for file, text := range recordedAnswers(t) {
		var answer struct {
			Traces []map[string]any `json:"traces"`
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Traces) != 1 {
			t.Fatalf("%s: %d traces, %v", file, len(answer.Traces), err)
		}
		began := answer.Traces[0]["transactions_order"].([]any)[:1]
		answer.Traces[0]["transactions_order"] = began
		answer.Traces[0]["transactions"] = map[string]any{began[0].(string): answer.Traces[0]["transactions"].(map[string]any)[began[0].(string)]}
		open, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		printed, err := inspectTrace(t, string(open), "-")
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var got struct {
			Trace struct {
				Info struct {
					Pending        int    `json:"pending_messages"`
					Classification string `json:"classification_state"`
				} `json:"trace_info"`
			}
			Actions []any
		}
		if err := json.Unmarshal([]byte(printed), &got); err != nil {
			t.Fatal(err)
		}
		if got.Trace.Info.Pending == 0 || got.Trace.Info.Classification != "unclassified" || len(got.Actions) > 0 {
			t.Errorf("%s: %d messages are open, it is %s and has %d actions", file, got.Trace.Info.Pending, got.Trace.Info.Classification, len(got.Actions))
		}
		if why, err := inspectTrace(t, string(open), "-", "--explain"); err != nil || strings.Contains(why, "unknown") {
			t.Errorf("%s: explained as %q, %v", file, why, err)
		}
	}
}

func traceOf(t *testing.T, text string) string {
	t.Helper()
	var both struct{ Trace json.RawMessage }
	if err := json.Unmarshal([]byte(text), &both); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, both.Trace); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInspectTraceChoosesOneOfSeveral(t *testing.T) {
	var traces []json.RawMessage
	var ids []string
	for _, file := range recordedTraceFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Traces []json.RawMessage `json:"traces"`
		}
		if json.Unmarshal(text, &answer) == nil && len(answer.Traces) > 0 {
			var one struct {
				ID string `json:"trace_id"`
			}
			if err := json.Unmarshal(answer.Traces[0], &one); err != nil {
				t.Fatal(err)
			}
			traces, ids = append(traces, answer.Traces[0]), append(ids, one.ID)
		}
	}
	all, err := json.Marshal(map[string]any{"traces": traces})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inspectTrace(t, string(all), "-"); err == nil || !strings.Contains(err.Error(), "--trace") {
		t.Errorf("several traces: %v, want a hint at --trace", err)
	}
	for _, id := range ids {
		for _, form := range []string{id, strings.NewReplacer("+", "-", "/", "_").Replace(id)} {
			if text, err := inspectTrace(t, string(all), "-", "--trace", form); err != nil || !strings.Contains(text, `"trace_id": "`+id+`"`) {
				t.Errorf("--trace %s: %v", form, err)
			}
		}
	}
	if _, err := inspectTrace(t, string(all), "-", "--trace", strings.Repeat("00", 32)); err == nil {
		t.Error("a trace that is not there was found")
	}
}

func TestInspectTracesCountsThoseThatEndInsideOfABlock(t *testing.T) {
	for _, c := range []struct {
		block string
		want  []string
	}{
		// The counts of transactions are those of blocks.tsv.
		{"block_0_8000000000000000_40484416.boc", []string{"transactions 479", "traces that end inside 30", "traces with messages that lie elsewhere 1",
			"traces begun elsewhere 0", "largest that ends inside 255 transactions",
			"traces of messages without an action 0"}},
		{"block_0_8000000000000000_57314442.boc", []string{"transactions 90", "traces that end inside 19"}},
	} {
		var out bytes.Buffer
		cmd := inspectTracesCommand()
		file := realdata.Path(t, "blocks/mainnet_single", c.block)
		cmd.SetArgs([]string{file, file}) // one that is named twice counts once
		cmd.SetOut(&out)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(out.String()), " ")
		for _, w := range c.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is not in\n%s", c.block, w, out.String())
			}
		}
	}
}
