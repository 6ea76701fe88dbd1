package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tonscribe/internal/config"
	"tonscribe/internal/network"
	"tonscribe/internal/report"
)

// setting is what a document says of a key.
type setting struct {
	flags       []string
	value       string // as the document has it
	isValue     bool   // else value is words
	file        string
	description string
}

var quoted = regexp.MustCompile("`([^`]*)`")

// documented reads the tables of settings of a document: keys, flags, defaults,
// meaning. A key with a dot in front stands in the section of the one before it.
func documented(t *testing.T, file string) map[string]setting {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]setting{}
	inside := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case strings.HasPrefix(line, "| Key | Flag | Default |"):
			inside = true
			continue
		case !strings.HasPrefix(line, "|"):
			inside = false
		}
		if !inside || strings.HasPrefix(line, "|---") {
			continue
		}
		if len(cells) != 4 {
			t.Fatalf("%s: %d cells, want 4: %s", file, len(cells), line)
		}
		keys, values := keysOf(cells[0]), unquoted(cells[2])
		isValue := len(values) > 0 && strings.Trim(quoted.ReplaceAllString(cells[2], ""), " ,") == ""
		if isValue && len(values) != 1 && len(values) != len(keys) {
			t.Errorf("%s: %d defaults for %d keys: %s", file, len(values), len(keys), line)
			continue
		}
		for n, key := range keys {
			s := setting{flags: unquoted(cells[1]), value: strings.TrimSpace(cells[2]), isValue: isValue, file: file, description: strings.TrimSpace(cells[3])}
			if isValue {
				s.value = values[min(n, len(values)-1)]
			}
			if _, again := found[key]; again {
				t.Errorf("%s: %s is there twice", file, key)
			}
			found[key] = s
		}
	}
	return found
}

func unquoted(cell string) (texts []string) {
	for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
		texts = append(texts, match[1])
	}
	return texts
}

func keysOf(cell string) []string {
	keys := unquoted(cell)
	for n, key := range keys {
		if n > 0 && strings.HasPrefix(key, ".") {
			keys[n] = keys[n-1][:strings.LastIndex(keys[n-1], ".")] + key
		}
	}
	return keys
}

// says tells whether a document's default is the code's. Words stand for what is
// empty or 0, and for what the machine decides.
func (s setting) says(value string) bool {
	switch {
	case s.value == "processors":
		return value == strconv.Itoa(runtime.GOMAXPROCS(0))
	case s.value == "twice the processors":
		return value == strconv.Itoa(2*runtime.GOMAXPROCS(0))
	case !s.isValue:
		return s.value != "" && (value == "" || value == "0")
	}
	if number, unit, ok := strings.Cut(s.value, " "); ok {
		shift := map[string]uint{"KiB": 10, "MiB": 20, "GiB": 30}[unit]
		n, err := strconv.ParseInt(number, 10, 64)
		return err == nil && shift > 0 && value == strconv.FormatInt(n<<shift, 10)
	}
	if d, err := time.ParseDuration(s.value); err == nil && d > 0 {
		return value == d.String()
	}
	return value == s.value
}

func TestDocumentsSayOfEveryKeyItsDefaultAndFlags(t *testing.T) {
	settings := documented(t, "configuration.md")
	for key, s := range documented(t, "devnet.md") {
		settings[key] = s
	}
	delete(settings, "devnet.*") // refers to the other document
	flags := flagsByKey(rootCommand())
	configuration := defaultConfiguration()
	for _, v := range config.New(&configuration).Values() {
		s, ok := settings[v.Key]
		delete(settings, v.Key)
		switch {
		case !ok:
			t.Errorf("no document has %s, whose default is %q", v.Key, v.Text)
		case !s.says(v.Text):
			t.Errorf("%s: default of %s is %q, want %q", s.file, v.Key, s.value, v.Text)
		case s.description == "":
			t.Errorf("%s: the meaning of %s is missing", s.file, v.Key)
		case fmt.Sprint(s.flags) != fmt.Sprint(flags[v.Key]):
			t.Errorf("%s: flags of %s are %q, want %q", s.file, v.Key, s.flags, flags[v.Key])
		}
	}
	for key, s := range settings {
		t.Errorf("%s: there is no key %s", s.file, key)
	}
}

