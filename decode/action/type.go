package action

import (
	"iter"
	"reflect"
	"slices"
)

// Version is the first version of supported_action_types that has a type.
type Version uint8

// The versions; types of Unversioned are in groups only.
const (
	Unversioned Version = iota
	V1
	V2
	V3
	V4
)

// NoVersion is where a range of versions has no end, or no version.
const NoVersion Version = 255

// Type is a type of actions.
type Type struct {
	Name    string
	Version Version
	Groups  []string // other labels that stand for it
	Details []Detail // in the order in which they are written
}

// TypeOf is a Type whose details are the fields of T.
type TypeOf[T any] struct{ Type }

// NewType declares a type of actions: its name, the version of
// supported_action_types that brought it, and the groups that it belongs to.
func NewType[T any](name string, version Version, groups ...string) *TypeOf[T] {
	return &TypeOf[T]{Type{Name: name, Version: version, Groups: groups, Details: detailsOf(reflect.TypeFor[T]())}}
}

// Of returns the details of a block of the type, nil where it is of another one.
func (t *TypeOf[T]) Of(b *Block) *T {
	if b == nil || b.Type != &t.Type {
		return nil
	}
	return b.data.(*T)
}

// Make is the outcome of a rule: an action of the type.
func (t *TypeOf[T]) Make(data *T) *Made { return &Made{typ: &t.Type, data: data} }

// set makes b a block of the type.
func (t *TypeOf[T]) set(b *Block, data *T) { b.Type, b.data = &t.Type, data }

func (t *Type) describe() *Type { return t }

// typed is a TypeOf of whatever details.
type typed interface{ describe() *Type }

// Types returns all types, in the order of their protocols.
func Types() []*Type { return slices.Clone(registry.types) }

// TypeNamed returns the type with the name, nil where there is none.
func TypeNamed(name string) *Type { return registry.byName[name] }

// VersionOf returns the version that values of supported_action_types stand for together,
// NoVersion where one of them is no version.
func VersionOf(labels []string) Version {
	version := V1
	for _, label := range labels {
		v := slices.Index([]string{"", "v1", "v2", "v3", "v4"}, label)
		switch {
		case label == "latest":
			v = int(V4)
		case v < 1:
			return NoVersion
		}
		version = max(version, Version(v))
	}
	return version
}

// Seen returns the versions with which an action is seen, both included: the first that
// has its type, NoVersion for none, and the last that has none of its ancestors' types,
// NoVersion where none hides it.
func (a *Action) Seen() (since, until Version) {
	since, until = a.Type.Version, NoVersion
	if since == Unversioned {
		since = NoVersion
	}
	for _, p := range a.Ancestors {
		if v := p.Type.Version; v != Unversioned {
			until = min(until, v-1)
		}
	}
	return since, until
}

// Expand returns the types that values of supported_action_types stand for: labels
// of versions and groups, and names. The types of v1 are always among them; what is
// unknown stands for nothing.
func Expand(labels []string) map[*Type]bool {
	set := map[*Type]bool{}
	labels = Known(slices.Values(labels))
	for _, t := range registry.types {
		if t.Version == V1 || slices.ContainsFunc(labels, t.in) {
			set[t] = true
		}
	}
	return set
}

// Known are the values of supported_action_types that stand for something, each once. A
// stranger may send many.
func Known(labels iter.Seq[string]) (known []string) {
	for label := range labels {
		if registry.labels[label] && !slices.Contains(known, label) {
			known = append(known, label)
		}
	}
	return known
}

// versionLabels stand for the types up to a version.
var versionLabels = []string{"v1", "v2", "v3", "v4", "latest"}

func (t *Type) in(label string) bool {
	upTo := func(v Version) bool { return t.Version != Unversioned && t.Version <= v }
	switch label {
	case "v1":
		return upTo(V1)
	case "v2":
		return upTo(V2)
	case "v3":
		return upTo(V3)
	case "v4", "latest":
		return upTo(V4)
	}
	return t.Name == label || slices.Contains(t.Groups, label)
}
