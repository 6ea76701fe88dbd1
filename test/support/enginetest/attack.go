package enginetest

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/engine"
)

// canaries are a file that must not be read, in a folder that must not be written
// to although the engine itself can do both, a port that must not be connected to,
// and a name that must not be looked up.
type canaries struct {
	folder, file, address string
	content, name         string
	connections, lookups  *atomic.Int64
}

func newCanaries(t *testing.T, folder string) canaries {
	t.Helper()
	k := canaries{
		folder: folder, file: filepath.Join(folder, "canary.csv"), content: "canary-8c1f0a", name: "canary-5e77d2.invalid",
		connections: &atomic.Int64{}, lookups: &atomic.Int64{},
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"canary.csv": k.content + "\n", "run.sh": "#!/bin/sh\necho " + k.content + "\n"} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	k.address = l.Addr().String()
	go func() {
		for {
			connection, err := l.Accept()
			if err != nil {
				return
			}
			k.connections.Add(1)
			connection.Close()
		}
	}()
	k.resolve(t)
	return k
}

// resolve counts look-ups of the name, where the test may stand at the port that
// whoever can read no configuration of the resolver asks.
func (k canaries) resolve(t *testing.T) {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Logf("look-ups of names are not counted: %v", err)
		return
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for packet := make([]byte, 4096); ; {
			n, _, err := l.ReadFrom(packet)
			if err != nil {
				return
			}
			if strings.Contains(string(packet[:n]), strings.TrimSuffix(k.name, ".invalid")) {
				k.lookups.Add(1)
			}
		}
	}()
}

// Target is a running engine and who attacks it.
type Target struct {
	Dir   string // of ClickHouseOptions
	HTTP  string // host:port
	Admin *url.Userinfo
	// Users try everything.
	Users []*url.Userinfo
}

// Attack tries, as each of the users, every function, table function and table
// engine of the engine on files, the network and processes, and whatever else may
// tell a password, its hash or the content of a file. It fails the test for each
// statement that gets through.
func Attack(t *testing.T, at Target) {
	t.Helper()
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	k := newCanaries(t, filepath.Join(at.Dir, "data", "canary"))
	long := os.Getenv("TONSCRIBE_TEST_LONG") != ""
	names := func(table string) []string { return at.names(t, table) }
	attempts := slices.Concat(attemptsOn(t, names("table_functions"), names("table_engines"), k, long), attemptsOnSecrets(at, k))
	functions := functionsOn(names("functions WHERE NOT is_aggregate"), k, long)

	secrets := []string{k.content, "root:x:", "TERM=xterm", "r-xp", "<users_config>/", "<holder>"}
	for _, user := range append(at.Users, at.Admin) {
		password, _ := user.Password()
		secrets = append(secrets, password, fmt.Sprintf("%x", sha256.Sum256([]byte(password))))
	}
	for _, user := range at.Users {
		statements := attempts
		if long || user.Username() != at.Admin.Username() {
			statements = slices.Concat(attempts, functions)
		}
		for _, statement := range statements {
			answer := at.ask(t, client, user, statement)
			for _, secret := range secrets {
				if strings.Contains(strings.ToLower(answer), strings.ToLower(secret)) && !strings.Contains(statement, secret) {
					t.Errorf("%s: %s: gives %.200q", user.Username(), statement, answer)
				}
			}
			if n := k.connections.Swap(0); n != 0 {
				t.Errorf("%s: %s: connects %d times", user.Username(), statement, n)
			}
			if n := k.lookups.Swap(0); n != 0 {
				t.Errorf("%s: %s: looks the name up %d times", user.Username(), statement, n)
			}
		}
		t.Logf("%d statements as %s", len(statements), user.Username())
	}
	files, err := os.ReadDir(k.folder)
	if err != nil || len(files) != 2 {
		t.Errorf("files beside the canary: %v, %v", files, err)
	}
}

