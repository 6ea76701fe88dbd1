// Package compose proves that docker-compose.yml works: it starts the commands
// and environments that the file names, as local processes, with a local
// ClickHouse and a real Apache Kafka in the place of its engine containers.
package compose

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"tonscribe/internal/engine"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
	kafkatest "tonscribe/test/support/kafka"
	"tonscribe/test/support/realdata"
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

func TestComposeFollowsThePublicNetworkByItself(t *testing.T) {
	services := readCompose(t)
	for name, key := range map[string]string{
		"ingest": "TONSCRIBE_INGEST_SOURCE", "decode": "TONSCRIBE_API_LITE_CONFIG", "contracts": "TONSCRIBE_API_LITE_CONFIG", "query": "TONSCRIBE_API_LITE_CONFIG",
	} {
		s := services[name]
		network, from := substitute(t, s.Environment["TONSCRIBE_NETWORK"], nil), substitute(t, s.Environment[key], nil)
		if network != "mainnet" || from != "network" {
			t.Errorf("service %s: %s is %q on %q, want network on mainnet", name, key, from, network)
		}
		if data := s.Environment["TONSCRIBE_DATA"]; !slices.ContainsFunc(s.Volumes, func(v string) bool { return data != "" && strings.HasSuffix(v, ":"+data) }) {
			t.Errorf("service %s: the network's global config is kept in no volume (TONSCRIBE_DATA %q of %q)", name, data, s.Volumes)
		}
	}
}

func TestServicesOfComposeCarryBlocksToTheAPI(t *testing.T) {
	blocks := realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	brokers := kafkatest.Apache(t)
	services := readCompose(t)
	tables := clickHouseOfCompose(t)
	values := map[string]string{"TONSCRIBE_SOURCE": "files:" + blocks, "TONSCRIBE_LITESERVERS": ""}
	maps.Copy(values, passwords)

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
			case strings.Contains(value, "@clickhouse:"):
				value = strings.NewReplacer("clickhouse:9000", tables.native, "clickhouse:8123", tables.http).Replace(value)
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
	stages := []*harness.Process{start("decode"), start("contracts"), start("traces"), start("sink"), start("metadata"), start("query")}
	stages = append(stages, start("ingest", "TONSCRIBE_INGEST_FROM=1", "TONSCRIBE_INGEST_TO=60"))

	base := "http://" + listen["query"]
	harness.AddKey(t, base, "clickhouse://"+tables.user("tonscribe").String()+"@"+tables.native+"/tonscribe")
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
	for _, name := range []string{"ingest", "decode", "contracts", "traces", "sink", "metadata", "query"} {
		if status, body, err := harness.Get("http://" + listen[name] + "/healthz"); err != nil || status != 200 {
			t.Errorf("%s /healthz: %d %s %v, want 200", name, status, body, err)
		}
	}
	for _, p := range stages {
		p.Stop()
	}
	if _, answer := tables.ask(t, "tonscribe", "SELECT count() > 0 FROM api_usage"); answer != "1\n" {
		t.Errorf("usage of the key in the tables: %q, want 1", answer)
	}
}

// passwords are what .env gives.
var passwords = map[string]string{
	"CLICKHOUSE_PASSWORD": "first4d1f", "CLICKHOUSE_API_PASSWORD": "second9c3e", "CLICKHOUSE_READER_PASSWORD": "third77ab",
}

// server is a local ClickHouse with the users of the compose file.
type server struct{ dir, native, http string }

func (server) user(name string) *url.Userinfo {
	return url.UserPassword(name, passwords[map[string]string{
		"tonscribe": "CLICKHOUSE_PASSWORD", "api": "CLICKHOUSE_API_PASSWORD", "reader": "CLICKHOUSE_READER_PASSWORD",
	}[name]])
}

// clickHouseOfCompose starts an embedded engine and has it start once more with
// the users of the compose file, and with the one that its own session needs.
func clickHouseOfCompose(t *testing.T) server {
	t.Helper()
	dir := t.TempDir()
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 1 << 30, Volatile: true, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	text, err := os.ReadFile(filepath.Join(harness.Root(), "compose", "users.xml"))
	if err != nil {
		t.Fatal(err)
	}
	users := regexp.MustCompile(`<password from_env="(\w+)"/>`).ReplaceAllStringFunc(string(text), func(element string) string {
		return "<password>" + passwords[strings.Split(element, `"`)[1]] + "</password>"
	})
	users = strings.Replace(users, "<users>", `<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>holder</profile><grants>
		<query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT READ, WRITE ON FILE</query><query>GRANT CREATE ARBITRARY TEMPORARY TABLE ON *.*</query></grants></default>`, 1)
	users = strings.Replace(users, "<profiles>", "<profiles><holder><max_sessions_for_user>1</max_sessions_for_user></holder>", 1)
	if err := os.WriteFile(filepath.Join(dir, "config", "users.xml"), []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	pid := c.Pid()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, time.Minute, func() bool { return c.Pid() != pid }, func() string { return "no new engine" })
	overHTTP, err := url.Parse(c.ReadOnlyHTTPDSN())
	if err != nil {
		t.Fatal(err)
	}
	return server{dir: dir, native: c.Address(), http: overHTTP.Host}
}

