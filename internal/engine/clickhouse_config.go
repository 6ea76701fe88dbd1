package engine

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// DefaultDatabase is the database of the tables. The reader sees it and
// databases whose names start with it and an underscore.
const DefaultDatabase = "tonscribe"

const (
	appUser    = "tonscribe"
	apiUser    = "api"
	readerUser = "reader"
)

// secrets are the passwords of an engine's users, made once per data folder so
// that a restart leaves every DSN valid.
type secrets struct {
	App    string `json:"app"`
	API    string `json:"api"`
	Reader string `json:"reader"`
}

func loadSecrets(dir string) (secrets, error) {
	path := filepath.Join(dir, "secrets.json")
	var s secrets
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s.complete(path)
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.App == "" || s.Reader == "" {
		return s, fmt.Errorf("passwords file %s is damaged: delete it and new passwords are made", path)
	}
	return s.complete(path)
}

// complete makes the passwords that are missing, and keeps them.
func (s secrets) complete(path string) (secrets, error) {
	had := s
	for _, password := range []*string{&s.App, &s.API, &s.Reader} {
		if *password == "" {
			*password = rand.Text()
		}
	}
	if s == had {
		return s, nil
	}
	data, err := json.Marshal(s)
	if err != nil {
		return s, err
	}
	return s, writeFile(path, data)
}

// configuration is what the engine's two configuration files are made of.
type configuration struct {
	userConfiguration
	Log      string
	Caches   int64
	Users    string
	KeepFree int64
}

// userConfiguration is what users.xml is made of.
type userConfiguration struct {
	Embedded  bool // the engine's own session logs in, on a machine with others
	App       login
	API       login
	Reader    login
	Network   string   // that they come from
	Tables    []string // that the reader reads; none: all
	Database  string
	Durable   bool
	MaxMemory int64
}

// login is a user's name, and the element that says its password.
type login struct{ Name, Password string }

func hashed(name, password string) login {
	sum := sha256.Sum256([]byte(password))
	return login{name, "<password_sha256_hex>" + hex.EncodeToString(sum[:]) + "</password_sha256_hex>"}
}

func fromEnvironment(name, variable string) login {
	return login{name, `<password from_env="` + variable + `"/>`}
}

// writeConfiguration writes config.xml and users.xml anew at every start, so that
// a new version of tonscribe brings its own settings to an old folder. It
// returns the path of config.xml.
func writeConfiguration(dir, log string, options ClickHouseOptions, s secrets) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	c := configuration{
		Log: log, Caches: options.MaxMemory / 16, KeepFree: options.KeepFree, Users: filepath.Join(dir, "users.xml"),
		userConfiguration: userConfiguration{
			Embedded: true, App: hashed(appUser, s.App), API: hashed(apiUser, s.API), Reader: hashed(readerUser, s.Reader), Network: "127.0.0.1",
			Tables: options.ReaderTables, Database: DefaultDatabase, Durable: !options.Volatile, MaxMemory: options.MaxMemory,
		},
	}
	path := filepath.Join(dir, "config.xml")
	for file, form := range map[string]*template.Template{path: configXML, c.Users: usersXML} {
		var text strings.Builder
		if err := form.Execute(&text, c); err != nil {
			return "", err
		}
		if err := writeFile(file, []byte(text.String())); err != nil {
			return "", err
		}
	}
	return path, nil
}

// serverMemory is what a server of its own is taken to have, for the limits of a query.
const serverMemory = 8 << 30

// WriteServerConfiguration writes users.xml and access.xml to a folder, for a
// ClickHouse server of its own: users with the rights and limits of the embedded
// engine's, no default among them. Their passwords are those of the environment of
// the server: CLICKHOUSE_PASSWORD, CLICKHOUSE_API_PASSWORD, CLICKHOUSE_READER_PASSWORD.
func WriteServerConfiguration(dir string, readerTables []string) error {
	users := userConfiguration{
		App: fromEnvironment(appUser, "CLICKHOUSE_PASSWORD"), API: fromEnvironment(apiUser, "CLICKHOUSE_API_PASSWORD"),
		Reader: fromEnvironment(readerUser, "CLICKHOUSE_READER_PASSWORD"), Network: "::/0",
		Tables: readerTables, Database: DefaultDatabase, Durable: true, MaxMemory: serverMemory,
	}
	var text strings.Builder
	if err := usersXML.Execute(&text, users); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "users.xml"), []byte(text.String()), 0o644),
		os.WriteFile(filepath.Join(dir, "access.xml"), []byte("<clickhouse>\n"+accessXML+"</clickhouse>\n"), 0o644),
	)
}

