package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tonscribe/decode"
	"tonscribe/query/render"
)

func inspectCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect",
		Short: "Print the v3 JSON of a block, transaction or trace in a file, or explain an account",
		Long: `Print what the API would answer about the bag of cells in a file: raw bytes, hex
or base64. '-' reads standard input.`,
	}
	c.AddCommand(&cobra.Command{
		Use:   "block FILE",
		Short: `Print {"block":…,"transactions":[…]}`,
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return inspect(cmd, args[0], blockJSON) },
	}, &cobra.Command{
		Use:   "tx FILE",
		Short: "Print a transaction",
		Args:  cobra.ExactArgs(1),
		RunE:  func(cmd *cobra.Command, args []string) error { return inspect(cmd, args[0], transactionJSON) },
	}, inspectTraceCommand(), inspectTracesCommand(), inspectAccountCommand(s))
	return c
}

func inspect(cmd *cobra.Command, path string, form func(boc []byte) ([]byte, error)) error {
	boc, err := readBoC(path, cmd.InOrStdin())
	if err != nil {
		return err
	}
	text, err := form(boc)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text, "", "  "); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	pretty.WriteByte('\n')
	_, err = cmd.OutOrStdout().Write(pretty.Bytes())
	return err
}

// blockJSON does not know which masterchain block commits a shard block: its
// seqno is 0 there.
func blockJSON(boc []byte) ([]byte, error) {
	info, err := decode.Header(boc)
	if err != nil {
		return nil, err
	}
	committedBy := uint32(0)
	if info.MasterRef == nil {
		committedBy = info.ID.Seqno
	}
	result, err := decode.Block(boc, committedBy)
	if err != nil {
		return nil, err
	}
	text := render.Block.Append([]byte(`{"block":`), result.Block)
	text = append(text, `,"transactions":[`...)
	for i, tx := range result.Transactions {
		if i > 0 {
			text = append(text, ',')
		}
		text = render.Transaction.Append(text, render.TransactionOf(tx))
	}
	return append(text, "]}"...), nil
}

func transactionJSON(boc []byte) ([]byte, error) {
	tx, err := decode.Transaction(boc)
	if err != nil {
		return nil, err
	}
	return render.Transaction.Append(nil, render.TransactionOf(tx)), nil
}

// maxFile is how many bytes of a file are read: more than the largest trace or block has,
// in whatever form.
const maxFile = 256 << 20

// readFile reads a file, or with - standard input.
func readFile(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return readAtMost(maxFile, "standard input", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(maxFile, path, f)
}

// readAtMost refuses what is larger than some bytes, such as a device that never ends.
func readAtMost(limit int64, path string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d MiB", path, limit>>20)
	}
	return data, err
}

// readBoC reads a bag of cells as bytes, hex or base64. Of text it takes what tools and
// answers print: in quotes, on several lines, hex with 0x, base64 of URLs or without padding.
func readBoC(path string, stdin io.Reader) ([]byte, error) {
	data, err := readFile(path, stdin)
	if err != nil {
		return nil, err
	}
	text := strings.Trim(strings.Join(strings.Fields(string(data)), ""), `"'`)
	if boc, err := hex.DecodeString(strings.TrimPrefix(text, "0x")); err == nil && len(boc) > 0 {
		return boc, nil
	}
	text = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	if boc, err := base64.RawStdEncoding.DecodeString(text); err == nil && len(boc) > 0 {
		return boc, nil
	}
	return data, nil
}
