package detect

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/engine"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/topictest"
)

// lifeCommand makes the test binary a process with a log and the stage on it,
// which is there to be killed.
const lifeCommand = "contracts-life"

const lifePartitions = 2

// live feeds the log up to a bundle, starts the stage, and tells what it has
// published until that bundle is done.
func live(args []string) int {
	dir, until, store := args[0], args[1], args[2]
	last, err := strconv.Atoi(until)
	if err == nil {
		err = life(context.Background(), dir, store, uint32(last))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func life(ctx context.Context, dir, store string, last uint32) error {
	log, client, err := openLog(ctx, dir)
	if err != nil {
		return err
	}
	defer log.Stop(ctx)
	defer client.Close()
	if err := feedLife(ctx, client, dir, last); err != nil {
		return err
	}
	configuration := DefaultConfiguration()
	configuration.Dir, configuration.PublishBytes = filepath.Join(dir, store), 1
	c, err := New(configuration, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}, Kafka: client})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	for told := 0; ; time.Sleep(time.Millisecond) {
		if now := int(testutil.ToFloat64(c.Bundle)); now > told {
			told = now
			fmt.Println("bundle", now)
		}
		if told >= int(last) {
			return c.Stop(ctx)
		}
		select {
		case <-c.Done():
			return errors.Join(errors.New("it ended"), c.Err())
		default:
		}
	}
}

func openLog(ctx context.Context, dir string) (*engine.Kafka, *kafka.Client, error) {
	log, err := engine.StartKafka(ctx, engine.KafkaOptions{Dir: filepath.Join(dir, "log"), Report: report.Silent()})
	if err != nil {
		return nil, nil, err
	}
	configuration := kafka.DefaultConfiguration()
	configuration.Brokers, configuration.Partitions = []string{log.Address()}, lifePartitions
	client, err := kafka.New(configuration, kafka.Dependencies{Report: report.Silent(), Dial: log.Dial, Epoch: log.Epoch()})
	if err != nil {
		return nil, nil, err
	}
	return log, client, client.EnsureTopics(ctx, []schema.Topic{schema.Accounts, schema.Transactions, schema.Contracts})
}

func inputFile(dir, topic string, partition int) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d", topic, partition))
}

// feedLife publishes what the log does not have yet.
func feedLife(ctx context.Context, client *kafka.Client, dir string, last uint32) error {
	for _, topic := range []schema.Topic{schema.Accounts, schema.Transactions} {
		for p := range lifePartitions {
			seal, err := client.LastSeal(ctx, topic.Name, p)
			if err != nil {
				return err
			}
			all, err := readInput(inputFile(dir, topic.Name, p))
			if err != nil {
				return err
			}
			var missing []*record.Record
			for _, r := range all {
				if r.McSeqno > seal.GetMcSeqno() && r.McSeqno <= last {
					missing = append(missing, r)
				}
			}
			if err := client.Publish(ctx, topic.Name, p, missing); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeInput(t testing.TB, dir string, steps []*step) {
	t.Helper()
	files := map[string]*bytes.Buffer{}
	for _, s := range steps {
		for p := range lifePartitions {
			accounts, transactions := s.records(p, lifePartitions)
			for topic, records := range map[string][]*record.Record{schema.Accounts.Name: accounts, schema.Transactions.Name: transactions} {
				name := inputFile(dir, topic, p)
				if files[name] == nil {
					files[name] = &bytes.Buffer{}
				}
				for _, r := range records {
					raw, err := r.MarshalVT()
					if err != nil {
						t.Fatal(err)
					}
					files[name].Write(binary.BigEndian.AppendUint32(nil, uint32(len(raw))))
					files[name].Write(raw)
				}
			}
		}
	}
	for name, content := range files {
		if err := os.WriteFile(name, content.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func readInput(name string) (all []*record.Record, err error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for len(raw) > 0 {
		n := binary.BigEndian.Uint32(raw)
		r := &record.Record{}
		if err := r.UnmarshalVT(raw[4 : 4+n]); err != nil {
			return nil, err
		}
		all, raw = append(all, r), raw[4+n:]
	}
	return all, nil
}

// undisturbed is what the bundles must give, by partition.
func undisturbed(t testing.TB, steps []*step) [][]byte {
	t.Helper()
	d := newDesk(t, t.TempDir())
	all := make([][]byte, lifePartitions)
	for _, s := range steps {
		for p, records := range d.run(s.bundle()).Records {
			all[p] = append(all[p], encoded(t, records)...)
		}
		d.commit()
	}
	return all
}

func encoded(t testing.TB, records []*record.Record) (all []byte) {
	t.Helper()
	for _, r := range records {
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw...)
	}
	return all
}

func TestKillsEndInTheSameRecords(t *testing.T) {
	w := newTown(t, 40, 60)
	want := undisturbed(t, w.steps)
	for name, c := range map[string]struct {
		kills int
		store func(life int) string
	}{
		"of one member":                        {20, func(int) string { return "store" }},
		"of members with folders of their own": {20, func(life int) string { return fmt.Sprintf("store-%d", life) }},
		"of two members that change places":    {6, func(life int) string { return fmt.Sprintf("store-%d", life%2) }},
	} {
		t.Run(name, func(t *testing.T) { kill(t, c.kills, w.steps, want, c.store) })
	}
}

// kill lets processes work on the bundles that are killed, one after the other.
func kill(t *testing.T, kills int, steps []*step, want [][]byte, store func(life int) string) {
	t.Helper()
	dir := t.TempDir()
	writeInput(t, dir, steps)
	last := len(steps)
	killed := 0
	for number := 0; ; number++ {
		// A few bundles more for every life, so that each has something to do.
		until := min(last, 2+number*last/kills)
		ended := oneLife(t, dir, until, store(number), killed < kills)
		if !ended {
			killed++
		}
		if ended && until == last {
			break
		}
	}
	log, client, err := openLog(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Stop(t.Context())
	defer client.Close()
	for p, records := range topictest.Read(t, client, schema.Contracts, uint32(last)) {
		if got := encoded(t, records); !bytes.Equal(got, want[p]) {
			t.Errorf("partition %d: %d bytes in %d records differ from the %d of a run without kills", p, len(got), len(records), len(want[p]))
		}
	}
	t.Logf("%d kills over %d bundles", killed, last)
	if killed < kills {
		t.Errorf("%d kills, want %d", killed, kills)
	}
}

// oneLife runs a process, and kills it some time after it has begun to work.
func oneLife(t *testing.T, dir string, until int, store string, kill bool) (ended bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", lifeCommand, dir, strconv.Itoa(until), store)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if lines.Scan() && kill {
		if !strings.HasPrefix(lines.Text(), "bundle ") {
			t.Fatalf("the process says %q", lines.Text())
		}
		time.Sleep(rand.N(8 * time.Millisecond)) // somewhere in its work
		cmd.Process.Kill()
	}
	if _, err := io.Copy(io.Discard, out); err != nil && !errors.Is(err, os.ErrClosed) {
		t.Fatal(err)
	}
	err = cmd.Wait()
	if exit, is := errors.AsType[*exec.ExitError](err); is && exit.ExitCode() == -1 {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return true
}
