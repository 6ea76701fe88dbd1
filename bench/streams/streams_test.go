package streams

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tonscribe/query/live/events"
)

// messagesOf takes a server's bytes apart in parts of a size.
func messagesOf(t *testing.T, p parser, raw string, size int) (list []string, err error) {
	t.Helper()
	for len(raw) > 0 && err == nil {
		n := min(size, len(raw))
		err = p.take([]byte(raw[:n]), func(first []byte) { list = append(list, string(first)) })
		raw = raw[n:]
	}
	return list, err
}

func TestMessagesAreFoundHoweverTheirBytesCome(t *testing.T) {
	long := `{"type":"transactions","position":"7-3","x":"` + strings.Repeat("y", 70_000) + `"}`
	short := `{"status":"subscribed","position":"6"}`
	chunk := func(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }
	events := chunk("event: connected\ndata: "+short+"\n\n") + chunk(": keepalive 6\n\n") + chunk("event: event\nid: 7-3\nda") + chunk("ta: "+long) + chunk("\n\n") + "0\r\n"
	frames := "\x81" + string(rune(len(short))) + short + "\x89\x02hi" + "\x81\x7f\x00\x00\x00\x00" + string([]byte{0, 1, byte((len(long) >> 8) & 255), byte(len(long))}) + long + "\x88\x02\x03\xf5"
	if len(long)>>16 != 1 {
		t.Fatalf("the long message has %d bytes", len(long))
	}
	for _, size := range []int{1, 2, 3, 100, 4096, len(frames) + len(events)} {
		list, err := messagesOf(t, &eventParser{}, events, size)
		if want := []string{short, long[:first-len(dataField)]}; !reflect.DeepEqual(list, want) || !errors.Is(err, errEnd) {
			t.Errorf("in parts of %d bytes a stream of events has %q, want %q, and ends with %v", size, list, want, err)
		}
		var pongs []string
		var code uint16
		p := &socketParser{pong: func(payload []byte) error { pongs = append(pongs, string(payload)); return nil }, closed: func(c uint16) { code = c }}
		list, err = messagesOf(t, p, frames, size)
		if want := []string{short, long[:first]}; !reflect.DeepEqual(list, want) || !errors.Is(err, errEnd) || code != 1013 || !reflect.DeepEqual(pongs, []string{"hi"}) {
			t.Errorf("in parts of %d bytes a socket has %q, want %q, pings %q, and ends with %d %v", size, list, want, pongs, code, err)
		}
	}
}

func TestEveryEventThatIsNotAsTheIndexHasItIsCounted(t *testing.T) {
	at := func(seqno, event uint32) Event { return Event{Position: events.Position{MCSeqno: seqno, Event: event}} }
	wanted := []Event{at(5, 0), at(5, 6), at(6, 0), at(7, 9), at(8, 0)}
	end := events.Position{MCSeqno: 7, Event: 1<<32 - 1}
	for _, c := range []struct {
		name     string
		received []Event
		want     Difference
	}{
		{"all", []Event{at(5, 0), at(5, 6), at(6, 0), at(7, 9)}, Difference{}},
		{"and what comes later", []Event{at(5, 0), at(5, 6), at(6, 0), at(7, 9), at(8, 0), at(8, 3)}, Difference{}},
		{"one lost", []Event{at(5, 0), at(6, 0), at(7, 9)}, Difference{Lost: 1}},
		{"one doubled", []Event{at(5, 0), at(5, 6), at(5, 6), at(6, 0), at(7, 9)}, Difference{Doubled: 1}},
		{"one of others", []Event{at(5, 0), at(5, 3), at(5, 6), at(6, 0), at(7, 9)}, Difference{Foreign: 1}},
		{"two out of order", []Event{at(5, 6), at(5, 0), at(6, 0), at(7, 9)}, Difference{Disordered: 1}},
		{"one of another type", []Event{at(5, 0), {Position: at(5, 6).Position, Type: 2}, at(6, 0), at(7, 9)}, Difference{Lost: 1, Foreign: 1}},
	} {
		var got Difference
		if compared := got.Compare(c.received, wanted, end); got != c.want || compared != 4 {
			t.Errorf("%s: %+v of %d events, want %+v of 4", c.name, got, compared, c.want)
		}
	}
}
