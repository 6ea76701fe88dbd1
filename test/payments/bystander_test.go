package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/devnet"
	"tonscribe/test/support/harness"
)

// customer is a merchant of the shop's tonscribe who is just a key.
type customer struct {
	base, key string
	client    *http.Client
}

// another makes one more merchant, who has a client address of his own.
func (s *shop) another(name, address string) *customer {
	s.Helper()
	out, err := exec.CommandContext(s.Context(), harness.Binary(s), "merchants", "add", name, "--json", "--data", s.data).Output()
	if err != nil {
		s.Fatalf("merchants add: %v", err)
	}
	var added struct{ Key string }
	if err := json.Unmarshal(out, &added); err != nil {
		s.Fatal(err)
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &customer{s.base, added.Key, &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: dialer.DialContext}}}
}

// send returns the status and the body of the answer.
func (c *customer) send(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+"/api/merchant/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("X-Api-Key", c.key)
	request.Header.Set("Content-Type", "application/json")
	answer, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}

// assault is something that a stranger, or a merchant who is one to the others, sends again and
// again; refused are the statuses that it must get.
type assault struct {
	name    string
	shoot   func(ctx context.Context, thief *customer, n int) (status int, err error)
	refused []int
}

// assaultsOn are those on a payment of somebody else.
func assaultsOn(of made) []assault {
	status := func(code int, _ []byte, err error) (int, error) { return code, err }
	stranger := func(thief *customer, n int) *customer {
		return &customer{thief.base, "mk_" + fmt.Sprintf("%064x", n), thief.client}
	}
	deep := []byte(strings.Repeat(`{"amount":`, 6000))
	wide := []byte(`{"amount":1,"asset":"TON","senderAddr":"` + strings.Repeat("x", 60_000) + `"}`)
	endless := bytes.Repeat([]byte("["), 1<<20)
	return []assault{
		{"bodies that are deep", func(ctx context.Context, thief *customer, _ int) (int, error) {
			return status(thief.send(ctx, http.MethodPost, "create-transfer", deep))
		}, []int{http.StatusBadRequest, http.StatusTooManyRequests}},
		{"bodies with long texts", func(ctx context.Context, thief *customer, _ int) (int, error) {
			return status(thief.send(ctx, http.MethodPost, "create-transfer", wide))
		}, []int{http.StatusBadRequest, http.StatusTooManyRequests}},
		{"bodies that are too large", func(ctx context.Context, thief *customer, _ int) (int, error) {
			code, _, err := thief.send(ctx, http.MethodPost, "create-transfer", endless)
			if err != nil && ctx.Err() == nil { // the connection was closed before all of it was sent
				return http.StatusRequestEntityTooLarge, nil
			}
			return code, err
		}, []int{http.StatusRequestEntityTooLarge, http.StatusTooManyRequests}},
		{"keys that are nobody's", func(ctx context.Context, thief *customer, n int) (int, error) {
			return status(stranger(thief, n).send(ctx, http.MethodGet, "transfers", nil))
		}, []int{http.StatusUnauthorized, http.StatusServiceUnavailable}},
		{"somebody else's payment", func(ctx context.Context, thief *customer, _ int) (int, error) {
			return status(thief.send(ctx, http.MethodGet, "transfer?reference="+of.Reference, nil))
		}, []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{"hashes that are nobody's", func(ctx context.Context, thief *customer, n int) (int, error) {
			return status(stranger(thief, n).send(ctx, http.MethodGet, fmt.Sprintf("transfer?bodyHash=%064x", n), nil))
		}, []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{"events of others", func(ctx context.Context, thief *customer, n int) (int, error) {
			return status(thief.send(ctx, http.MethodPost, fmt.Sprintf("deliveries/evt_%032x/redeliver", n), []byte("{}")))
		}, []int{http.StatusNotFound, http.StatusTooManyRequests}},
		{"one endpoint after another", func(ctx context.Context, thief *customer, n int) (int, error) {
			return status(thief.send(ctx, http.MethodPut, "webhook", fmt.Appendf(nil, `{"url":"https://many.example/%d","enabled":true}`, n)))
		}, []int{http.StatusOK, http.StatusTooManyRequests}},
	}
}

// attack is that of everybody at once.
type attack struct {
	group sync.WaitGroup
	mutex sync.Mutex
	shots map[string]int
}

// begin lets everybody attack until ctx ends, and complains of what gets through.
func begin(ctx context.Context, t testing.TB, thief *customer, assaults []assault, each int) *attack {
	at := &attack{shots: map[string]int{}}
	for _, a := range assaults {
		for stranger := range each {
			at.group.Go(func() {
				for n := stranger; ctx.Err() == nil; n += each {
					status, err := a.shoot(ctx, thief, n)
					if ctx.Err() != nil {
						return
					}
					if err != nil || !slices.Contains(a.refused, status) {
						t.Errorf("%s: %d (%v), want one of %v", a.name, status, err, a.refused)
						return
					}
					at.mutex.Lock()
					at.shots[a.name]++
					at.mutex.Unlock()
				}
			})
		}
	}
	return at
}

// kinds is how many of the assaults were fired.
func (at *attack) kinds() int {
	at.mutex.Lock()
	defer at.mutex.Unlock()
	return len(at.shots)
}

// manyEndpoints gives one host 10,000 endpoints of as many merchants.
func (s *shop) manyEndpoints() {
	s.Helper()
	options, err := clickhouse.ParseDSN(harness.ReadRunFile(s, s.data).ClickHouse)
	if err != nil {
		s.Fatal(err)
	}
	connection, err := clickhouse.Open(options)
	if err != nil {
		s.Fatal(err)
	}
	defer connection.Close()
	for _, statement := range []string{
		`INSERT INTO merchants (merchant, name, token_hash, created, changed)
			SELECT toFixedString(substring(SHA256(toString(number)), 1, 16), 16), concat('many ', toString(number)), SHA256(concat('t', toString(number))), now64(6), toUnixTimestamp64Micro(now64(6)) FROM numbers(10000)`,
		`INSERT INTO merchant_endpoints (merchant, url, enabled, signing, changed)
			SELECT toFixedString(substring(SHA256(toString(number)), 1, 16), 16), concat('https://many.example/', toString(number)), true, 'secret', toUnixTimestamp64Micro(now64(6)) FROM numbers(10000)`,
	} {
		if err := connection.Exec(s.Context(), statement); err != nil {
			s.Fatal(err)
		}
	}
}

// errands are what a shop asks of the API on an ordinary day.
func (s *shop) errands(c *customer) map[string]func(context.Context) error {
	s.Helper()
	order := func(asset string) []byte {
		return fmt.Appendf(nil, `{"amount":1,"asset":%q,"senderAddr":%q,"recipientAddr":%q}`, asset, s.payer.Address(0).String(), s.recipient)
	}
	good := func(status int, text []byte, err error) error {
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d %s", status, text)
		}
		return err
	}
	status, text, err := c.send(s.Context(), http.MethodPost, "create-transfer", order("TON"))
	var own made
	if err := good(status, text, err); err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal(text, &own); err != nil {
		s.Fatal(err)
	}
	jetton := devnet.OwnersJetton(seed).Address(0).String()
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			return good(c.send(ctx, http.MethodPost, "create-transfer", order("TON")))
		},
		"create-jetton": func(ctx context.Context) error {
			return good(c.send(ctx, http.MethodPost, "create-transfer", order(jetton)))
		},
		"by-reference": func(ctx context.Context) error {
			return good(c.send(ctx, http.MethodGet, "transfer?reference="+own.Reference, nil))
		},
		"by-body": func(ctx context.Context) error {
			return good(c.send(ctx, http.MethodGet, "transfer?bodyHash="+url.QueryEscape(own.BodyBase64Hash), nil))
		},
	}
}

