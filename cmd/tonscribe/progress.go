package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// progressPause is from one line of progress to the next where there is no
// terminal.
const progressPause = 10 * time.Second

// progress writes how far something is: on a terminal one line that is redrawn,
// elsewhere a line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	shown    time.Time
}

func newProgress(out io.Writer) *progress {
	file, ok := out.(*os.File)
	return &progress{out: out, terminal: ok && term.IsTerminal(int(file.Fd()))}
}

func (p *progress) show(line string) {
	switch {
	case p.terminal:
		fmt.Fprintf(p.out, "\r\x1b[K%s", line)
	case line != "" && time.Since(p.shown) > progressPause:
		fmt.Fprintln(p.out, line)
	default:
		return
	}
	p.shown = time.Now()
}
