// Package config fills a configuration struct from its defaults, a YAML file,
// environment variables and flags, in that order, and remembers where each
// value came from. It knows no component: the struct is put together by the
// command that runs them.
//
// A key is the path of yaml names joined by dots ("kafka.brokers"); its
// environment variable is TONSCRIBE_KAFKA_BROKERS. Unknown keys, in the file
// and in the environment, are errors.
package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// EnvPrefix starts every environment variable of ours.
const EnvPrefix = "TONSCRIBE_"

// Reserved are environment variables with our prefix that are no keys.
var Reserved = []string{"TONSCRIBE_CONFIG", "TONSCRIBE_TESTDATA", "TONSCRIBE_ENGINE_DIR", "TONSCRIBE_KAFKA_JARS", "TONSCRIBE_TEST_REQUIRE", "TONSCRIBE_TEST_LONG"}

// Origin says where a value came from.
type Origin string

// Origins besides those that name an environment variable or a flag.
const (
	FromDefault Origin = "default"
	FromFile    Origin = "file"
)

// Value is one effective value.
type Value struct {
	Key    string
	Text   string // secrets are masked
	Origin Origin
}

// Loader fills one struct.
type Loader struct {
	target any
	leaves map[string]leaf
	order  []string
}

type leaf struct {
	value  reflect.Value
	secret bool
	origin Origin
}

// New makes a loader for a pointer to a struct that holds its defaults. Fields
// carry yaml tags; a field tagged `secret:"true"` is masked when printed.
func New(target any) *Loader {
	l := &Loader{target: target, leaves: map[string]leaf{}}
	l.collect(reflect.ValueOf(target).Elem(), "", false)
	return l
}

func (l *Loader) collect(v reflect.Value, path string, secret bool) {
	if v.Kind() != reflect.Struct {
		l.leaves[path] = leaf{value: v, secret: secret, origin: FromDefault}
		l.order = append(l.order, path)
		return
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		next := path
		if options != "inline" {
			if name == "" {
				name = strings.ToLower(field.Name)
			}
			next = strings.TrimPrefix(path+"."+name, ".")
		}
		l.collect(v.Field(i), next, field.Tag.Get("secret") == "true")
	}
}

// File reads a YAML file over the defaults.
func (l *Loader) File(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("configuration file: %w", err)
	}
	root, err := document(text)
	if err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	var problems []error
	l.walk(root, "", map[string]int{}, &problems)
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("configuration file %s: %w", path, err)
	}
	return nil
}

// document is the one document of a file; another one may stand there only if it says nothing.
func document(text []byte) (*yaml.Node, error) {
	root := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var next yaml.Node
		err := decoder.Decode(&next)
		switch {
		case errors.Is(err, io.EOF):
			return root, nil
		case err != nil:
			return nil, err
		case next.Content[0].ShortTag() == "!!null":
		case root.ShortTag() != "!!null":
			return nil, fmt.Errorf("line %d: a second document: one is read", next.Content[0].Line)
		default:
			root = next.Content[0]
		}
	}
}

// walk reads what stands at a path. A key without a value says nothing. lines are those
// of the file's keys so far, of which one may be written in two ways: a.b, and b under a.
func (l *Loader) walk(node *yaml.Node, path string, lines map[string]int, problems *[]error) {
	if node.ShortTag() == "!!null" {
		return
	}
	if leaf, ok := l.leaves[path]; ok {
		if err := assignNode(leaf.value, node); err != nil {
			*problems = append(*problems, fmt.Errorf("line %d: %s: %w", node.Line, path, err))
			return
		}
		l.mark(path, FromFile)
		return
	}
	if node.Kind != yaml.MappingNode {
		*problems = append(*problems, fmt.Errorf("line %d: %s: keys with values are wanted here", node.Line, cmp.Or(path, "the file")))
		return
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, line := strings.TrimPrefix(path+"."+node.Content[i].Value, "."), node.Content[i].Line
		if !l.known(key) {
			*problems = append(*problems, fmt.Errorf("line %d: unknown key %q (`tonscribe config` lists them)", line, key))
			continue
		}
		if first, again := lines[key]; again {
			*problems = append(*problems, fmt.Errorf("line %d: %q is there twice, first in line %d", line, key, first))
			continue
		}
		lines[key] = line
		l.walk(node.Content[i+1], key, lines, problems)
	}
}

// known reports whether key is a value or the start of one.
func (l *Loader) known(key string) bool {
	return slices.ContainsFunc(l.order, func(path string) bool { return path == key || strings.HasPrefix(path, key+".") })
}

