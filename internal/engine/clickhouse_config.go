package engine

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
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
	if err == nil {
		if err := json.Unmarshal(data, &s); err != nil || s.App == "" || s.Reader == "" {
			return s, fmt.Errorf("passwords file %s is damaged: delete it and new passwords are made", path)
		}
	}
	if ignoreMissing(err) != nil {
		return s, err
	}
	had := s // others are missing
	for _, password := range []*string{&s.App, &s.API, &s.Reader} {
		if *password == "" {
			*password = rand.Text()
		}
	}
	if s == had {
		return s, nil
	}
	return s, writeJSON(path, s)
}

// configuration is what the configuration files are made of.
type configuration struct {
	// Of config.xml alone.
	Log      string
	Caches   int64
	Marks    int64
	Users    string
	KeepFree int64

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
		Log: log, Caches: options.MaxMemory / 16, Marks: options.marks(), KeepFree: options.KeepFree, Users: filepath.Join(dir, "users.xml"),
		Embedded: true, App: hashed(appUser, s.App), API: hashed(apiUser, s.API), Reader: hashed(readerUser, s.Reader), Network: "127.0.0.1",
		Tables: options.ReaderTables, Database: DefaultDatabase, Durable: !options.Volatile, MaxMemory: options.MaxMemory,
	}
	return filepath.Join(dir, "config.xml"), writeForms(dir, c, writeFile, "config.xml", "users.xml")
}

// serverMemory is what a server of its own is taken to have, for the limits of a query.
const serverMemory = 8 << 30

// WriteServerConfiguration writes users.xml and access.xml to a folder, which it makes
// where there is none, for a ClickHouse server of its own: users with the rights and
// limits of the embedded engine's, no default among them. Their passwords are those of
// the environment of the server: CLICKHOUSE_PASSWORD, CLICKHOUSE_API_PASSWORD,
// CLICKHOUSE_READER_PASSWORD.
func WriteServerConfiguration(dir string, readerTables []string) error {
	users := configuration{
		App: fromEnvironment(appUser, "CLICKHOUSE_PASSWORD"), API: fromEnvironment(apiUser, "CLICKHOUSE_API_PASSWORD"),
		Reader: fromEnvironment(readerUser, "CLICKHOUSE_READER_PASSWORD"), Network: "::/0",
		Tables: readerTables, Database: DefaultDatabase, Durable: true, MaxMemory: serverMemory,
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	write := func(path string, data []byte) error { return os.WriteFile(path, data, 0o644) }
	return writeForms(dir, users, write, "users.xml", "access.xml")
}

// The forms of the configuration files.
//
// In config.xml, the level must be given as <log-level>: the engine overwrites
// <logger><level>. No *_log sections: system tables of logs need a database on disk
// and busy-loop without one at the second start. The three limits of free pool
// entries are what so small a merge pool requires. Half a second between two looks at
// the memory, five seconds until an idle table looks for merges again, and ten between
// two rounds of deleting old parts, take an eighth off an engine with little to do; so
// does an hour between two looks at each table for statements that follow it, which
// nobody may make. A disk with less than KeepFree takes neither inserts nor merges. Broken parts never keep a table from being
// opened: however many they are, they are put aside, and package parts reports them.
//
// In users.xml, the embedded engine's own session logs in as default with an empty
// password, which cannot be changed. It takes the only session that the user may
// have before the port opens, so that nobody else can log in as default. Nobody but
// that session may read files. A connection without a query notices a stop only every poll_interval seconds;
// at its default of ten the engine would give up waiting and end uncleanly.
//
// access.xml is the part of the configuration without which users see more than
// they were granted.
//
//go:embed *.xml.tmpl
var formFiles embed.FS

var forms = template.Must(template.New("").Funcs(template.FuncMap{"xml": template.HTMLEscapeString, "words": strings.Fields}).ParseFS(formFiles, "*.tmpl"))

// writeForms writes files of a folder in their forms.
func writeForms(dir string, of any, write func(path string, data []byte) error, files ...string) error {
	for _, file := range files {
		var text bytes.Buffer
		if err := forms.ExecuteTemplate(&text, file+".tmpl", of); err != nil {
			return err
		}
		if err := write(filepath.Join(dir, file), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// limit is a setting of the reader: its value, and the most that a query may ask
// for. Nothing of it can be switched off: 0, which would, is below the least.
type limit struct {
	Name       string
	Value, Max int64
}

// Limits are those of a query of the reader.
func (c configuration) Limits() []limit {
	return []limit{
		{"max_execution_time", 30, 300},
		{"max_memory_usage", c.MaxMemory / 4, c.MaxMemory / 4},
		{"max_threads", 1, 2},
		{"max_result_rows", 1_000_000, 10_000_000},
		{"max_result_bytes", 256 << 20, 1 << 30},
	}
}
