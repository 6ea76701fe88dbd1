package trace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/schema/record"
	"tonscribe/test/support/costtest"
	"tonscribe/test/support/realdata"
)

func FuzzRead(f *testing.F) {
	hash := strings.Repeat("A", 43) + "="
	f.Add([]byte(`{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + hash + `","lt":1,"now":2,"mc_block_seqno":3,"descr":"ord",
		"messages":[{"direction":"in","msg_hash":"` + hash + `","source":null,"destination":"0:` + strings.Repeat("11", 32) + `","value":null,
		"opcode":-1,"message_content":{"hash":"` + hash + `","body":"te6cckEBAQEAAgAAAEysuc0="}}]}],"interfaces":{"0:` + strings.Repeat("11", 32) + `":{"JettonWallet":{"balance":1e3}}}}`))
	f.Add([]byte(`{"traces":[{"transactions":{"` + hash + `":{"account":"-1:` + strings.Repeat("33", 32) + `","hash":"` + hash + `","lt":"1","description":
		{"type":"tick_tock","compute_ph":{"skipped":true,"reason":"no_gas"}},"out_msgs":[{"hash":"` + hash + `","destination":"0:` + strings.Repeat("11", 32) + `"}]}}}],"metadata":{}}`))
	if realdata.There() {
		files, err := filepath.Glob(filepath.Join(os.Getenv("TONSCRIBE_TESTDATA"), "traces/0*.json"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files[:min(4, len(files))] {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		costtest.Within(t, 50*time.Millisecond, costtest.MaxBytes, func() { checkRead(t, text) })
	})
}

// checkRead reads recordings and makes traces of them.
func checkRead(t *testing.T, text []byte) {
	list, err := ReadAll(text)
	if err != nil {
		return
	}
	for _, r := range list {
		trace, tree, err := r.Assemble()
		if err != nil {
			continue
		}
		if len(tree.Nodes)+len(tree.Missing) != len(r.Transactions) || len(tree.Transactions) != len(r.Transactions) {
			t.Errorf("%d nodes and %d missing of %d transactions", len(tree.Nodes), len(tree.Missing), len(r.Transactions))
		}
		if trace == nil || int(trace.Nodes) > len(r.Transactions) {
			t.Errorf("trace %v of %d transactions", trace, len(r.Transactions))
		}
	}
}

// FuzzBundles plays a chain of at most 32 messages that accounts send to each other,
// in which bundles come in any order and some never.
func FuzzBundles(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7})
	f.Add([]byte{9, 200, 31, 9, 200, 31, 77, 1, 0, 0, 255, 254, 3, 64, 65, 66})
	f.Add([]byte("a trace that goes on for a while, with messages nobody receives"))
	f.Fuzz(func(t *testing.T, plan []byte) {
		bundles := bundlesOf(plan)
		store, lasting := new(Memory), NewAssembler(new(Memory))
		owner, pending := map[string]string{}, map[string]int{}
		seen := 0
		for i, txs := range bundles {
			list, err := NewAssembler(store).Bundle(uint32(i+1), txs)
			if err != nil {
				t.Fatal(err)
			}
			seen += len(txs)
			if same, err := lasting.Bundle(uint32(i+1), txs); err != nil || !slices.EqualFunc(same, list, sameAssembled) {
				t.Fatalf("bundle %d: an Assembler that has seen all gives %d traces that are others than the %d of one that begins anew, %v", i+1, len(same), len(list), err)
			}
			for _, tr := range list {
				id := string(tr.Id)
				for _, old := range tr.Replaces {
					delete(pending, string(old))
					for tx, in := range owner {
						if in == string(old) {
							owner[tx] = id
						}
					}
				}
				for _, tx := range tr.New {
					owner[string(tx.Hash)] = id
				}
				pending[id] = int(tr.PendingEdges)
				n := 0
				for _, in := range owner {
					if in == id {
						n++
					}
				}
				if n != int(tr.Nodes) || tr.All != nil && len(tr.All) != n {
					t.Fatalf("trace with %d nodes, %d of all, has %d transactions", tr.Nodes, len(tr.All), n)
				}
				if complete := tr.State == record.TraceState_TRACE_COMPLETE; complete && tr.PendingEdges != 0 {
					t.Fatalf("complete with %d open messages", tr.PendingEdges)
				}
			}
		}
		if len(owner) != seen {
			t.Fatalf("%d of %d transactions are in a trace", len(owner), seen)
		}
		open := map[string]int{}
		if err := store.Each([]byte{keyEdge}, nil, func(_, id []byte) bool {
			open[string(id)]++
			return true
		}); err != nil {
			t.Fatal(err)
		}
		for id, n := range pending {
			if open[id] != n {
				t.Fatalf("a trace counts %d open messages, the store has %d", n, open[id])
			}
			delete(open, id)
		}
		if len(open) > 0 {
			t.Fatal("the store has open messages of traces that are none")
		}
	})
}

func sameAssembled(a, b Assembled) bool {
	same := func(a, b *record.Transaction) bool { return a.EqualVT(b) }
	return a.EqualVT(b.Trace) && slices.EqualFunc(a.New, b.New, same) && slices.EqualFunc(a.Moved, b.Moved, same) &&
		slices.EqualFunc(a.All, b.All, same) && slices.EqualFunc(a.Earlier, b.Earlier, slices.Equal)
}

// bundlesOf makes bundles of a plan, a byte for each transaction: which of the open
// messages it receives, how many it sends, and in which bundle it is.
func bundlesOf(plan []byte) [][]*record.Transaction {
	var open []string
	bundles := make([][]*record.Transaction, 4)
	for i, b := range plan[:min(len(plan), 32)] {
		name := string(rune('A' + i))
		in := "ext" + name
		if len(open) > 0 && b&1 == 0 {
			k := int(b>>1) % len(open)
			in = open[k]
			open = slices.Delete(open, k, k+1)
		}
		var out []string
		for j := range int(b>>3) % 4 {
			out = append(out, name+string(rune('0'+j)))
		}
		open = append(open, out...)
		tx := sends(name, uint64(i+1), in, out...)
		if place := int(b>>5) % 5; place < 4 { // else it is never seen
			bundles[place] = append(bundles[place], tx)
		}
	}
	return bundles
}
