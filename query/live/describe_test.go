package live

import "testing"

func TestTheDocumentCanBeRendered(t *testing.T) {
	if _, err := Describe(DefaultConfiguration()).Render(); err != nil {
		t.Error(err)
	}
}
