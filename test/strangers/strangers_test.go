// Package strangers attacks a running `up` with what anybody may send, all at
// once, while a bystander asks what bystanders ask. Each attack is a value in
// the list below; a new one is a file with its attack and a line there.
package strangers

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// attacks are fired at once, each by several strangers.
var attacks = []attack{
	estimateBomb, estimateSpelt, estimateV3, estimateBuilder, sendBombs, deployBomb, hangingUp,
	nestedArguments, nestedPairs, unfolded,
	tokenDictionary, nameDictionary, endlessMethod,
	halfBodies, slowReaders, heavyRequests,
}

// attack is one kind of request that must end, and leave the others alone.
type attack struct {
	name string
	// strangers is how many fire at once; each begins anew when its shot ended.
	strangers int
	// prepare makes the shot, once per test. A shot ends with ctx.
	prepare func(t *testing.T, at *target) shot
}

// shot sends one attack and returns what is wrong with the answer. What happens
// after ctx has ended is no error: the stranger went away.
type shot func(ctx context.Context) error

// target is the server that is attacked.
type target struct {
	base, data string
	key        string // of strangers
	another    string // of bystanders
	client     *http.Client
}

// bystanderAddress is where a bystander connects from.
const bystanderAddress = "127.0.0.2"

// from is the same server for a client with an address and a key of its own.
func (at *target) from(host string) *target {
	other := *at
	other.key = at.another
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	other.client = &http.Client{Timeout: at.client.Timeout, Transport: &http.Transport{DialContext: dialer.DialContext}}
	return &other
}

// post sends a JSON body with the owner's key, whose rate is not limited, and
// gives status and text of the answer.
func (at *target) post(ctx context.Context, path, body string) (int, string, error) {
	return at.do(ctx, http.MethodPost, path, strings.NewReader(body))
}

// get is post without a body.
func (at *target) get(ctx context.Context, path string) (int, string, error) {
	return at.do(ctx, http.MethodGet, path, nil)
}

func (at *target) do(ctx context.Context, method, path string, body io.Reader) (int, string, error) {
	request, err := http.NewRequestWithContext(ctx, method, at.base+path, body)
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("X-API-Key", at.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := at.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<20))
	return answer.StatusCode, string(text), err
}

// start runs an `up` on a devnet and gives it as a target.
func start(t *testing.T) (*harness.Process, *target) {
	t.Helper()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--tps", "5")
	at := &target{base: "http://" + listen, data: data, client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	p.AwaitReady(at.base, 2*time.Minute)
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	at.key = strings.TrimSpace(string(key))
	made, err := exec.Command(harness.Binary(t), "keys", "add", "bystander", "--rate", "0", "--data", data).Output()
	if err != nil {
		t.Fatalf("keys add: %v", err)
	}
	at.another = strings.TrimSpace(string(made))
	harness.Await(t, 2*time.Minute, func() bool {
		status, _, _ := at.from(bystanderAddress).get(t.Context(), "/api/v3/masterchainInfo")
		return status == http.StatusOK
	}, func() string { return "the bystander's key is not known" })
	return p, at
}

// limits are what the attacks may cost. The short form shares its machine with
// all other tests, and only the order of magnitude is asked for.
type limits struct {
	attacking time.Duration
	median    time.Duration
	p99       time.Duration
	settled   time.Duration // when requests whose clients went use no CPU any more
}

const (
	memoryLimit = 1 << 30
	// settled is when a request that has ended must use no CPU any more.
	settled = time.Second
	// measured is how long CPU is looked at.
	measured = 3 * time.Second
	// betweenShots is what a stranger waits. Without it the two dozen would measure
	// how many cores there are, not whether a request goes beyond its share.
	betweenShots = 100 * time.Millisecond
	// moreCPU is what the process may use beyond what it used before, in seconds per second.
	moreCPU = 0.4
)

func limitsOf() limits {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return limits{time.Minute, 50 * time.Millisecond, 100 * time.Millisecond, settled}
	}
	return limits{10 * time.Second, 2 * time.Second, 5 * time.Second, 10 * settled}
}

