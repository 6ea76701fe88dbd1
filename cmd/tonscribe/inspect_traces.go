package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tonscribe/decode"
	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
)

func inspectTracesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "traces BLOCK…",
		Short: "Count the traces that end inside of blocks, and their actions",
		Long: `Put the transactions of blocks together, as if one masterchain block had committed
all of them, and print how many traces end inside, how many wait for messages that
lie in other blocks, and how many were begun in other blocks; how large the largest
that ends inside is, and what actions there are. Blocks do not say what contracts
are, so that actions are known as far as messages tell.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var all []*record.Transaction
			seen := map[string]bool{} // a block that is named twice is one
			for _, path := range args {
				boc, err := readBoC(path, cmd.InOrStdin())
				if err != nil {
					return err
				}
				block, err := decode.Block(boc, 0)
				if err != nil {
					return fmt.Errorf("%s: %w", path, err)
				}
				if root := string(block.Block.Id.RootHash); !seen[root] {
					seen[root] = true
					all = append(all, block.Transactions...)
				}
			}
			return printTraces(cmd.OutOrStdout(), all)
		},
	}
}

func printTraces(out io.Writer, transactions []*record.Transaction) error {
	list, err := trace.NewAssembler(new(trace.Memory)).Bundle(0, transactions)
	if err != nil {
		return err
	}
	states, types := map[record.TraceState]int{}, map[string]int{}
	var largest *trace.Assembled
	silent := 0
	for i := range list {
		t := &list[i]
		states[t.State]++
		if t.State != record.TraceState_TRACE_COMPLETE {
			continue
		}
		if largest == nil || t.Nodes > largest.Nodes {
			largest = t
		}
		if t.All == nil { // too large
			continue
		}
		tree, err := trace.NewTree(t.All)
		if err != nil {
			return err
		}
		actions, err := action.Classify(tree, action.NoFacts{})
		if err != nil {
			return err
		}
		if len(actions) == 0 && tree.Root.Tx.InMsg != nil {
			silent++
		}
		for _, a := range actions {
			types[a.Type.Name]++
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "transactions\t%d\n", len(transactions))
	fmt.Fprintf(w, "traces that end inside\t%d\n", states[record.TraceState_TRACE_COMPLETE])
	fmt.Fprintf(w, "traces with messages that lie elsewhere\t%d\n", states[record.TraceState_TRACE_PENDING])
	fmt.Fprintf(w, "traces begun elsewhere\t%d\n", states[record.TraceState_TRACE_BROKEN])
	if largest != nil {
		fmt.Fprintf(w, "largest that ends inside\t%d transactions\t%s\n", largest.Nodes, base64.StdEncoding.EncodeToString(largest.Id))
	}
	fmt.Fprintf(w, "traces of messages without an action\t%d\n", silent)
	names := slices.SortedFunc(maps.Keys(types), func(a, b string) int { return cmp.Or(types[b]-types[a], cmp.Compare(a, b)) })
	for _, name := range names {
		fmt.Fprintf(w, "%s\t%d\n", name, types[name])
	}
	return w.Flush()
}
