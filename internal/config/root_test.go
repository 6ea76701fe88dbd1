package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type sample struct {
	Name  string `yaml:"name"`
	Kafka struct {
		Brokers  []string          `yaml:"brokers"`
		Password string            `yaml:"password" secret:"true"`
		Wait     time.Duration     `yaml:"wait"`
		Parts    int               `yaml:"parts"`
		First    uint32            `yaml:"first"`
		Settings map[string]string `yaml:"settings"`
	} `yaml:"kafka"`
}

func load(t *testing.T, file string, environ []string) (*sample, *Loader, error) {
	t.Helper()
	s := &sample{Name: "default"}
	l := New(s)
	if file != "" {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.File(path); err != nil {
			return s, l, err
		}
	}
	return s, l, l.Environment(environ)
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	s, l, err := load(t, "name: file\nkafka:\n  brokers: [a, b]\n  wait: 2s\n  parts: 4\n  settings: {b: 2, a: x}\n",
		[]string{"TONSCRIBE_KAFKA_WAIT=3s", "TONSCRIBE_KAFKA_PARTS=8", "TONSCRIBE_TESTDATA=/x", "OTHER=1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Set("kafka.parts", "16", "--partitions"); err != nil {
		t.Fatal(err)
	}
	if s.Name != "file" || strings.Join(s.Kafka.Brokers, "+") != "a+b" || s.Kafka.Wait != 3*time.Second || s.Kafka.Parts != 16 {
		t.Fatalf("got %+v", s)
	}
	if got := s.Kafka.Settings; len(got) != 2 || got["a"] != "x" || got["b"] != "2" {
		t.Fatalf("settings are %v, want a=x, b=2", got)
	}
	want := map[string]Origin{"name": FromFile, "kafka.wait": "TONSCRIBE_KAFKA_WAIT", "kafka.parts": "--partitions", "kafka.password": FromDefault}
	for _, v := range l.Values() {
		if o, ok := want[v.Key]; ok && o != v.Origin {
			t.Errorf("%s comes from %s, want %s", v.Key, v.Origin, o)
		}
	}
}

func TestUnknownKeysAndBadValuesAreErrorsThatNameThem(t *testing.T) {
	for name, c := range map[string]struct {
		file, env, want string
	}{
		"unknown key":        {"kafka:\n  broker: x\n", "", `line 2: unknown key "kafka.broker" (` + "`tonscribe config` lists them)"},
		"unknown section":    {"kafak:\n  brokers: x\n", "", `unknown key "kafak"`},
		"bad duration":       {"kafka:\n  wait: soon\n", "", `"soon" is no duration`},
		"list for one value": {"name: [a]\n", "", "one value is wanted"},
		"list for a section": {"kafka: [a]\n", "", "line 1: kafka: keys with values are wanted"},
		"text for a section": {"kafka: a:9092\n", "", "line 1: kafka: keys with values are wanted"},
		"text for a file":    {"kafka\n", "", "line 1: the file: keys with values are wanted"},
		"key twice":          {"kafka:\n  parts: 1\nname: x\nkafka:\n  parts: 2\n", "", `line 4: "kafka" is there twice, first in line 1`},
		"key in two ways":    {"kafka.parts: 1\nkafka:\n  parts: 2\n", "", `line 3: "kafka.parts" is there twice, first in line 1`},
		"name twice":         {"kafka:\n  settings: {a: 1, a: 2}\n", "", `line 2: kafka.settings: "a" is there twice`},
		"list in a list":     {"kafka:\n  brokers:\n  - a\n  - [b, c]\n", "", "line 3: kafka.brokers: one value is wanted in each place of a list"},
		"object in a list":   {"kafka:\n  brokers:\n  - host: a\n", "", "line 3: kafka.brokers: one value is wanted in each place of a list"},
		"list in a map":      {"kafka:\n  settings:\n    a: [b]\n", "", "line 3: kafka.settings: one value is wanted for each name"},
		"second document":    {"name: x\n---\nkafka:\n  parts: 2\n", "", "line 3: a second document"},
		"unknown variable":   {"", "TONSCRIBE_KAFKA_BROKER=x", "TONSCRIBE_KAFKA_BROKER: no such key"},
		"bad number":         {"", "TONSCRIBE_KAFKA_PARTS=many", `"many" is no whole number`},
		"large number":       {"", "TONSCRIBE_KAFKA_FIRST=4294967296", "kafka.first: 4294967296 is beyond 4294967295"},
		"small number":       {"", "TONSCRIBE_KAFKA_PARTS=-9223372036854775809", "kafka.parts: -9223372036854775809 is beyond -9223372036854775808"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := load(t, c.file, []string{c.env})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestKeysWithoutAValueStayAsTheyWere(t *testing.T) {
	for _, file := range []string{"kafka:\n#  parts: 3\nname:\n", "kafka: ~\nname: null\n", "kafka:\n  parts:\n  brokers: null\n  settings: ~\n", "", "---\n# nothing\n", "---\nname:\n---\n"} {
		s, l, err := load(t, file, nil)
		if err != nil || s.Name != "default" || s.Kafka.Parts != 0 || s.Kafka.Brokers != nil || s.Kafka.Settings != nil {
			t.Errorf("%q: %+v, %v, want the defaults", file, *s, err)
		}
		for _, v := range l.Values() {
			if v.Origin != FromDefault {
				t.Errorf("%q: %s comes from %s, want %s", file, v.Key, v.Origin, FromDefault)
			}
		}
	}
}

func TestServicesOfKubernetesAreNoSettings(t *testing.T) {
	linked := []string{
		"TONSCRIBE_SERVICE_HOST=10.0.0.1", "TONSCRIBE_SERVICE_PORT=80", "TONSCRIBE_SERVICE_PORT_HTTP=80", "TONSCRIBE_PORT=tcp://10.0.0.1:80", "TONSCRIBE_PORT_80_TCP=tcp://10.0.0.1:80",
		"TONSCRIBE_PORT_80_TCP_PROTO=tcp", "TONSCRIBE_PORT_80_TCP_PORT=80", "TONSCRIBE_QUERY_PORT_53_UDP_ADDR=10.0.0.1", "TONSCRIBE_QUERY_SERVICE_HOST=fd00::1",
	}
	if _, _, err := load(t, "", linked); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	for _, name := range []string{"TONSCRIBE_LISTEN_PORT=80", "TONSCRIBE_KAFKA_SERVICE=x"} {
		if _, _, err := load(t, "", []string{name}); err == nil {
			t.Errorf("%s is taken for one of Kubernetes, want an error", name)
		}
	}
}

func TestValuesOfAMapInAFileMayHaveCommas(t *testing.T) {
	s, _, err := load(t, "kafka:\n  settings: {a: \"x,y=z\", b: 2}\n", nil)
	if got := s.Kafka.Settings; err != nil || len(got) != 2 || got["a"] != "x,y=z" || got["b"] != "2" {
		t.Errorf("settings are %v, %v, want a=x,y=z and b=2", got, err)
	}
}

func TestSecretsAreMaskedInPrint(t *testing.T) {
	_, l, err := load(t, "", []string{"TONSCRIBE_KAFKA_PASSWORD=hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range l.Values() {
		if strings.Contains(v.Text, "hunter2") {
			t.Fatalf("%s shows its secret", v.Key)
		}
	}
}

func TestANumberIsFinite(t *testing.T) {
	for _, text := range []string{"NaN", "Inf", "-inf", "1e999"} {
		var rate struct {
			Rate float64 `yaml:"rate"`
		}
		if err := New(&rate).Set("rate", text, "--rate"); err == nil {
			t.Errorf("%q was taken for %v", text, rate.Rate)
		}
	}
}