// accessXML is the part of the configuration without which users see more than
// they were granted.
const accessXML = `  <access_control_improvements>
    <settings_constraints_replace_previous>true</settings_constraints_replace_previous>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
  </access_control_improvements>
`

// The level must be given as <log-level>: the engine overwrites <logger><level>.
// No *_log sections: system tables of logs need a database on disk and busy-loop
// without one at the second start. The three limits of free pool entries are
// what so small a merge pool requires. A disk with less than KeepFree takes neither
// inserts nor merges. Broken parts never keep a table from being opened: however
// many they are, they are put aside, and package parts tells of them.
var configXML = template.Must(template.New("config").Funcs(escape).Parse(`<clickhouse>
  <users_config>{{.Users | xml}}</users_config>
  <log-level>warning</log-level>
  <logger><console>0</console><log>{{.Log | xml}}</log><size>50M</size><count>2</count></logger>
  <timezone>UTC</timezone>
  <max_server_memory_usage>{{.MaxMemory}}</max_server_memory_usage>
  <max_connections>256</max_connections>
  <keep_alive_timeout>600</keep_alive_timeout>
  <max_concurrent_queries>100</max_concurrent_queries>
  <mark_cache_size>{{.Caches}}</mark_cache_size>
  <primary_index_cache_size>{{.Caches}}</primary_index_cache_size>
  <uncompressed_cache_size>{{.Caches}}</uncompressed_cache_size>
  <background_pool_size>2</background_pool_size>
  <background_merges_mutations_concurrency_ratio>2</background_merges_mutations_concurrency_ratio>
  <background_schedule_pool_size>4</background_schedule_pool_size>
  <background_common_pool_size>2</background_common_pool_size>
  <background_move_pool_size>1</background_move_pool_size>
  <background_fetches_pool_size>1</background_fetches_pool_size>
  <storage_configuration><disks><default><keep_free_space_bytes>{{.KeepFree}}</keep_free_space_bytes></default></disks></storage_configuration>
  <merge_tree>
    <fsync_after_insert>{{if .Durable}}1{{else}}0{{end}}</fsync_after_insert>
    <fsync_part_directory>{{if .Durable}}1{{else}}0{{end}}</fsync_part_directory>
    <min_free_disk_bytes_to_perform_insert>{{.KeepFree}}</min_free_disk_bytes_to_perform_insert>
    <max_suspicious_broken_parts>1000000</max_suspicious_broken_parts>
    <max_suspicious_broken_parts_bytes>1000000000000000</max_suspicious_broken_parts_bytes>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
` + accessXML + `</clickhouse>
`))