func TestABystanderIsServedWhileStrangersAttackAndNothingIsLeftOfThem(t *testing.T) {
	limits := limitsOf()
	p, at := start(t)
	idle := cpuPerSecond(t, p.PID(), measured)

	leftAlone(t, p, at, idle, limits)

	shots := make([]shot, len(attacks))
	for i, a := range attacks {
		shots[i] = a.prepare(t, at)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limits.attacking)
	defer cancel()
	var fired sync.Map // name → count
	var group sync.WaitGroup
	for i, a := range attacks {
		for range a.strangers {
			group.Go(func() {
				n := 0
				for ; ctx.Err() == nil; n++ {
					if err := shots[i](ctx); err != nil && ctx.Err() == nil {
						t.Errorf("%s: %v", a.name, err)
						break
					}
					select {
					case <-ctx.Done():
					case <-time.After(betweenShots):
					}
				}
				before, _ := fired.LoadOrStore(a.name, new(counter))
				before.(*counter).add(n)
			})
		}
	}
	var memory int64
	group.Go(func() {
		for ctx.Err() == nil {
			memory = max(memory, memoryOf(p.PID()))
			time.Sleep(100 * time.Millisecond)
		}
	})
	answers := bystander(ctx, t, at.from(bystanderAddress))
	group.Wait()

	after := settles(t, p, idle, limits, measured)
	median, p99 := quantile(answers, 0.5), quantile(answers, 0.99)
	fired.Range(func(name, n any) bool {
		t.Logf("%s: %d shots", name, n.(*counter).n)
		return true
	})
	t.Logf("%d requests of a bystander, median %s, p99 %s, at most %s; memory without ClickHouse at most %d MiB; CPU before %.2f, after %.2f s/s",
		len(answers), median, p99, quantile(answers, 1), memory>>20, idle, after)
	if len(answers) == 0 || median > limits.median || p99 > limits.p99 {
		t.Errorf("%d answers for a bystander: median %s, p99 %s, want at most %s and %s", len(answers), median, p99, limits.median, limits.p99)
	}
	if memory > memoryLimit {
		t.Errorf("memory without ClickHouse is %d MiB, want at most %d", memory>>20, memoryLimit>>20)
	}
	if after > idle+moreCPU {
		t.Errorf("CPU %.2f s/s after the attacks, %.2f before, want at most %.2f more", after, idle, moreCPU)
	}
	head := at.seqno(t)
	harness.Await(t, 2*time.Minute, func() bool { return at.seqno(t) > head }, func() string { return fmt.Sprintf("the chain stands at %d", head) })
	p.Stop()
}

// leftAlone asks for what takes long and goes away at once; a second later, or ten
// on a machine with other tests, nothing may work on that.
func leftAlone(t *testing.T, p *harness.Process, at *target, idle float64, limits limits) {
	t.Helper()
	endless := deployedEndless(t, at)
	message := strconv.Quote(base64Of(empty))
	for _, c := range []struct{ path, body string }{
		{"/api/v2/estimateFee", bombBody()},
		{"/api/v2/estimateFee", `{"address":"` + endless + `","body":` + message + `}`},
		{"/api/v3/runGetMethod", `{"address":"` + endless + `","method":"x","stack":[]}`},
	} {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
				defer cancel()
				_, _, _ = at.post(ctx, c.path, c.body) // nobody waits for it
			})
		}
		group.Wait()
		if after := settles(t, p, idle, limits, time.Second); after > idle+moreCPU {
			t.Errorf("%s %.60s: CPU %.2f s/s %s after its clients went, %.2f before, want at most %.2f more", c.path, c.body, after, limits.settled, idle, moreCPU)
		}
	}
}

// settles waits until what strangers left is done, as long as that may take, and returns
// what is used then, looked at for some time, in seconds per second.
func settles(t *testing.T, p *harness.Process, idle float64, limits limits, while time.Duration) (after float64) {
	t.Helper()
	time.Sleep(settled)
	after = cpuPerSecond(t, p.PID(), while)
	for late := settled; after > idle+moreCPU && late < limits.settled; late += while {
		after = cpuPerSecond(t, p.PID(), while)
	}
	return after
}

// bystander asks for the newest transactions again and again, and returns how
// long each answer took.
func bystander(ctx context.Context, t *testing.T, at *target) []time.Duration {
	var answers []time.Duration
	for ctx.Err() == nil {
		begun := time.Now()
		status, text, err := at.get(t.Context(), "/api/v3/transactions?limit=10")
		if err != nil || status != http.StatusOK {
			t.Errorf("a bystander is answered %d %.200s (%v)", status, text, err)
			return answers
		}
		answers = append(answers, time.Since(begun))
		time.Sleep(20 * time.Millisecond)
	}
	return answers
}

type counter struct {
	sync.Mutex
	n int
}

func (c *counter) add(n int) {
	c.Lock()
	defer c.Unlock()
	c.n += n
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))].Round(100 * time.Microsecond)
}

func (at *target) seqno(t *testing.T) uint32 {
	t.Helper()
	var info struct {
		Last struct {
			Seqno uint32 `json:"seqno"`
		} `json:"last"`
	}
	harness.GetJSON(t, at.base+"/api/v3/masterchainInfo", &info)
	return info.Last.Seqno
}
