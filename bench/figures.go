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
// object a line. err is the first failure.
type output struct {
	w    io.Writer
	json bool
	err  error
}

func outputOf(cmd *cobra.Command) *output {
	asJSON, _ := cmd.Flags().GetBool("json")
	return &output{w: cmd.OutOrStdout(), json: asJSON}
}

// note is a line for people.
func (o *output) note(format string, args ...any) {
	if !o.json && o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format+"\n", args...)
	}
}

// head begins a table.
func (o *output) head(columns ...string) {
	o.note("\n| %s |\n|%s", strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

// row is a line of a table: the cells for people, the figures for machines.
func (o *output) row(cells []string, figures ...figure) {
	o.note("| %s |", strings.Join(cells, " | "))
	for _, f := range figures {
		if f.Value = math.Round(f.Value*1e4) / 1e4; o.json && o.err == nil {
			o.err = json.NewEncoder(o.w).Encode(f)
		}
	}
}

// figure is a row of one figure.
func (o *output) figure(name string, value float64, unit string, n int) {
	o.row([]string{name, number(value), unit}, figure{name, value, unit, n})
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
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