// flagsByKey are the flags that set keys, of a command and those below it.
func flagsByKey(c *cobra.Command) map[string][]string {
	found := map[string][]string{}
	add := func(f *pflag.Flag) {
		for _, key := range f.Annotations["key"] {
			if name := "--" + f.Name; !slices.Contains(found[key], name) {
				found[key] = append(found[key], name)
			}
		}
	}
	c.PersistentFlags().VisitAll(add)
	c.Flags().VisitAll(add)
	for _, below := range c.Commands() {
		for key, names := range flagsByKey(below) {
			for _, name := range names {
				if !slices.Contains(found[key], name) {
					found[key] = append(found[key], name)
				}
			}
		}
	}
	return found
}

func TestSecretsAreMasked(t *testing.T) {
	configuration := defaultConfiguration()
	loader := config.New(&configuration)
	secrets := []string{"clickhouse.dsn", "clickhouse.reader_dsn", "kafka.sasl.password", "auth.redis", "webhooks.seal_key", "receiver.secrets"}
	for _, key := range secrets {
		if err := loader.Set(key, "secret", config.FromFile); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range loader.Values() {
		if slices.Contains(secrets, v.Key) && v.Text != "***" {
			t.Errorf("%s is shown as %q, want ***", v.Key, v.Text)
		}
	}
}

func TestFlagsThatSetMoreThanOneKey(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		globalID  int32
		zerostate string
		to        uint32
		toHash    string
	}{
		{nil, 0, "", 0, ""}, // the default network is nobody's word
		{[]string{"--network", "mainnet", "--source", "files:x"}, -239, "17a3a92992aabea785a7a090985a265cd31f323d849da51239737e321fb05569", 0, ""},
		{[]string{"--network", "testnet", "--source", "archive:x"}, -3, "823f81f306ff02694f935cf5021548e3ce2b86b529812af6a12148879e95a128", 0, ""},
		{[]string{"--network", "mainnet", "--source", "liteserver:x"}, 0, "17a3a92992aabea785a7a090985a265cd31f323d849da51239737e321fb05569", 0, ""},
		{[]string{"--network", "devnet"}, 0, "", 0, ""},
		{[]string{"--to", "60"}, 0, "", 60, ""},
		{[]string{"--to", "60:" + strings.Repeat("ab", 32)}, 0, "", 60, strings.Repeat("ab", 32)},
	} {
		s := &settings{}
		root := &cobra.Command{Use: "tonscribe"}
		addFlags(root, false, flagNetwork, flagSource, flagTo)
		root.RunE = func(cmd *cobra.Command, _ []string) error {
			err := s.load(cmd)
			return err
		}
		root.SetArgs(c.arguments)
		if err := root.Execute(); err != nil {
			t.Fatalf("%v: %v", c.arguments, err)
		}
		if i := s.Ingest; i.GlobalID != c.globalID || i.Zerostate != c.zerostate || i.To != c.to || i.ToHash != c.toHash {
			t.Errorf("%v: global_id %d, zerostate %q, to %d, to_hash %q, want %d, %q, %d, %q", c.arguments,
				i.GlobalID, i.Zerostate, i.To, i.ToHash, c.globalID, c.zerostate, c.to, c.toHash)
		}
	}
}

