package bench

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/spf13/cobra"

	"tonscribe/bench/streams"
	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/internal/descriptors"
	"tonscribe/query/live"
)

// streamDefaults are a chain as fast as the main network.
var streamDefaults = map[string]string{"tps": "100", "interval": "400ms"}

// streamRun says how streams are measured.
type streamRun struct {
	connections, addresses int
	sockets, active        float64
	blocks, warm           int
	stall, stallBusy       int
	sends                  int
}

func streamsCommand(d Dependencies) *cobra.Command {
	r := streamRun{connections: 10_000, addresses: 10, sockets: 0.5, active: 0.1, blocks: 75, warm: 50, sends: 30}
	cmd := &cobra.Command{
		Use:   "streams",
		Short: "Measure streams: how late events come, and what many streams cost",
		Long: `Measure streams: how late events come, and what many streams cost.

A devnet and all stages run in this process, as with 'tonscribe up'; the clients are a
process of their own. Time counts from the moment when the devnet has stored a
masterchain block until a client has read an event of it. At the end what each
stream received is compared, event by event, with the transactions and actions that
the v3 layer has. Without --data everything is in a temporary folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.validate(); err != nil {
				return err
			}
			all := r.connections + r.stall + otherConnections
			if got := descriptors.Share(all, descriptors.HTTP); got < all {
				if err := descriptors.Raise(descriptors.HTTP * all); err != nil {
					return err
				}
			}
			return d.watch(cmd, streamDefaults, all, func(ctx context.Context, l Live) error {
				return l.streams(ctx, outputOf(cmd), r)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&r.connections, "connections", r.connections, "`NUMBER` of streams")
	f.IntVar(&r.addresses, "addresses", r.addresses, "`NUMBER` of addresses that each names")
	f.Float64Var(&r.sockets, "sockets", r.sockets, "`PART` of the streams that are WebSockets; the others are streams of events")
	f.Float64Var(&r.active, "active", r.active, "`PART` of the addresses that are of accounts with transactions; nothing happens to the others")
	f.IntVar(&r.blocks, "blocks", r.blocks, "`NUMBER` of masterchain blocks to measure")
	f.IntVar(&r.warm, "warm-up", r.warm, "`NUMBER` of masterchain blocks before that; the last half of them is measured without streams")
	f.IntVar(&r.stall, "stall", r.stall, "`NUMBER` of further streams that stop reading, again and again, while as many blocks are measured once more")
	f.IntVar(&r.stallBusy, "stall-busy", r.stallBusy, "`NUMBER` of accounts with transactions that each of those names; 0: what the others name")
	f.IntVar(&r.sends, "sends", r.sends, "`NUMBER` of messages that are sent, to measure when what they will do is told")
	d.addLiveFlags(cmd)
	cmd.AddCommand(&cobra.Command{
		Use: "clients", Short: "The process of clients", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return streams.Run(cmd.Context(), bufio.NewReader(cmd.InOrStdin()), cmd.OutOrStdout())
		},
	})
	return cmd
}

// otherConnections is how many connections there may be besides the streams that are
// measured and those that stall.
const otherConnections = 500

func (r streamRun) validate() error {
	switch {
	case r.connections < 1 || r.addresses < 1 || r.blocks < 1 || r.warm < 2 || r.stall < 0 || r.stallBusy < 0 || r.sends < 0:
		return fmt.Errorf("--connections %d, --addresses %d, --blocks %d, --warm-up %d, --stall %d, --stall-busy %d, --sends %d: want 1, 1, 1, 2, 0, 0 and 0 at least",
			r.connections, r.addresses, r.blocks, r.warm, r.stall, r.stallBusy, r.sends)
	case !(r.sockets >= 0 && r.sockets <= 1) || !(r.active >= 0 && r.active <= 1):
		return fmt.Errorf("--sockets %v, --active %v: want parts from 0 to 1", r.sockets, r.active)
	}
	return nil
}

// phase is a row of masterchain blocks that are measured together.
type phase struct {
	name        string
	first, last uint32
	blocks      int
	processor   time.Duration // of this process
}

// streams measures and prints.
func (l Live) streams(ctx context.Context, out *output, r streamRun) error {
	produced := map[uint32]time.Time{}
	run := func(name string, blocks int) (phase, error) {
		p := phase{name: name, blocks: blocks}
		began := processorOfSelf()
		for range blocks {
			b, err := l.next(ctx)
			if err != nil {
				return p, err
			}
			if produced[b.Seqno] = b.At; p.first == 0 {
				p.first = b.Seqno
			}
			p.last = b.Seqno
		}
		p.processor = processorOfSelf() - began
		return p, nil
	}
	if _, err := run("warm-up", r.warm-r.warm/2); err != nil {
		return err
	}
	without, err := run("without streams", r.warm/2)
	if err != nil {
		return err
	}
	memoryWithout := memoryOfSelf()
	server := strings.TrimPrefix(l.API, "http://")
	if _, err := l.seen(ctx, without.last); err != nil {
		return err
	}
	index, err := streams.ReadIndex(ctx, server, l.Key, max(without.last, busyBundles)-busyBundles, without.last)
	if err != nil {
		return err
	}
	plan := r.plan(index.Busy())
	plan.Server, plan.Key = server, l.Key
	program, err := os.Executable()
	if err != nil {
		return err
	}
	opening := time.Now()
	clients, err := streams.Start(exec.CommandContext(ctx, program, "bench", "streams", "clients"), plan)
	if err != nil {
		return err
	}
	defer clients.Kill()
	opened := time.Since(opening)
	for len(l.Produced) > 0 { // those that were made meanwhile
		if _, err := l.next(ctx); err != nil {
			return err
		}
	}
	if _, err := run("settling", settlingBlocks); err != nil {
		return err
	}
	forgetPeakMemory()
	sent := make(chan sends, 1)
	go func() { sent <- l.sends(ctx, r.sends) }()
	phases := make([]phase, 1, 2)
	if phases[0], err = run("", r.blocks); err != nil {
		return err
	}
	memoryWith := memoryOfSelf()
	emulated := <-sent
	if emulated.err != nil {
		return emulated.err
	}
	if r.stall > 0 {
		if err := clients.Stall(); err != nil {
			return err
		}
		with, err := run("while some stall ", r.blocks)
		if err != nil {
			return err
		}
		phases = append(phases, with)
	}
	memoryAtEnd := memoryOfSelf()
	last := phases[len(phases)-1].last
	if _, err := l.seen(ctx, last); err != nil {
		return err
	}
	if _, err := run("the rest", settlingBlocks); err != nil { // what is later than that counts as lost
		return err
	}
	received, err := clients.End()
	if err != nil {
		return err
	}
	if index, err = streams.ReadIndex(ctx, server, l.Key, without.last, last); err != nil {
		return err
	}
	out.head("figure", "value", "unit")
	out.figure("streams", float64(r.connections), "streams", len(plan.Accounts))
	out.figure("opening all", opened.Seconds(), "s", len(plan.Streams))
	compared := r.compare(out, plan, index, received)
	out.head("figure", "value", "unit")
	events := make([]int, len(phases))
	for i, p := range phases {
		latencies := latenciesOf(received[:r.connections], p, produced)
		if events[i] = len(latencies); events[i] == 0 {
			return errors.Join(compared, errors.New("no event came: there is nothing to measure"))
		}
		out.times(p.name+"produced to received", latencies)
		out.figure(p.name+"events", float64(events[i])/float64(p.blocks), "1/bundle", events[i])
	}
	if len(emulated.all) > 0 {
		out.times("sent to emulated", emulated.all)
	}
	each := func(p phase) float64 { return float64(p.processor.Microseconds()) / 1000 / float64(p.blocks) }
	out.figure("processor of tonscribe without streams", each(without), "ms/bundle", without.blocks)
	out.figure("processor of tonscribe with streams", each(phases[0]), "ms/bundle", phases[0].blocks)
	out.figure("processor of an event", (each(phases[0])-each(without))*1000*float64(phases[0].blocks)/float64(events[0]), "µs", events[0])
	memoryWithout.print(out, "without streams", 1)
	memoryWith.print(out, "with streams", len(plan.Streams))
	out.figure("memory of a stream", (memoryWith.resident-memoryWithout.resident)*1024/float64(len(plan.Streams)), "KiB", len(plan.Streams))
	if r.stall > 0 {
		memoryAtEnd.print(out, "while some stall", len(plan.Streams))
	}
	out.figure("peak memory of tonscribe", float64(peakMemory(os.Getpid()))/(1<<20), "MiB", 1)
	return errors.Join(out.err, compared)
}

const (
	// busyBundles is how many bundles the accounts are taken from that something
	// happens to.
	busyBundles = 50
	// settlingBlocks is how many blocks are not measured when something has changed.
	settlingBlocks = 10
)

// plan chooses what streams name: of the busy accounts, and others that nobody has.
func (r streamRun) plan(busy []string) streams.Plan {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // it is to be the same each time
	p := streams.Plan{Accounts: slices.Clone(busy)}
	for range r.connections {
		p.Accounts = append(p.Accounts, fmt.Sprintf("0:%016X%016X%032X", random.Uint64(), random.Uint64(), 0))
	}
	for i := range r.connections + r.stall {
		s := streams.Stream{Socket: random.Float64() < r.sockets, Stalls: i >= r.connections}
		chosen := map[int32]bool{}
		wanted, active := r.addresses, r.active
		if s.Stalls && r.stallBusy > 0 {
			wanted, active = min(r.stallBusy, len(busy)), 1
		}
		for len(chosen) < wanted {
			n := int32(len(busy) + random.IntN(r.connections))
			if len(busy) > 0 && random.Float64() < active {
				n = int32(random.IntN(len(busy)))
			}
			if !chosen[n] {
				chosen[n] = true
				s.Accounts = append(s.Accounts, n)
			}
		}
		p.Streams = append(p.Streams, s)
	}
	return p
}

// latenciesOf are the times from blocks of a phase to their events.
func latenciesOf(received []streams.Received, p phase, produced map[uint32]time.Time) (all []time.Duration) {
	for _, s := range received {
		for _, e := range s.Events {
			if e.Position.MCSeqno >= p.first && e.Position.MCSeqno <= p.last {
				all = append(all, time.Unix(0, e.At).Sub(produced[e.Position.MCSeqno]))
			}
		}
	}
	return all
}

// compare holds what all streams received against the index.
func (r streamRun) compare(out *output, plan streams.Plan, index *streams.Index, received []streams.Received) error {
	var all, stalled streams.Difference
	var compared, comparedStalled, told, cut, moved int
	var failed error
	reasons := map[string]int{}
	for i, s := range plan.Streams {
		got := received[i]
		var accounts []string
		for _, n := range s.Accounts {
			accounts = append(accounts, plan.Accounts[n])
		}
		if got.Err != "" && failed == nil {
			failed = fmt.Errorf("stream %d: %s", i, got.Err)
		}
		wanted := index.Wanted(accounts, got.Begun)
		if !s.Stalls {
			compared += all.Compare(got.Events, wanted, index.End())
			continue
		}
		if got.Why != "" {
			reasons[got.Why]++
		}
		told, cut, moved = told+got.Told, cut+got.Cut, moved+got.Moved
		if n := len(got.Events); n > 0 && got.Events[n-1].Position.Compare(index.End()) < 0 {
			comparedStalled += stalled.Compare(got.Events, wanted, got.Events[n-1].Position)
		} else {
			comparedStalled += stalled.Compare(got.Events, wanted, index.End())
		}
	}
	out.head("compared with the index", "events", "lost", "doubled", "foreign", "out of order")
	row := func(name string, n int, d streams.Difference) {
		cells := []string{name, grouped(int64(n))}
		figures := []figure{{name + " compared", float64(n), "events", n}}
		for _, f := range []struct {
			name  string
			value int
		}{{"lost", d.Lost}, {"doubled", d.Doubled}, {"foreign", d.Foreign}, {"out of order", d.Disordered}} {
			cells = append(cells, grouped(int64(f.value)))
			figures = append(figures, figure{name + " " + f.name, float64(f.value), "events", n})
		}
		out.row(cells, figures...)
	}
	row("streams that read", compared, all)
	if r.stall > 0 {
		row("streams that stalled", comparedStalled, stalled)
		out.head("figure", "value", "unit")
		out.figure("told to be slow", float64(told), "times", r.stall)
		out.figure("ended without being told", float64(cut), "times", r.stall)
		for _, why := range slices.Sorted(maps.Keys(reasons)) {
			out.note("%d times: %s", reasons[why], why)
		}
		out.figure("told another position than that of the last event", float64(moved), "times", r.stall)
	}
	if failed == nil && (all != streams.Difference{} || stalled != streams.Difference{}) {
		failed = errors.New("streams did not have what the index has")
	}
	return failed
}

// memory is what this process takes, in MiB.
type memory struct {
	resident, heap, stacks float64
	goroutines             int
}

func memoryOfSelf() memory {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return memory{
		resident: float64(statusOf(os.Getpid(), "VmRSS:")) / (1 << 20), goroutines: runtime.NumGoroutine(),
		heap: float64(samples[0].Value.Uint64()) / (1 << 20), stacks: float64(samples[1].Value.Uint64()) / (1 << 20),
	}
}

func (m memory) print(out *output, when string, n int) {
	out.figure("memory "+when, m.resident, "MiB", n)
	out.figure("objects of it "+when, m.heap, "MiB", n)
	out.figure("stacks of it "+when, m.stacks, "MiB", n)
	out.figure("goroutines "+when, float64(m.goroutines), "goroutines", n)
}

// sends are the times from sending messages until a stream tells what they will do.
type sends struct {
	all []time.Duration
	err error
}

// sendPause is the time between two messages: a wallet has its turn again when its last
// message is in a block.
const sendPause = 200 * time.Millisecond

// sends sends messages of the devnet's wallets.
func (l Live) sends(ctx context.Context, n int) (s sends) {
	if n == 0 {
		return s
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told, err := l.foreseen(ctx)
	if err != nil {
		return sends{err: err}
	}
	for i := range n {
		owner := devnet.OwnerOf(l.Seed, 1+i%(devnet.Owners-1))
		took, err := l.send(ctx, owner, told)
		if err != nil {
			return sends{err: err}
		}
		s.all = append(s.all, took)
		select {
		case <-time.After(sendPause):
		case <-ctx.Done():
			return sends{err: context.Cause(ctx)}
		}
	}
	return s
}

// pendingEvent is when a stream had what the message of an account will do.
type pendingEvent struct {
	account string
	at      time.Time
}

// foreseen opens a stream of what will happen to the wallets.
func (l Live) foreseen(ctx context.Context) (<-chan pendingEvent, error) {
	socket, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(l.API, "http")+live.Prefix+"/v2/ws?api_key="+l.Key, nil) //nolint:bodyclose // the library has closed it
	if err != nil {
		return nil, err
	}
	socket.SetReadLimit(16 << 20)
	wanted := struct {
		Operation string   `json:"operation"`
		Types     []string `json:"types"`
		Addresses []string `json:"addresses"`
		Min       string   `json:"min_finality"`
	}{Operation: "subscribe", Types: []string{"transactions"}, Min: "pending"}
	for i := 1; i < devnet.Owners; i++ {
		wanted.Addresses = append(wanted.Addresses, devnet.OwnerOf(l.Seed, i).Address(0).String())
	}
	raw, err := json.Marshal(wanted)
	if err == nil {
		err = socket.Write(ctx, websocket.MessageText, raw)
	}
	if err == nil {
		_, _, err = socket.Read(ctx) // the answer
	}
	if err != nil {
		return nil, err
	}
	told := make(chan pendingEvent, 64)
	go func() {
		defer close(told)
		for {
			_, raw, err := socket.Read(ctx)
			at := time.Now()
			var event struct {
				Finality     string
				Transactions []struct{ Account string }
			}
			if err != nil || json.Unmarshal(raw, &event) != nil {
				return
			}
			for _, tx := range event.Transactions {
				if event.Finality == "pending" {
					select {
					case told <- pendingEvent{tx.Account, at}:
					case <-ctx.Done():
						return
					}
				}
			}
		}
	}()
	return told, nil
}

// sendPatience is how long it may take until it is told what a message will do.
const sendPatience = 10 * time.Second

func (l Live) send(ctx context.Context, owner devnet.Owner, told <-chan pendingEvent) (time.Duration, error) {
	at := owner.Address(0)
	account := strings.ToUpper(at.StringRaw())
	a := &asker{base: l.API + "/api/v3", key: l.Key, client: http.DefaultClient}
	got, err := a.get(ctx, "/walletStates?address="+at.StringRaw())
	if err != nil {
		return 0, err
	}
	var states struct{ Wallets []struct{ Seqno uint32 } }
	if err := json.Unmarshal(got.body, &states); err != nil || len(states.Wallets) != 1 {
		return 0, fmt.Errorf("wallet %s: %w %s", account, err, got.body)
	}
	c, err := owner.External(0, owner.Key, contracts.Order{
		ValidUntil: uint32(time.Now().Unix()) + 3600, Seqno: states.Wallets[0].Seqno,
		Messages: []contracts.Message{{To: devnet.OwnerOf(l.Seed, 0).Address(0), Value: big.NewInt(1_000_000), Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors}},
	})
	if err != nil {
		return 0, err
	}
	for len(told) > 0 {
		<-told
	}
	began := time.Now()
	if err := l.post(ctx, "/api/v2/sendBoc", map[string]string{"boc": base64.StdEncoding.EncodeToString(c.ToBOC())}); err != nil {
		return 0, err
	}
	limit := time.After(sendPatience)
	for {
		select {
		case event, ok := <-told:
			switch {
			case !ok:
				return 0, errors.New("the stream of what is foreseen has ended")
			case event.account == account:
				return event.at.Sub(began), nil
			}
		case <-limit:
			return 0, fmt.Errorf("nobody told within %s what a message of %s will do", sendPatience, account)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

func (l Live) post(ctx context.Context, path string, body any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.API+path, strings.NewReader(string(raw)))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", l.Key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, answer.Status)
	}
	return nil
}
