package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// asked is what comes of a command line.
func asked(line string) error {
	root := rootCommand()
	root.SetArgs(strings.Fields(line))
	root.SetOut(io.Discard)
	return execute(context.Background(), root)
}

func TestCommandLinesThatNobodyKnowsAreErrorsThatSayWhatIsKnown(t *testing.T) {
	for line, want := range map[string]string{
		"nonsense":              `unknown command "nonsense" for "tonscribe"`,
		"keys revoek first":     `unknown command "revoek" for "tonscribe keys"`,
		"merchants disabel one": `unknown command "disabel" for "tonscribe merchants"`,
		"inspect blok file":     `unknown command "blok" for "tonscribe inspect"`,
		"merchants add":         "tonscribe merchants add NAME",
		"keys revoke":           "tonscribe keys revoke",
		"up extra":              "tonscribe up",
		"keys add --name first": "tonscribe keys add --help",
		"keys add first --rate": "tonscribe keys add --help",
	} {
		if err := asked(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", line, err, want)
		}
	}
	for _, line := range []string{"", "keys", "merchants --help", "help keys", "version"} {
		if err := asked(line); err != nil {
			t.Errorf("%q: %v, want none", line, err)
		}
	}
}

// It may have a password, and is not tried again and again.
func TestADSNThatIsNoneIsRefusedAtOnceAndNotShown(t *testing.T) {
	for _, dsn := range []string{"nonsense", "clickhouse://tonscribe:s3cret%zz@localhost:9000/tonscribe"} {
		for _, line := range []string{"verify --clickhouse ", "repair --data " + t.TempDir() + " --clickhouse "} {
			err := asked(line + dsn)
			if err == nil || !strings.Contains(err.Error(), "clickhouse://USER:PASSWORD@HOST:PORT/DATABASE") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s%s: %v, want an error that tells the form of a DSN, without the password", line, dsn, err)
			}
		}
	}
}

func TestWhatFailsIsToldUnlessSomebodyHasStoppedIt(t *testing.T) {
	failure := errors.New("the disk is full")
	run := func(*cobra.Command, []string) error {
		return errors.Join(failure, fmt.Errorf("sink: %w", context.Canceled))
	}
	if err := executeAs(context.Background(), "up", run); !errors.Is(err, failure) {
		t.Errorf("%v, want %v", err, failure)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := executeAs(stopped, "up", run); err != nil {
		t.Errorf("stopped: %v, want none", err)
	}
}

// executeAs executes a command that does something else.
func executeAs(ctx context.Context, line string, run func(*cobra.Command, []string) error) error {
	root := rootCommand()
	c, _, err := root.Find(strings.Fields(line))
	if err != nil {
		return err
	}
	c.Args, c.RunE = nil, run
	root.SetArgs(strings.Fields(line))
	return execute(ctx, root)
}

// A verification that was cut off has proven nothing, and a repair has not mended all:
// whoever goes on with the next command must not take it for done.
func TestWhatEndsByItselfHasFailedWhenItWasStoppedBefore(t *testing.T) {
	stopped, stop := context.WithCancel(context.Background())
	stop()
	cut := func(*cobra.Command, []string) error { return fmt.Errorf("verify: %w", context.Canceled) }
	for _, line := range []string{"verify", "repair", "migrate up", "engine fetch", "devnet generate --out chain --transactions 1"} {
		if err := executeAs(stopped, line, cut); err == nil || !strings.Contains(err.Error(), "stopped before its end") {
			t.Errorf("%s: %v, want an error that says that it was stopped before its end", line, err)
		}
	}
	for _, line := range []string{"up", "devnet", "ingest", "decode", "contracts", "traces", "sink", "metadata", "webhooks", "query", "receiver"} {
		if err := executeAs(stopped, line, cut); err != nil {
			t.Errorf("%s: %v, want none: it runs until it is stopped", line, err)
		}
	}
}

func TestTheReadmeNamesEveryCommand(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(readme), "\n| commands | ")
	row, _, _ = strings.Cut(row, "\n")
	named := unquoted(row)
	var wanted []string
	for _, c := range rootCommand().Commands() {
		if c.IsAvailableCommand() {
			wanted = append(wanted, c.Name())
		}
	}
	slices.Sort(named)
	slices.Sort(wanted)
	if !slices.Equal(named, wanted) {
		t.Errorf("the commands are %q, want %q", named, wanted)
	}
}

func TestConfigurationOfAServerIsWrittenToAFolderThatIsMadeForIt(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	if err := asked("engine server " + folder); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"users.xml", "access.xml"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, want it written", name, err)
		}
	}
}
