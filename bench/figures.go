package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// figure is one measured number.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// N is how many of what was measured the value rests on.
	N int `json:"n"`
}

// output prints figures as a command was asked to: as tables for people, or one
// object a line.
type output struct {
	w    io.Writer
	json bool
}

func outputOf(cmd *cobra.Command) output {
	asJSON, _ := cmd.Flags().GetBool("json")
	return output{w: cmd.OutOrStdout(), json: asJSON}
}

// note is a line for people.
func (o output) note(format string, args ...any) {
	if !o.json {
		fmt.Fprintf(o.w, format+"\n", args...)
	}
}

// head begins a table.
func (o output) head(columns ...string) {
	if o.json {
		return
	}
	fmt.Fprintf(o.w, "\n| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

// row is a line of a table: the cells for people, the figures for machines.
func (o output) row(cells []string, figures ...figure) error {
	if !o.json {
		_, err := fmt.Fprintf(o.w, "| %s |\n", strings.Join(cells, " | "))
		return err
	}
	for _, f := range figures {
		f.Value = math.Round(f.Value*1e4) / 1e4
		if err := json.NewEncoder(o.w).Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// figure is a row of one figure.
func (o output) figure(name string, value float64, unit string, n int) error {
	return o.row([]string{name, number(value), unit}, figure{name, value, unit, n})
}

// number has three significant digits, and all those before the point.
func number(v float64) string {
	if v == 0 || math.Abs(v) >= 100 {
		return grouped(int64(math.Round(v)))
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(0, digits), 64)
}

func grouped(v int64) string {
	s := strconv.FormatInt(v, 10)
	start := len(s) % 3
	if strings.HasPrefix(s, "-") {
		start = (len(s)-1)%3 + 1
	}
	out := s[:start]
	for i := start; i < len(s); i += 3 {
		if out != "" && out != "-" {
			out += ","
		}
		out += s[i : i+3]
	}
	return out
}
