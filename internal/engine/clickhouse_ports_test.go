package engine

import (
	"context"
	"net"
	"testing"

	"tonscribe/internal/report"
)

// Between the choice of a port and the engine that opens it, another process may have
// taken it.
func TestAnEngineWhosePortsAreTakenMeanwhileChoosesOthers(t *testing.T) {
	for n := range 2 {
		s, err := newSupervisor(t.Context(), ClickHouseOptions{Dir: t.TempDir(), Volatile: true, Report: report.Silent()})
		if err != nil {
			t.Fatal(err)
		}
		before := []int{s.options.Port, s.options.HTTPPort}
		taken, err := net.Listen("tcp", at(before[n]))
		if err != nil {
			t.Fatal(err)
		}
		err = s.firstStart(t.Context())
		taken.Close()
		if err != nil {
			s.release()
			t.Fatal(err)
		}
		if s.options.Port == before[0] || s.options.HTTPPort == before[1] {
			t.Errorf("the ports are %d and %d, those before %v", s.options.Port, s.options.HTTPPort, before)
		}
		go s.supervise()
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
