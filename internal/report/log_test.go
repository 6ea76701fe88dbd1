package report

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A line of progress is not ended: it is redrawn.
func TestALogLineOnATerminalTakesThePlaceOfTheLineOfProgress(t *testing.T) {
	terminal, inside, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	defer inside.Close()
	log, err := NewLogger(DefaultLogConfiguration(), inside)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(inside, "masterchain block 35")
	log.Info().Msg("waiting")
	got, err := bufio.NewReader(terminal).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if want := "masterchain block 35\r\x1b[K"; !strings.HasPrefix(got, want) || !strings.Contains(got, "waiting") {
		t.Errorf("on the screen: %q, want what was there erased (%q), then the line", got, want)
	}
}
