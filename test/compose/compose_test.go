// Package compose proves that docker-compose.yml works: it starts the commands
// and environments that the file names, as local processes, with a local
// ClickHouse and a real Apache Kafka in the place of its engine containers.
package compose

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"tonscribe/internal/engine"
	"tonscribe/internal/engine/enginetest"
	"tonscribe/test/harness"
	kafkatest "tonscribe/test/kafka"
	"tonscribe/test/realdata"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// genesisBlocks are the blocks of mainnet's first 60 bundles: the folder has four
// more that no masterchain block up to 60 commits.
const genesisBlocks = 138

type service struct {
	Image       string            `yaml:"image"`
	Command     []string          `yaml:"command"`
	Environment map[string]string `yaml:"environment"`
	Healthcheck *struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	Volumes   []string       `yaml:"volumes"`
	DependsOn map[string]any `yaml:"depends_on"`
}

func readCompose(t *testing.T) map[string]service {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(harness.Root(), "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Services map[string]service `yaml:"services"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	return file.Services
}

var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?::([-?])([^}]*))?\}`)

// substitute fills ${NAME}, ${NAME:-default} and ${NAME:?message} as compose does.
func substitute(t *testing.T, text string, values map[string]string) string {
	t.Helper()
	return variable.ReplaceAllStringFunc(text, func(found string) string {
		parts := variable.FindStringSubmatch(found)
		if v, ok := values[parts[1]]; ok {
			return v
		}
		if parts[2] == "?" {
			t.Fatalf("%s: needs a value: %s", found, parts[3])
		}
		return parts[3]
	})
}

func TestEnvExampleSetsEveryVariableThatComposeDemands(t *testing.T) {
	example, err := os.ReadFile(filepath.Join(harness.Root(), "env.example"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(harness.Root(), "docker-compose.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range variable.FindAllStringSubmatch(string(text), -1) {
		if found[2] == "?" && !strings.Contains(string(example), found[1]+"=") {
			t.Errorf("docker-compose.yml demands %s, env.example does not name it", found[1])
		}
	}
}

func TestEveryServiceHasAPinnedImageAndAHealthCheck(t *testing.T) {
	for name, s := range readCompose(t) {
		image := substitute(t, s.Image, nil)
		if !strings.HasPrefix(image, "tonscribe:") && !regexp.MustCompile(`:\d+\.\d+\.\d+`).MatchString(image) {
			t.Errorf("service %s: image %q is not pinned to a version", name, image)
		}
		if s.Healthcheck == nil && name != "migrate" {
			t.Errorf("service %s has no health check", name)
		}
	}
}

func TestServicesOfComposeCarryBlocksToTheAPI(t *testing.T) {
	blocks := realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	brokers := kafkatest.Apache(t)
	tables := enginetest.ClickHouse(t)
	services := readCompose(t)
	values := map[string]string{"CLICKHOUSE_PASSWORD": "unused", "TONSCRIBE_SOURCE": "files:" + blocks}

	listen := map[string]string{}
	start := func(name string, more ...string) *harness.Process {
		t.Helper()
		s, ok := services[name]
		if !ok {
			t.Fatalf("docker-compose.yml has no service %s", name)
		}
		listen[name] = harness.FreeAddress(t)
		env := more
		for key, value := range s.Environment {
			value = substitute(t, value, values)
			switch {
			case key == "TONSCRIBE_DATA":
				value = t.TempDir()
			case key == "TONSCRIBE_LISTEN":
				value = listen[name]
			case strings.Contains(value, "@clickhouse:9000"):
				value = tables.DSN()
			case strings.Contains(value, "@clickhouse:8123"):
				value = overHTTP(t, tables)
			case strings.Contains(value, "kafka:9092"):
				value = strings.ReplaceAll(value, "kafka:9092", strings.Join(brokers, ","))
			}
			env = append(env, key+"="+value)
		}
		return harness.Start(t, env, s.Command...)
	}

	if err := start("migrate").Wait(2 * time.Minute); err != nil {
		t.Fatalf("migrate: %v", err)
	}
	stages := []*harness.Process{start("decode"), start("contracts"), start("sink"), start("metadata"), start("query")}
	stages = append(stages, start("ingest", "TONSCRIBE_INGEST_FROM=1", "TONSCRIBE_INGEST_TO=60"))

	base := "http://" + listen["query"]
	harness.AddKey(t, base, tables.DSN())
	var info struct {
		Last struct {
			Seqno int `json:"seqno"`
		} `json:"last"`
	}
	harness.Await(t, 2*time.Minute, func() bool {
		status, _, err := harness.Get(base + "/api/v3/masterchainInfo")
		if err != nil || status != 200 {
			return false
		}
		harness.GetJSON(t, base+"/api/v3/masterchainInfo", &info)
		return info.Last.Seqno == 60
	}, func() string {
		var out []string
		for _, p := range stages {
			out = append(out, p.Output())
		}
		return fmt.Sprintf("masterchainInfo.last.seqno is %d, want 60\n%s", info.Last.Seqno, strings.Join(out, "\n---\n"))
	})
	if n := len(harness.Pages(t, base+"/api/v3/blocks?"+url.Values{"sort": {"asc"}, "limit": {"1000"}}.Encode(), "blocks")); n != genesisBlocks {
		t.Errorf("the API lists %d blocks, want %d", n, genesisBlocks)
	}
	for _, name := range []string{"ingest", "decode", "contracts", "sink", "metadata", "query"} {
		if status, body, err := harness.Get("http://" + listen[name] + "/healthz"); err != nil || status != 200 {
			t.Errorf("%s /healthz: %d %s %v, want 200", name, status, body, err)
		}
	}
	for _, p := range stages {
		p.Stop()
	}
}

// overHTTP is the DSN of the engine's first user by HTTP, as that of the compose
// file's only one.
func overHTTP(t *testing.T, c *engine.ClickHouse) string {
	t.Helper()
	native, err := url.Parse(c.DSN())
	if err != nil {
		t.Fatal(err)
	}
	dsn, err := url.Parse(c.ReadOnlyHTTPDSN())
	if err != nil {
		t.Fatal(err)
	}
	dsn.User = native.User
	return dsn.String()
}