// ask sends a statement by HTTP and returns the answer.
func (at Target) ask(t *testing.T, client *http.Client, user *url.Userinfo, statement string) string {
	t.Helper()
	address := "http://" + at.HTTP + "/?database=" + engine.DefaultDatabase
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(statement))
	if err != nil {
		t.Fatal(err)
	}
	password, _ := user.Password()
	request.SetBasicAuth(user.Username(), password)
	answer, err := client.Do(request)
	if err != nil {
		return err.Error() // it took too long
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// names are those of a system table.
func (at Target) names(t *testing.T, table string) (all []string) {
	t.Helper()
	password, _ := at.Admin.Password()
	connection, err := clickhouse.Open(&clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{at.HTTP}, Auth: clickhouse.Auth{Username: at.Admin.Username(), Password: password}})
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.QueryRow(t.Context(), "SELECT groupArray(name) FROM system."+table).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// attemptsOnSecrets are statements that may tell passwords, their hashes, or what
// is in a file.
func attemptsOnSecrets(at Target, k canaries) (attempts []string) {
	inside := func(names ...string) string { return filepath.Join(append([]string{at.Dir}, names...)...) }
	for _, path := range []string{
		inside("secrets.json"), inside("config", "users.xml"), inside("config", "config.xml"), inside("log", "clickhouse.log"), "/etc/passwd",
		"/proc/self/environ", "/proc/self/maps", "/proc/self/cmdline", "/proc/1/environ", "/proc/thread-self/environ", "/proc/self/root/etc/passwd",
		"/proc/self/cwd/../config/users.xml", "config/users.xml", "../config/users.xml", "canary/canary.csv", "../data/canary/canary.csv", k.file,
	} {
		for _, form := range []string{"SELECT file('%s')", "SELECT file('%s', NULL)", "SELECT file(materialize('%s'), '')", "SELECT * APPLY(file) FROM (SELECT '%s')", "SELECT arrayMap(x -> file(x), ['%s'])"} {
			attempts = append(attempts, fmt.Sprintf(form, path))
		}
	}
	for _, user := range append(at.Users, at.Admin, url.User("default")) {
		attempts = append(attempts, "SHOW CREATE USER "+user.Username())
	}
	for _, table := range []string{"users", "user_directories", "server_settings", "settings_profiles", "processes", "query_log", "named_collections", "stack_trace", "disks", "build_options"} {
		attempts = append(attempts, "SELECT * FROM system."+table)
	}
	return append(attempts,
		"SHOW CREATE USER CURRENT_USER", "SHOW ACCESS", "SELECT 1 INTO OUTFILE '"+filepath.Join(k.folder, "out")+"'",
		"SELECT 1 SETTINGS format_schema = '"+k.file+":x' FORMAT Protobuf", "SELECT 1 FORMAT Template SETTINGS format_template_row = '"+k.file+"'",
	)
}

// attemptsOn are statements with every table function and table engine that the engine has, on what leads to the canaries.
func attemptsOn(t *testing.T, tableFunctions, engines []string, k canaries, long bool) (attempts []string) {
	t.Helper()
	web, host := "http://"+k.address+"/canary.csv", k.address
	quoted := func(texts ...string) string { return "'" + strings.Join(texts, "', '") + "'" }
	lists := []string{
		quoted(k.file), quoted(k.file, "LineAsString"), quoted(k.file, "LineAsString", "s String"), quoted(k.folder, "canary.csv"),
		quoted(web), quoted(web, "LineAsString", "s String"), quoted(web, "LineAsString", "s String") + ", headers('a'='b')",
		quoted(host, "system", "one"), quoted(host, "d", "t", "u", "p"), quoted(host, "d", "t", "s String"),
		quoted(web, "k", "s", "LineAsString", "s String"), quoted("run.sh", "LineAsString", "s String"), quoted(filepath.Join(k.folder, "run.sh"), "LineAsString", "s String"),
		"'default', " + quoted("system", "one"), quoted(host, "0", "k", "s String"),
		quoted(k.name, "system", "one"), quoted("http://"+k.name+":1/canary.csv", "LineAsString", "s String"),
	}
	if !long {
		lists = []string{lists[0], lists[2], lists[5], lists[7], lists[11], lists[15]}
	}
	for _, name := range tableFunctions {
		for _, list := range lists {
			attempts = append(attempts, fmt.Sprintf("SELECT * FROM `%s`(%s) LIMIT 1 SETTINGS max_execution_time = 2", name, list))
		}
		attempts = append(attempts, fmt.Sprintf("INSERT INTO FUNCTION `%s`(%s) VALUES ('x')", name, quoted(filepath.Join(k.folder, "written"), "LineAsString", "s String")))
	}
	kinds := []string{"TABLE"}
	if long {
		kinds = append(kinds, "TEMPORARY TABLE")
	}
	for i, name := range engines {
		for j, list := range []string{quoted("LineAsString", k.file), quoted(web, "LineAsString"), quoted(host, "d", "t", "u", "p"), quoted(k.file), quoted("run.sh", "LineAsString")} {
			for _, kind := range kinds {
				table := fmt.Sprintf("e%d_%d", i, j)
				attempts = append(attempts, fmt.Sprintf("CREATE %s %s (s String) ENGINE = %s(%s)", kind, table, name, list))
			}
			attempts = append(attempts, fmt.Sprintf("SELECT * FROM e%d_%d SETTINGS max_execution_time = 2", i, j), fmt.Sprintf("DROP TABLE IF EXISTS e%d_%d", i, j))
		}
	}
	hostName, port, _ := net.SplitHostPort(host)
	for i, source := range []string{
		"FILE(PATH '" + k.file + "' FORMAT 'LineAsString')", "HTTP(URL '" + web + "' FORMAT 'LineAsString')", "EXECUTABLE(COMMAND 'cat " + k.file + "' FORMAT 'LineAsString')",
		"CLICKHOUSE(HOST '" + hostName + "' PORT " + port + " USER 'u' DB 'd' TABLE 't')", "MYSQL(HOST '" + hostName + "' PORT " + port + " USER 'u' PASSWORD '' DB 'd' TABLE 't')",
		"POSTGRESQL(HOST '" + hostName + "' PORT " + port + " USER 'u' PASSWORD '' DB 'd' TABLE 't')", "REDIS(HOST '" + hostName + "' PORT " + port + ")",
	} {
		attempts = append(attempts,
			fmt.Sprintf("CREATE DICTIONARY d%d (s String) PRIMARY KEY s SOURCE(%s) LAYOUT(COMPLEX_KEY_HASHED()) LIFETIME(0)", i, source),
			fmt.Sprintf("SELECT * FROM d%d", i), fmt.Sprintf("DROP DICTIONARY IF EXISTS d%d", i))
	}
	for _, engine := range []string{"Filesystem('" + k.folder + "')", "MySQL('" + host + "', 'd', 'u', 'p')", "PostgreSQL('" + host + "', 'd', 'u', 'p')", "SQLite('" + k.file + "')"} {
		attempts = append(attempts, "CREATE DATABASE canary ENGINE = "+engine, "SELECT * FROM canary.`canary.csv`", "DROP DATABASE IF EXISTS canary")
	}
	return append(attempts, "BACKUP TABLE seen TO File('"+filepath.Join(k.folder, "backup")+"')", "BACKUP TABLE seen TO S3('"+web+"', 'k', 's')")
}

// functionsOn are statements with every function on what leads to the canaries.
func functionsOn(functions []string, k canaries, long bool) (attempts []string) {
	// Those that wait, and nothing else, are left out.
	waits := []string{"sleep", "sleepEachRow"}
	for _, name := range functions {
		if slices.Contains(waits, name) {
			continue
		}
		attempts = append(attempts, fmt.Sprintf("SELECT `%s`('%s')", name, k.file))
		if long {
			attempts = append(attempts, fmt.Sprintf("SELECT `%s`('http://%s/canary.csv', 'x')", name, k.address))
		}
	}
	return attempts
}