func TestAMerchantIsServedWhileStrangersAndOtherMerchantsAttack(t *testing.T) {
	rounds := 5
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		rounds = 300
	}
	s := open(t, time.Second)
	s.awaitJettons(devnet.OwnersJetton(seed).Address(0).String())
	victim := s.registers(map[string]any{"amount": 1, "asset": "TON"})[0]
	s.manyEndpoints()
	bystander, thief := s.another("bystander", "127.0.0.2"), s.another("thief", "127.0.0.3")
	errands := s.errands(bystander)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	assaults := assaultsOn(victim)
	at := begin(ctx, t, thief, assaults, 2)
	served := 0
	for round := 0; (round < rounds || at.kinds() < len(assaults)) && !t.Failed(); round++ {
		for name, errand := range errands {
			if err := errand(t.Context()); err != nil {
				t.Errorf("%s of a bystander: %v", name, err)
			}
			served++
		}
		time.Sleep(100 * time.Millisecond) // within the merchant's own limit
	}
	cancel()
	at.group.Wait()
	t.Logf("%d requests of a bystander beside %v", served, at.shots)
}

// BenchmarkMerchants is how long a merchant waits for each of his errands, alone and beside
// strangers and other merchants who attack, with 10,000 endpoints on one host in the tables.
func BenchmarkMerchants(b *testing.B) {
	s := open(b, time.Second)
	s.awaitJettons(devnet.OwnersJetton(seed).Address(0).String())
	victim := s.registers(map[string]any{"amount": 1, "asset": "TON"})[0]
	s.manyEndpoints()
	bystander, thief := s.another("bystander", "127.0.0.2"), s.another("thief", "127.0.0.3")
	errands := s.errands(bystander)
	for _, each := range []int{0, 2} {
		for _, name := range []string{"create", "create-jetton", "by-reference", "by-body"} {
			b.Run(fmt.Sprintf("%s/%d-strangers", name, each*len(assaultsOn(victim))), func(b *testing.B) {
				ctx, cancel := context.WithCancel(b.Context())
				at := begin(ctx, b, thief, assaultsOn(victim), each)
				var took []time.Duration
				for b.Loop() {
					began := time.Now()
					if err := errands[name](b.Context()); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(began))
					time.Sleep(100 * time.Millisecond) // within his own limits
				}
				cancel()
				at.group.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-p50")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "ms-p99")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
