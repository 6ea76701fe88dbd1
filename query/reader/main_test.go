package reader

import (
	"testing"

	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
