package detect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/test/support/harness"
)

func TestTheManualNamesTheTopicOfTheStore(t *testing.T) {
	topic := fmt.Sprintf("`contracts-store-%d`", storeVersion)
	for _, page := range []string{"configuration.md", "operating.md"} {
		text, err := os.ReadFile(filepath.Join(harness.Root(), "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), topic) {
			t.Errorf("docs/%s does not name the topic %s", page, topic)
		}
	}
}
