package up

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
)

// mastersAnswer is what the API says of jetton masters.
type mastersAnswer struct {
	Masters []struct {
		Address string `json:"address"`
	} `json:"jetton_masters"`
	Metadata map[string]struct {
		IsIndexed bool             `json:"is_indexed"`
		TokenInfo []map[string]any `json:"token_info"`
	} `json:"metadata"`
}

// send hands a message to the network as a client would.
func send(t *testing.T, base, data string, boc []byte) {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	body := fmt.Sprintf(`{"boc":%q}`, base64.StdEncoding.EncodeToString(boc))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/v2/sendBoc", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-API-Key", strings.TrimSpace(string(key)))
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("sendBoc: %s", answer.Status)
	}
}

// mastersOf are jetton masters with these contents.
func mastersOf(owner devnet.Owner, contents map[string]string) (masters map[string]contracts.JettonMinter) {
	masters = map[string]contracts.JettonMinter{
		"semi-chain": {Admin: owner.Address(0), Content: contracts.OnchainContent(map[string]string{"uri": contents["semi-chain"], "symbol": "GEM", "decimals": "6"})},
	}
	for _, name := range []string{"off-chain", "missing"} {
		masters[name] = contracts.JettonMinter{Admin: owner.Address(0), Content: contracts.OffchainContent(contents[name])}
	}
	return masters
}

// A wallet deploys jettons whose names are in documents; the names arrive in the
// API.
func TestNamesInDocumentsArriveInTheMetadataOfJettonMasters(t *testing.T) {
	gate := make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-gate
		switch r.URL.Path {
		case "/gem.json":
			fmt.Fprint(w, `{"name":"Gem of the net","symbol":"WRONG","decimals":9,"description":"Cut & polished","image":"https://a.example/gem.png","social":["a","b"]}`)
		case "/coin.json":
			fmt.Fprint(w, `{"name":"Coin","symbol":"COIN","decimals":2}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	release := sync.OnceFunc(func() { close(gate) })
	defer release()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	base := "http://" + listen
	p := harness.Start(t, []string{
		"TONSCRIBE_DEVNET_INTERVAL=200ms", "TONSCRIBE_METADATA_ENABLED=true", "TONSCRIBE_METADATA_ALLOW_NETWORKS=127.0.0.1/32", "TONSCRIBE_METADATA_POLL=100ms", "TONSCRIBE_METADATA_TIMEOUT=10m",
	}, "up", "--data", data, "--listen", listen, "--tps", "0")
	p.AwaitReady(base, 3*time.Minute)

	owner := devnet.OwnerOf(1, 1)
	masters := mastersOf(owner, map[string]string{"semi-chain": site.URL + "/gem.json", "off-chain": site.URL + "/coin.json", "missing": site.URL + "/missing.json"})
	order := contracts.Order{ValidUntil: uint32(time.Now().Add(time.Hour).Unix())}
	query := base + "/api/v3/jetton/masters?"
	raw := map[string]string{}
	for name, m := range masters {
		order.Messages = append(order.Messages, contracts.Message{
			To: m.Address(0), Value: big.NewInt(500_000_000), Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors, StateInit: m.StateInit(),
			Body: contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(1000), To: owner.Address(0), Value: big.NewInt(100_000_000), Response: owner.Address(0)}),
		})
		raw[name] = "0:" + strings.ToUpper(hex.EncodeToString(m.Address(0).Data()))
		query += "&address=" + raw[name]
	}
	message, err := owner.External(0, owner.Key, order)
	if err != nil {
		t.Fatal(err)
	}
	send(t, base, data, message.ToBOC())

	read := func() (a mastersAnswer) {
		harness.GetJSON(t, query, &a)
		return a
	}
	harness.Await(t, 3*time.Minute, func() bool { return len(read().Masters) == len(masters) }, func() string { return fmt.Sprintf("the API has %+v, want all jetton masters", read()) })
	check := func(when string, want map[string]string) {
		t.Helper()
		answer := read()
		for name, text := range want {
			got, err := json.Marshal(answer.Metadata[raw[name]])
			if err != nil || string(got) != text {
				t.Errorf("%s the metadata of the %s jetton is\n%s, want\n%s", when, name, got, text)
			}
		}
	}
	pending := `{"is_indexed":false,"token_info":[{"type":"jetton_masters"}]}`
	check("before the documents are there", map[string]string{"semi-chain": pending, "off-chain": pending, "missing": pending})

	release()
	harness.Await(t, 3*time.Minute, func() bool {
		for _, m := range read().Metadata {
			if !m.IsIndexed {
				return false
			}
		}
		return true
	}, func() string { return fmt.Sprintf("not all documents arrived: %+v", read().Metadata) })
	check("with the documents", map[string]string{
		"semi-chain": `{"is_indexed":true,"token_info":[{"description":"Cut \u0026 polished","extra":{"decimals":"6","social":["a","b"],"uri":"` + site.URL + `/gem.json"},"image":"https://a.example/gem.png","is_nsfw":false,"is_scam":false,"name":"Gem of the net","symbol":"GEM","type":"jetton_masters","valid":true}]}`,
		"off-chain":  `{"is_indexed":true,"token_info":[{"extra":{"decimals":"2","uri":"` + site.URL + `/coin.json"},"is_nsfw":false,"is_scam":false,"name":"Coin","symbol":"COIN","type":"jetton_masters","valid":true}]}`,
		"missing":    `{"is_indexed":true,"token_info":[{"type":"jetton_masters","valid":false}]}`,
	})
	p.Stop()
}
