package up

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fewDescriptors is what the process has, halfSent how many bodies are begun.
const (
	fewDescriptors = 256
	halfSent       = 1500
)

func TestHalfSentBodiesStopNeitherTheAPINorThePipelineWhereDescriptorsAreFew(t *testing.T) {
	clickhouse := enginetest.ClickHouse(t)
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.StartUnder(t, harness.WithDescriptors(fewDescriptors), nil, "up", "--data", data, "--listen", listen, "--tps", "5", "--interval", "500ms", "--clickhouse", clickhouse.DSN())
	p.AwaitReady(base, 2*time.Minute)
	before := lastSeqno(t, base)

	var bodies []net.Conn
	defer func() {
		for _, c := range bodies {
			c.Close()
		}
	}()
	for range halfSent {
		c, err := net.Dial("tcp", listen)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, c)
		_, _ = io.WriteString(c, "POST /api/v2/sendBoc HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"boc\":\"") // refused ones are closed already
	}
	open := 0
	harness.Await(t, time.Minute, func() bool {
		open = 0
		for _, c := range bodies {
			if isOpen(c) {
				open++
			}
		}
		return open <= fewDescriptors/4
	}, func() string {
		return fmt.Sprintf("%d of %d half-sent bodies stay open, want at most a quarter of the %d descriptors", open, halfSent, fewDescriptors)
	})
	if files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID())); err == nil && len(files) > fewDescriptors*7/8 {
		t.Errorf("%d of %d descriptors are taken", len(files), fewDescriptors)
	}
	harness.Await(t, time.Minute, func() bool { return lastSeqno(t, base) >= before+10 }, func() string { return "the pipeline stands" })
	if out := p.Output(); strings.Contains(out, "too many open files") {
		t.Errorf("the process ran out of descriptors:\n%s", out)
	}
	harness.Await(t, time.Minute, func() bool {
		status, _, err := harness.Get(base + "/readyz")
		return err == nil && status == http.StatusOK
	}, func() string { return "the index does not catch up" })
}

// isOpen reports whether the other end of a connection has not closed it.
func isOpen(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
	_, err := c.Read(make([]byte, 1))
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
