// Package apiclients lets programs of other people use the API, unchanged but for
// its address, on a devnet of its own.
package apiclients

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	nodeaccess "tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/rows"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	"tonscribe/test/support/harness"
)

const (
	seed      = 11
	namespace = "ton"
)

// node is the API of a devnet, and what clients have to know of it.
type node struct {
	Base       string `json:"base"`
	Secret     string `json:"secret"` // 32 bytes, of a wallet v4r2 with money and jettons
	Wallet     string `json:"wallet"`
	Receiver   string `json:"receiver"`
	Jetton     string `json:"jetton"`
	Collection string `json:"collection"`

	// Sender is an account with transactions. Message is the wallet's first one,
	// which nobody has sent yet, Body what is in it.
	Sender  string `json:"sender"`
	Message string `json:"message"`
	Body    string `json:"body"`
}

// start begins a devnet with a little traffic.
func start(t *testing.T) *node {
	t.Helper()
	c := devnet.DefaultConfiguration()
	c.Dir, c.Seed, c.Interval, c.TPS = t.TempDir(), seed, 200*time.Millisecond, 5
	chain, err := devnet.New(c, devnet.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	if err := chain.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, chain.Stop) })
	configuration := v2.DefaultConfiguration()
	configuration.TypeNamespace = namespace
	configuration.Lite.Config = chain.ConfigPath()
	pool, err := lite.New(configuration.Lite, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, pool.Stop) })
	access, err := nodeaccess.New(configuration.Configuration, nodeaccess.Dependencies{Report: report.Silent(), Servers: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(access.Stop)
	owner, receiver := devnet.OwnerOf(seed, 1), devnet.OwnerOf(seed, 4)
	message, body := transfer(t, owner, receiver)
	n := &node{
		Base: serve(t, access), Secret: hex.EncodeToString(owner.Key.Seed()), Wallet: owner.Address(0).String(), Receiver: receiver.Address(0).String(),
		Jetton: devnet.OwnersJetton(seed).Address(0).String(), Collection: devnet.OwnersCollection(seed).Address(0).String(),
		Sender: devnet.OwnerOf(seed, 0).Address(0).String(), Message: message, Body: body,
	}
	for _, token := range []string{n.Jetton, n.Collection} {
		n.await(t, token)
	}
	return n
}

// await returns when a token stands on the chain.
func (n *node) await(t *testing.T, token string) {
	t.Helper()
	for {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.Base+v2.Prefix+"/getTokenData?address="+token, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return
		}
		time.Sleep(50 * time.Millisecond) // until a block has it
	}
}

// transfer is the owner's first message, and its body.
func transfer(t *testing.T, from, to devnet.Owner) (message, body string) {
	t.Helper()
	c, err := from.External(0, from.Key, contracts.Order{
		ValidUntil: uint32(time.Now().Unix()) + 3600,
		Messages:   []contracts.Message{{To: to.Address(0), Value: big.NewInt(100_000_000), Mode: contracts.ModePayFees}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var parsed tlb.Message
	if err := tlb.Parse(&parsed, c); err != nil {
		t.Fatal(err)
	}
	encode := base64.StdEncoding.EncodeToString
	return encode(c.ToBOC()), encode(parsed.AsExternalIn().Body.ToBOC())
}

func serve(t *testing.T, access *nodeaccess.Node) string {
	api, err := v2.New(namespace, access, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.HandleMethodNotAllowed = true
	router.NoRoute(func(c *gin.Context) { v2.NotFound(c.Writer) })
	router.NoMethod(func(c *gin.Context) { v2.BadMethod(c.Writer, c.Request) })
	api.Mount(router)
	v3.New(endpoints.All, rows.Reader{}, v3.Options{Timeout: time.Second, Node: access}, report.Silent()).Mount(router) // what it has no need of the index for
	site, err := openapi.NewSite(v2.Describe(namespace, nil), v3.Describe(endpoints.All, nil))
	if err != nil {
		t.Fatal(err)
	}
	site.Mount(router)
	server := httptest.NewServer(http.Handler(router))
	t.Cleanup(server.Close)
	return harness.Described(t, server.URL)
}

func stop(t *testing.T, end func(context.Context) error) {
	if err := end(context.Background()); err != nil {
		t.Error(err)
	}
}

// input is what scripts read.
func (n *node) input(t *testing.T) []byte {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
