package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// secretTables are those of API keys and merchants.
var secretTables = []string{"api_keys", "api_usage", "merchants", "merchant_keys", "merchant_endpoints", "merchant_sessions", "merchant_audit", "payments", "events", "deliveries", "delivery_attempts", "replays"}

// On a cluster the rows of a table lie in the tables of its shards, which are granted with
// the others.
func TestTheAnalystOfTheManualIsDeniedSecretsOnEveryShardToo(t *testing.T) {
	text, err := os.ReadFile("../../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range secretTables {
		for _, name := range []string{secret, secret + "_local"} {
			if want := "REVOKE SELECT ON tonscribe." + name + " FROM analyst;\n"; !strings.Contains(string(text), want) {
				t.Errorf("the manual lacks %q: the analyst may read %s", want, name)
			}
		}
	}
}

func TestTheReaderSeesTheTablesOfTheManual(t *testing.T) {
	text, err := os.ReadFile("../../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile(`(?m)^\| `+"`"+`[^|]*\|`).FindAllString(string(text), -1) {
		for _, table := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(strings.SplitN(row, ", path", 2)[0], -1) {
			if !slices.Contains(analystTables, table[1]) {
				t.Errorf("the manual has table %s, the reader does not see it", table[1])
			}
		}
	}
	for _, table := range regexp.MustCompile(`(?:FROM|JOIN) \(?(?:SELECT [^()]* FROM )?([a-z_]+)`).FindAllStringSubmatch(string(text), -1) {
		if table[1] != "analyst" && !slices.Contains(analystTables, table[1]) { // REVOKE … FROM analyst
			t.Errorf("a query of the manual reads %s, the reader does not see it", table[1])
		}
	}
	for _, secret := range append(secretTables, "schema_migrations") {
		if slices.Contains(analystTables, secret) {
			t.Errorf("the reader sees %s", secret)
		}
	}
}

func TestTheUsersOfComposeAreThoseOfTheEmbeddedEngine(t *testing.T) {
	dir := t.TempDir()
	command := engineCommand()
	command.SetArgs([]string{"server", dir})
	if err := command.Execute(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"users.xml", "access.xml"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("../../compose", name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("compose/%s is not what the program writes (make generate): %v", name, err)
		}
	}
}
