package detect

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == lifeCommand {
		os.Exit(live(os.Args[2:]))
	}
	os.Exit(m.Run())
}
