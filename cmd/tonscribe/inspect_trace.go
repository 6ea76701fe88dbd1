package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tonscribe/cmd/tonscribe/explain"
	"tonscribe/decode/action"
	"tonscribe/decode/pending"
	"tonscribe/decode/trace"
	"tonscribe/query/api"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

func inspectTraceCommand() *cobra.Command {
	wanted, explained := "", false
	c := &cobra.Command{
		Use:   "trace FILE",
		Short: `Print {"trace":…,"actions":[…]}, or explain the actions`,
		Long: `Print the trace of a JSON file and all its actions, whatever their types, as v3
JSON: of more than 4,000 transactions the actions only, and none of one with messages
that nobody has received yet. '-' reads standard input.

FILE is a recording of a trace (its transactions with their messages, and what
contracts are in "interfaces") or an answer of /api/v3/traces or
/api/v3/pendingTraces. Of the latter two "metadata" says which accounts are jetton
wallets and NFT items; what else an action needs to be recognised may be added in
"interfaces": {"ADDRESS": {"JettonWallet": {"owner": "ADDRESS", "jetton": "ADDRESS"}}}.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := readFile(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			r, err := pickTrace(text, wanted)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			show := printTrace
			if explained {
				show = explainTrace
			}
			if err := show(cmd.OutOrStdout(), r); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&wanted, "trace", "", "`ID` of the trace, of several: the hash of its first transaction")
	c.Flags().BoolVar(&explained, "explain", false, "say which pattern matched which transactions")
	return c
}

// pickTrace reads the trace with an id, the only one if that is empty.
func pickTrace(text []byte, id string) (*trace.Recorded, error) {
	list, err := trace.ReadAll(text)
	if err != nil {
		return nil, err
	}
	if id == "" {
		if len(list) > 1 {
			return nil, fmt.Errorf("%d traces: choose one with --trace", len(list))
		}
		return list[0], nil
	}
	hash, ok := params.ParseHash(id)
	if !ok {
		return nil, fmt.Errorf("--trace %s is no hash", id)
	}
	for _, r := range list {
		if _, tree, err := assemble(r); err == nil && bytes.Equal(tree.Root.Tx.Hash, hash[:]) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no trace %s", id)
}

// assemble puts the transactions together, as an answer of /api/v3/pendingTraces has them
// where some are foreseen.
func assemble(r *trace.Recorded) (*record.Trace, *trace.Tree, error) {
	if len(r.Foreseen) == 0 {
		return r.Assemble()
	}
	m, err := pending.Recorded(r)
	if err != nil {
		return nil, nil, err
	}
	return m.Trace, m.Tree, nil
}

// recognise returns the actions of a trace. There are none of one with messages that
// nobody has received and nobody foresees, as in the index.
func recognise(r *trace.Recorded, t *record.Trace, tree *trace.Tree) ([]*action.Action, error) {
	if t.PendingEdges > 0 && len(r.Foreseen) == 0 {
		return nil, nil
	}
	return action.Classify(tree, r)
}

func printTrace(out io.Writer, r *trace.Recorded) error {
	t, tree, err := assemble(r)
	if err != nil {
		return err
	}
	list, classifyErr := recognise(r, t, tree)
	w := &api.Writer{JSON: []byte(`{"trace":`), Book: api.Book{}, Parts: render.ActionAccounts}
	row, actions := render.TraceOf(t, tree), render.ActionsOf(list, t)
	if len(r.Foreseen) > 0 {
		row.Foreseen, actions = r.Foreseen, render.PendingActionsOf(list, t, r.Foreseen)
	}
	render.Trace.Write(w, row)
	w.JSON = append(w.JSON, `,"actions":`...)
	api.WriteList(w, render.Action, actions, api.Same)
	w.JSON = append(w.JSON, '}')
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, w.JSON, "", "  "); err != nil {
		return err
	}
	pretty.WriteByte('\n')
	_, err = out.Write(pretty.Bytes())
	return errors.Join(classifyErr, err)
}

func explainTrace(out io.Writer, r *trace.Recorded) error {
	t, tree, err := assemble(r)
	if err != nil {
		return err
	}
	list, classifyErr := recognise(r, t, tree)
	return errors.Join(classifyErr, explain.Trace(out, t, tree, list))
}
