package report

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// LogConfiguration is how log lines are written.
type LogConfiguration struct {
	// Level is trace, debug, info, warn or error.
	Level string `yaml:"level"`
	// Format is text, json, or auto: text on a terminal, json elsewhere.
	Format string `yaml:"format"`
}

// DefaultLogConfiguration logs from info on.
func DefaultLogConfiguration() LogConfiguration {
	return LogConfiguration{Level: "info", Format: "auto"}
}

// NewLogger writes to out, usually standard error.
func NewLogger(c LogConfiguration, out *os.File) (zerolog.Logger, error) {
	level, err := zerolog.ParseLevel(c.Level)
	if err != nil || c.Level == "" {
		return zerolog.Nop(), fmt.Errorf("log.level %q: want trace, debug, info, warn or error", c.Level)
	}
	var writer io.Writer = out
	switch c.Format {
	case "json":
	case "text":
		writer = console(out)
	case "auto":
		if term.IsTerminal(int(out.Fd())) {
			writer = console(out)
		}
	default:
		return zerolog.Nop(), fmt.Errorf("log.format %q: want auto, text or json", c.Format)
	}
	return zerolog.New(writer).Level(level).With().Timestamp().Logger(), nil
}

func console(out *os.File) io.Writer {
	if !term.IsTerminal(int(out.Fd())) {
		return zerolog.ConsoleWriter{Out: out, TimeFormat: time.TimeOnly, NoColor: true}
	}
	return zerolog.ConsoleWriter{Out: erasing{out}, TimeFormat: time.TimeOnly}
}

// erasing takes what stands in the line away, which is progress, before it writes one.
type erasing struct {
	terminal io.Writer
}

func (e erasing) Write(line []byte) (int, error) {
	if _, err := e.terminal.Write(append([]byte("\r\x1b[K"), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