// ask sends a statement as the user and returns the status and the answer.
func (s server) ask(t *testing.T, user, statement string) (int, string) {
	t.Helper()
	address := url.URL{Scheme: "http", User: s.user(user), Host: s.http, Path: "/", RawQuery: url.Values{"database": {"tonscribe"}}.Encode()}
	answer, err := http.Post(address.String(), "text/plain", strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestClickHouseOfComposeHasItsThreeUsersAndNoOthers(t *testing.T) {
	services := readCompose(t)
	s := services["clickhouse"]
	if s.Environment["CLICKHOUSE_SKIP_USER_SETUP"] != "1" || s.Environment["CLICKHOUSE_USER"] != "tonscribe" {
		t.Errorf("the image makes users of its own: %v", s.Environment)
	}
	for _, mount := range []string{"./compose/users.xml:/etc/clickhouse-server/users.xml:ro", "./compose/access.xml:/etc/clickhouse-server/config.d/tonscribe-access.xml:ro"} {
		if !slices.Contains(s.Volumes, mount) {
			t.Errorf("clickhouse has volumes %v, want %s", s.Volumes, mount)
		}
	}
	text, err := os.ReadFile(filepath.Join(harness.Root(), "compose", "users.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Users struct {
			Names []struct {
				XMLName  xml.Name
				Password struct {
					Variable string `xml:"from_env,attr"`
				} `xml:"password"`
			} `xml:",any"`
		} `xml:"users"`
	}
	if err := xml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, user := range file.Users.Names {
		names = append(names, user.XMLName.Local)
		if passwords[user.Password.Variable] == "" || s.Environment[user.Password.Variable] == "" {
			t.Errorf("user %s: password of variable %q, which the service does not have", user.XMLName.Local, user.Password.Variable)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"api", "reader", "tonscribe"}) {
		t.Errorf("users %v", names)
	}
	for name, service := range services {
		for key, want := range map[string]string{"TONSCRIBE_CLICKHOUSE_DSN": "tonscribe", "TONSCRIBE_CLICKHOUSE_READER_DSN": "api"} {
			value, ok := service.Environment[key]
			if !ok {
				continue
			}
			if dsn, err := url.Parse(substitute(t, value, passwords)); err != nil || dsn.User.Username() != want {
				t.Errorf("service %s: %s is of user %v, want %s: %v", name, key, dsn.User, want, err)
			}
		}
	}
	if services["query"].Environment["TONSCRIBE_CLICKHOUSE_READER_DSN"] == "" {
		t.Error("query reads with the user of the stages")
	}
}

func TestUsersOfComposeReachNoFilesNetworkOrProcesses(t *testing.T) {
	s := clickHouseOfCompose(t)
	if status, answer := s.ask(t, "tonscribe", "CREATE TABLE blocks (n UInt64) ENGINE = MergeTree ORDER BY n"); status != http.StatusOK {
		t.Fatal(answer)
	}
	if status, answer := s.ask(t, "tonscribe", "CREATE TABLE api_keys (n UInt64) ENGINE = MergeTree ORDER BY n"); status != http.StatusOK {
		t.Fatal(answer)
	}
	for statement, allowed := range map[string][]string{
		"SELECT n FROM blocks":                                     {"tonscribe", "api", "reader"},
		"SELECT n FROM api_keys":                                   {"tonscribe", "api"},
		"INSERT INTO blocks VALUES (1)":                            {"tonscribe"},
		"SELECT count() FROM system.processes":                     {"tonscribe"},
		"SELECT 1 SETTINGS max_execution_time = 301":               {"tonscribe", "api"},
		"SELECT 1 SETTINGS max_memory_usage = 0":                   {"tonscribe", "api"},
		"SELECT 1 SETTINGS max_concurrent_queries_for_user = 1000": {"tonscribe"},
		"SELECT 1 SETTINGS readonly = 0":                           {"tonscribe"},
		"CREATE USER somebody":                                     nil,
		"BACKUP TABLE blocks TO Null":                              nil,
	} {
		for _, user := range []string{"tonscribe", "api", "reader"} {
			status, answer := s.ask(t, user, statement)
			if want := slices.Contains(allowed, user); (status == http.StatusOK) != want {
				t.Errorf("%s: %s: %d %.200s; allowed: %t", user, statement, status, answer, want)
			}
		}
	}
	enginetest.Attack(t, enginetest.Target{Dir: s.dir, HTTP: s.http, Admin: s.user("tonscribe"), Users: []*url.Userinfo{s.user("reader"), s.user("api"), s.user("tonscribe")}})
}
