package report

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func TestLinesThatStrangersBringAboutDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := Reporter{Log: zerolog.New(&out)}.Seldom()
		for range 1000 {
			log.Warn().Msg("again")
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != seldomLines {
			t.Errorf("%d lines are written at once, want %d", lines, seldomLines)
		}
		time.Sleep(seldomTime + time.Second)
		log.Warn().Msg("later")
		if !bytes.Contains(out.Bytes(), []byte("later")) {
			t.Errorf("%s later nothing is written", seldomTime)
		}
	})
}

func TestALineThatIsSaidAsLongAsSomethingLastsIsWrittenNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := Reporter{Log: zerolog.New(&out)}.Rarely()
		for range 30 {
			log.Warn().Msg("again")
			time.Sleep(time.Second)
		}
		if lines := bytes.Count(out.Bytes(), []byte("\n")); lines < 2 || lines > 3 {
			t.Errorf("%d lines in 30 s, want one in %s", lines, seldomTime)
		}
	})
}

func TestALineNamesOneComponent(t *testing.T) {
	var out bytes.Buffer
	log := Reporter{Log: zerolog.New(&out).With().Str("stage", "query").Logger()}.For("query").For("lite").Log
	log.Info().Msg("")
	if got, want := out.String(), `{"level":"info","stage":"query","component":"lite"}`+"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
