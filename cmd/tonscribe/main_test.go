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

func TestWhatFailsIsToldUnlessSomebodyHasStoppedIt(t *testing.T) {
	failure := errors.New("the disk is full")
	root := &cobra.Command{Use: "tonscribe", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
		return errors.Join(failure, fmt.Errorf("sink: %w", context.Canceled))
	}}
	root.SetArgs(nil)
	if err := execute(context.Background(), root); !errors.Is(err, failure) {
		t.Errorf("%v, want %v", err, failure)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if err := execute(stopped, root); err != nil {
		t.Errorf("stopped: %v, want none", err)
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