func assignNode(v reflect.Value, node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		parts := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return errors.New("one value is wanted in each place of a list")
			}
			parts[i] = item.Value
		}
		if v.Kind() != reflect.Slice {
			return errors.New("is a list, one value is wanted")
		}
		v.Set(reflect.ValueOf(parts))
		return nil
	}
	if node.Kind == yaml.MappingNode && v.Kind() == reflect.Map {
		pairs := map[string]string{}
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i].Value
			if node.Content[i+1].Kind != yaml.ScalarNode {
				return errors.New("one value is wanted for each name")
			}
			if _, again := pairs[name]; again {
				return fmt.Errorf("%q is there twice", name)
			}
			pairs[name] = node.Content[i+1].Value
		}
		v.Set(reflect.ValueOf(pairs))
		return nil
	}
	if node.Kind != yaml.ScalarNode {
		return errors.New("one value is wanted")
	}
	return assign(v, node.Value)
}

// EnvName is the environment variable of a key.
func EnvName(key string) string {
	return EnvPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// serviceLink is a variable that Kubernetes gives every container of a namespace with a
// Service whose name begins with tonscribe.
var serviceLink = regexp.MustCompile(`^[A-Z0-9_]+_(SERVICE_HOST=|SERVICE_PORT(_[A-Z0-9_]+)?=\d+$|PORT(_\d+_(TCP|UDP|SCTP))?=[a-z]+://|PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=)`)

// Environment reads TONSCRIBE_… variables, in the form of os.Environ. It passes over those
// of Kubernetes.
func (l *Loader) Environment(environ []string) error {
	byName := map[string]string{}
	for _, key := range l.order {
		byName[EnvName(key)] = key
	}
	var problems []error
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(Reserved, name) {
			continue
		}
		key, ok := byName[name]
		if !ok && serviceLink.MatchString(pair) {
			continue
		}
		if !ok {
			problems = append(problems, fmt.Errorf("environment variable %s: no such key (`tonscribe config` lists them)", name))
			continue
		}
		if err := l.Set(key, text, Origin(name)); err != nil {
			problems = append(problems, fmt.Errorf("environment variable %s: %w", name, err))
		}
	}
	return errors.Join(problems...)
}

// Set gives a key a value from its text; lists are comma-separated, maps are
// name=value,….
func (l *Loader) Set(key, text string, origin Origin) error {
	leaf, ok := l.leaves[key]
	if !ok {
		return fmt.Errorf("unknown key %q", key)
	}
	if err := assign(leaf.value, text); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	l.mark(key, origin)
	return nil
}

func (l *Loader) mark(key string, origin Origin) {
	leaf := l.leaves[key]
	leaf.origin = origin
	l.leaves[key] = leaf
}

var durationType = reflect.TypeFor[time.Duration]()

func assign(v reflect.Value, text string) error {
	if v.Type() == durationType {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is no duration (500ms, 10s, 2h)", text)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", text)
		}
		v.SetBool(b)
	case reflect.Int, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is beyond %d", text, n)
		}
		if err != nil {
			return fmt.Errorf("%q is no whole number", text)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is beyond %d", text, n)
		}
		if err != nil {
			return fmt.Errorf("%q is no whole number from 0", text)
		}
		v.SetUint(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%q is no number", text)
		}
		v.SetFloat(f)
	case reflect.Slice:
		v.Set(reflect.ValueOf(list(text)))
	case reflect.Map:
		pairs := map[string]string{}
		for _, part := range list(text) {
			name, value, ok := strings.Cut(part, "=")
			if !ok {
				return fmt.Errorf("%q: want name=value,…", part)
			}
			pairs[name] = value
		}
		v.Set(reflect.ValueOf(pairs))
	default:
		return fmt.Errorf("a value of type %s cannot be configured", v.Type())
	}
	return nil
}

// list splits at commas and drops what is empty.
func list(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// Values are all effective values by key, secrets masked.
func (l *Loader) Values() []Value {
	out := make([]Value, 0, len(l.order))
	for _, key := range l.order {
		leaf := l.leaves[key]
		text := format(leaf.value)
		if leaf.secret && text != "" {
			text = "***"
		}
		out = append(out, Value{Key: key, Text: text, Origin: leaf.origin})
	}
	slices.SortStableFunc(out, func(a, b Value) int { return strings.Compare(a.Key, b.Key) })
	return out
}

func format(v reflect.Value) string {
	switch of := v.Interface().(type) {
	case []string:
		return strings.Join(of, ",")
	case map[string]string:
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(of)) {
			pairs = append(pairs, name+"="+of[name])
		}
		return strings.Join(pairs, ",")
	}
	return fmt.Sprint(v.Interface())
}
