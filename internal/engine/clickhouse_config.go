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
	readerUser = "reader"
)

// secrets are the passwords of an engine's users, made once per data folder so
// that a restart leaves every DSN valid.
type secrets struct {
	App    string `json:"app"`
	Reader string `json:"reader"`
}

func loadSecrets(dir string) (secrets, error) {
	path := filepath.Join(dir, "secrets.json")
	var s secrets
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		s = secrets{App: rand.Text(), Reader: rand.Text()}
		if data, err = json.Marshal(s); err != nil {
			return s, err
		}
		return s, writeFile(path, data)
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s); err != nil || s.App == "" || s.Reader == "" {
		return s, fmt.Errorf("passwords file %s is damaged: delete it and new passwords are made", path)
	}
	return s, nil
}

// configuration is what the engine's two configuration files are made of.
type configuration struct {
	Log        string
	MaxMemory  int64
	Caches     int64
	Users      string
	AppUser    string
	AppHash    string
	ReaderUser string
	ReaderHash string
	Database   string
	Durable    bool
}

// writeConfiguration writes config.xml and users.xml anew at every start, so that
// a new version of tonscribe brings its own settings to an old folder. It
// returns the path of config.xml.
func writeConfiguration(dir, log string, options ClickHouseOptions, s secrets) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	c := configuration{
		Log: log, MaxMemory: options.MaxMemory, Caches: options.MaxMemory / 16, Durable: !options.Volatile, Users: filepath.Join(dir, "users.xml"),
		AppUser: appUser, AppHash: passwordHash(s.App), ReaderUser: readerUser, ReaderHash: passwordHash(s.Reader), Database: DefaultDatabase,
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

func passwordHash(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

// The level must be given as <log-level>: the engine overwrites <logger><level>.
// No *_log sections: system tables of logs need a database on disk and busy-loop
// without one at the second start. The three limits of free pool entries are
// what so small a merge pool requires.
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
  <merge_tree>
    <fsync_after_insert>{{if .Durable}}1{{else}}0{{end}}</fsync_after_insert>
    <fsync_part_directory>{{if .Durable}}1{{else}}0{{end}}</fsync_part_directory>
    <number_of_free_entries_in_pool_to_lower_max_size_of_merge>1</number_of_free_entries_in_pool_to_lower_max_size_of_merge>
    <number_of_free_entries_in_pool_to_execute_mutation>1</number_of_free_entries_in_pool_to_execute_mutation>
    <number_of_free_entries_in_pool_to_execute_optimize_entire_partition>1</number_of_free_entries_in_pool_to_execute_optimize_entire_partition>
  </merge_tree>
  <access_control_improvements>
    <settings_constraints_replace_previous>true</settings_constraints_replace_previous>
    <select_from_system_db_requires_grant>true</select_from_system_db_requires_grant>
    <select_from_information_schema_requires_grant>true</select_from_information_schema_requires_grant>
  </access_control_improvements>
</clickhouse>
`))

// The engine's own session logs in as default with an empty password, which
// cannot be changed. It takes the only session that the user may have before the
// port opens, so that nobody else can log in as default.
//
// A connection without a query notices a stop only every poll_interval seconds;
// at its default of ten the engine would give up waiting and end uncleanly.
//
// Nobody but that session may read files: to this build every file of the
// machine is a user file.
var usersXML = template.Must(template.New("users").Funcs(escape).Parse(`<clickhouse>
  <profiles>
    <default><poll_interval>1</poll_interval></default>
    <holder><max_sessions_for_user>1</max_sessions_for_user></holder>
    <app>
      <max_threads>2</max_threads>
      <async_insert>0</async_insert>
      <fsync_metadata>{{if .Durable}}1{{else}}0{{end}}</fsync_metadata>
      <deduplicate_blocks_in_dependent_materialized_views>1</deduplicate_blocks_in_dependent_materialized_views>
      <query_profiler_real_time_period_ns>0</query_profiler_real_time_period_ns>
      <query_profiler_cpu_time_period_ns>0</query_profiler_cpu_time_period_ns>
    </app>
    <reader>
      <readonly>1</readonly>
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
    </reader>
  </profiles>
  <quotas><default></default></quotas>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>holder</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SYSTEM LISTEN ON *.*</query>
        <query>GRANT READ, WRITE ON FILE</query>
        <query>GRANT CREATE TEMPORARY TABLE ON *.*</query>
      </grants>
    </default>
    <{{.AppUser}}>
      <password_sha256_hex>{{.AppHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>app</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SHOW, SELECT, INSERT, ALTER, CREATE, DROP, UNDROP TABLE, TRUNCATE, OPTIMIZE, BACKUP, KILL QUERY, dictGet ON *.*</query>
        <query>GRANT TABLE ENGINE ON *</query>
        <query>GRANT SYSTEM MERGES, SYSTEM TTL MERGES, SYSTEM FLUSH, SYSTEM VIEWS, SYSTEM RELOAD DICTIONARY, SYSTEM DROP CACHE, SYSTEM SYNC REPLICA ON *.*</query>
      </grants>
    </{{.AppUser}}>
    <{{.ReaderUser}}>
      <password_sha256_hex>{{.ReaderHash}}</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>reader</profile>
      <quota>default</quota>
      <grants>
        <query>GRANT SHOW, SELECT, dictGet ON {{.Database}}.*</query>
        <query>GRANT SHOW, SELECT, dictGet ON {{.Database}}_*.*</query>
      </grants>
    </{{.ReaderUser}}>
  </users>
</clickhouse>
`))

// Changeable are the settings that the reader may give per query in spite of
// being read-only: limits, and what trades latency of one kind of query against another.
func (configuration) Changeable() []string {
	return []string{
		"max_execution_time", "max_memory_usage", "max_result_rows", "max_result_bytes", "max_rows_to_read", "max_bytes_to_read",
		"compile_expressions", "compile_aggregate_expressions", "compile_sort_description",
		"result_overflow_mode", "read_overflow_mode", "timeout_overflow_mode", "max_threads", "max_block_size", "enable_analyzer",
		"optimize_move_to_prewhere", "optimize_use_projections", "preferred_optimize_projection_name", "use_uncompressed_cache", "select_sequential_consistency", "log_comment",
	}
}

var escape = template.FuncMap{"xml": template.HTMLEscapeString}