func TestTheRangeOfTheTablesHasNoEndThatNamesABlockOrIsFollowed(t *testing.T) {
	s := newSettings(&cobra.Command{})
	for _, command := range []*cobra.Command{reclassifyCommand(s), verifyCommand(s)} {
		if help := command.Flag("to").Usage; strings.Contains(help, "for ever") {
			t.Errorf("%s: --to: %s, want what 0 is of tables", command.Name(), help)
		}
	}
	command := reclassifyCommand(s)
	if err := command.ParseFlags([]string{"--to", "60:" + strings.Repeat("ab", 32)}); err != nil {
		t.Fatal(err)
	}
	if err := s.load(command); err == nil || !strings.Contains(err.Error(), "--to") {
		t.Errorf("reclassify --to SEQNO:ROOTHASH: %v, want an error: nothing would be compared with the hash", err)
	}
}

func TestLiteServersBesideANetworkAreOfItsChain(t *testing.T) {
	_, mainnet, _ := network.Chain(network.Mainnet)
	other := strings.Repeat("ab", 32)
	for _, c := range []struct {
		environment map[string]string
		want        string
	}{
		{nil, ""}, // the default network is nobody's word
		{map[string]string{"TONSCRIBE_NETWORK": "devnet"}, ""},
		{map[string]string{"TONSCRIBE_NETWORK": "mainnet"}, mainnet},
		{map[string]string{"TONSCRIBE_NETWORK": "mainnet", "TONSCRIBE_NETWORK_CONFIG_ZEROSTATE": other}, other},
		{map[string]string{"TONSCRIBE_NETWORK": "mainnet", "TONSCRIBE_INGEST_ZEROSTATE": other}, ""},
	} {
		t.Run("", func(t *testing.T) {
			t.Setenv("TONSCRIBE_API_LITE_CONFIG", "x")
			for name, value := range c.environment {
				t.Setenv(name, value)
			}
			s := &settings{}
			if err := s.load(&cobra.Command{}); err != nil {
				t.Fatal(err)
			}
			if got := s.nodeAccess().Lite.Zerostate; got != c.want {
				t.Errorf("%v: zerostate %q, want %q", c.environment, got, c.want)
			}
		})
	}
}

// Whoever runs other parts, or another source, has a mistake in them told all the same.
func TestKeysOfPartsThatDoNotRunAreChecked(t *testing.T) {
	for key, value := range map[string]string{
		"api.lite.proofs": "maybe", "ingest.proofs": "", "network_config.zerostate": "17a3", "network_config.url": "http://example.com/c.json",
		"network_config.refresh": "0s", "network_config.timeout": "-1s", "network_config.max_bytes": "0",
		"metadata.allow_networks": "10.1.0.7", "webhooks.send.allow_networks": "localhost", "webhooks.send.deny_networks": "10.0.0.0/8,10.0.0.0/99",
	} {
		s := &settings{Configuration: defaultConfiguration()}
		if err := config.New(&s.Configuration).Set(key, value, "test"); err != nil {
			t.Fatal(err)
		}
		section, last, _ := strings.Cut(key, ".")
		last = last[strings.LastIndex(last, ".")+1:]
		if err := s.complete(); err == nil || !strings.Contains(err.Error(), section) || !strings.Contains(err.Error(), last) {
			t.Errorf("%s %q: %v", key, value, err)
		}
	}
	s := &settings{Configuration: defaultConfiguration()}
	if err := s.complete(); err != nil {
		t.Error(err)
	}
}

func TestAFolderOfZerostatesThatIsNotThereIsRefused(t *testing.T) {
	s := &settings{Configuration: defaultConfiguration()}
	s.Decode.Zerostates = []string{t.TempDir()}
	p := &process{settings: s, report: report.Silent()}
	if _, err := p.newZerostates(); err != nil {
		t.Errorf("a folder that is there: %v", err)
	}
	s.Decode.Zerostates = append(s.Decode.Zerostates, filepath.Join(s.Decode.Zerostates[0], "typo"))
	if _, err := p.newZerostates(); err == nil || !strings.Contains(err.Error(), "decode.zerostates") {
		t.Errorf("one that is not: %v", err)
	}
}