// The embedded engine's own session logs in as default with an empty password, which
// cannot be changed. It takes the only session that the user may have before the
// port opens, so that nobody else can log in as default. Nobody but that session may
// read files.
//
// A connection without a query notices a stop only every poll_interval seconds;
// at its default of ten the engine would give up waiting and end uncleanly.
var usersXML = template.Must(template.New("users").Funcs(escape).Parse(`<clickhouse>
  <profiles>
    <default><poll_interval>1</poll_interval></default>
    {{- if .Embedded}}
    <holder><max_sessions_for_user>1</max_sessions_for_user></holder>
    {{- end}}
    <app>
      {{- if .Embedded}}
      <max_threads>2</max_threads>
      {{- end}}
      <async_insert>0</async_insert>
      <fsync_metadata>{{if .Durable}}1{{else}}0{{end}}</fsync_metadata>
      <deduplicate_blocks_in_dependent_materialized_views>1</deduplicate_blocks_in_dependent_materialized_views>
      <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
      <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
    </app>
    <api>
      <readonly>1</readonly>
      <allow_ddl>0</allow_ddl>
      <allow_introspection_functions>0</allow_introspection_functions>
      <max_threads>1</max_threads>
      <optimize_move_to_prewhere>0</optimize_move_to_prewhere>
      <local_filesystem_read_method>pread</local_filesystem_read_method>
      <load_marks_asynchronously>0</load_marks_asynchronously>
      <max_read_buffer_size_local_fs>32768</max_read_buffer_size_local_fs>
      <merge_tree_coarse_index_granularity>2</merge_tree_coarse_index_granularity>
      <compile_expressions>0</compile_expressions>
      <compile_aggregate_expressions>0</compile_aggregate_expressions>
      <compile_sort_description>0</compile_sort_description>
      <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
      <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
      <max_execution_time>30</max_execution_time>
      <constraints>
        {{- range .Changeable}}
        <{{.}}><changeable_in_readonly/></{{.}}>
        {{- end}}
      </constraints>
    </api>
    <reader>
      <readonly>1</readonly>
      <allow_ddl>0</allow_ddl>
      <allow_introspection_functions>0</allow_introspection_functions>
      <max_concurrent_queries_for_user>{{.Parallel}}</max_concurrent_queries_for_user>
      {{- range .Limits}}
      <{{.Name}}>{{.Value}}</{{.Name}}>
      {{- end}}
      <constraints>
        {{- range .Limits}}
        <{{.Name}}><min>1</min><max>{{.Max}}</max><changeable_in_readonly/></{{.Name}}>
        {{- end}}
        {{- range .Harmless}}
        <{{.}}><changeable_in_readonly/></{{.}}>
        {{- end}}
      </constraints>
    </reader>
  </profiles>
  <quotas><default></default></quotas>
  <users>
    {{- if .Embedded}}
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>holder</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT READ, WRITE ON FILE</query>
        <query>GRANT CREATE ARBITRARY TEMPORARY TABLE ON *.*</query>
      </grants>
    </default>
    {{- end}}
    <{{.App.Name}}>
      {{.App.Password}}
      <networks><ip>{{.Network}}</ip></networks>
      <profile>app</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SELECT, INSERT, ALTER TABLE, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP DATABASE, DROP TABLE, DROP VIEW, TRUNCATE, OPTIMIZE, CHECK ON *.*</query>
        {{- range .Engines}}
        <query>GRANT TABLE ENGINE ON {{.}}</query>
        {{- end}}
        <query>GRANT SYSTEM MERGES, SYSTEM VIEWS ON *.*</query>
      </grants>
    </{{.App.Name}}>
    <{{.API.Name}}>
      {{.API.Password}}
      <networks><ip>{{.Network}}</ip></networks>
      <profile>api</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SELECT ON {{.Database}}.*</query>
        <query>GRANT SELECT ON {{.Database}}_*.*</query>
        <query>GRANT SELECT(active, database, table) ON system.parts</query>
      </grants>
    </{{.API.Name}}>
    <{{.Reader.Name}}>
      {{.Reader.Password}}
      <networks><ip>{{.Network}}</ip></networks>
      <profile>reader</profile>
      <quota>default</quota>
      <grants>
        {{- range .Tables}}
        <query>GRANT SELECT ON {{$.Database}}.{{.}}</query>
        {{- else}}
        <query>GRANT SELECT ON {{.Database}}.*</query>
        <query>GRANT SELECT ON {{.Database}}_*.*</query>
        {{- end}}
      </grants>
    </{{.Reader.Name}}>
  </users>
</clickhouse>
`))

// Engines are those of the tables that there may be.
func (userConfiguration) Engines() []string {
	return []string{"MergeTree", "ReplacingMergeTree", "ReplicatedMergeTree", "ReplicatedReplacingMergeTree", "Distributed", "Memory"}
}

// limit is a setting of the reader: its value, and the most that a query may ask
// for. Nothing of it can be switched off: 0, which would, is below the least.
type limit struct {
	Name       string
	Value, Max int64
}

// Limits are those of a query of the reader.
func (c userConfiguration) Limits() []limit {
	return []limit{
		{"max_execution_time", 30, 300},
		{"max_memory_usage", c.MaxMemory / 4, c.MaxMemory / 4},
		{"max_threads", 1, 2},
		{"max_result_rows", 1_000_000, 10_000_000},
		{"max_result_bytes", 256 << 20, 1 << 30},
	}
}

// Parallel is how many queries of the reader run at once.
func (userConfiguration) Parallel() int { return 4 }

// Harmless are the other settings that a query of the reader may give.
func (userConfiguration) Harmless() []string {
	return []string{
		"max_rows_to_read", "max_bytes_to_read", "result_overflow_mode", "read_overflow_mode", "timeout_overflow_mode", "max_block_size",
		"enable_analyzer", "optimize_move_to_prewhere", "optimize_use_projections", "log_comment",
	}
}

// Changeable are the settings that the API may give per query in spite of
// being read-only: limits, and what trades latency of one kind of query against another.
func (userConfiguration) Changeable() []string {
	return []string{
		"max_execution_time", "max_memory_usage", "max_result_rows", "max_result_bytes", "max_rows_to_read", "max_bytes_to_read",
		"cancel_http_readonly_queries_on_client_close",
		"compile_expressions", "compile_aggregate_expressions", "compile_sort_description",
		"result_overflow_mode", "read_overflow_mode", "timeout_overflow_mode", "max_threads", "max_block_size", "enable_analyzer",
		"optimize_move_to_prewhere", "optimize_use_projections", "preferred_optimize_projection_name", "use_uncompressed_cache", "select_sequential_consistency", "log_comment",
	}
}

var escape = template.FuncMap{"xml": template.HTMLEscapeString}
