package action

import (
	"fmt"
	"slices"
)

// Rule makes an action of what its pattern matches.
type Rule struct {
	// Name says what the rule recognises.
	Name string
	// Order is when the rule is tried: one of order.go. An earlier rule consumes
	// blocks that a later one does not see any more, and makes blocks that it does.
	Order int
	// Pattern is matched with every block of the trace that is in no other one.
	Pattern *Pattern
	// Make decides what the match is: nil for nothing.
	Make func(*Match) *Made
	// Block is the name of which the action's id is made, that of its type if empty.
	Block string
	// Ghosts makes the rule one for messages that were asked for and never sent; no
	// other rule sees those.
	Ghosts bool

	index int
}

// Made is the outcome of a rule.
type Made struct {
	typ    *Type
	data   any
	failed *bool
	also   []*Block
	only   []*Block
	extras []Address
	others []Address
}

// Fails says whether the action failed. Without it, it did where the transaction
// of the block at which the pattern begins was aborted.
func (m *Made) Fails(failed bool) *Made { m.failed = &failed; return m }

// Consumes adds blocks to those that the pattern found, with what came back from them.
func (m *Made) Consumes(blocks ...*Block) *Made { m.also = append(m.also, blocks...); return m }

// ConsumesOnly puts blocks in the place of those that the pattern found.
func (m *Made) ConsumesOnly(blocks ...*Block) *Made { m.only = append(m.only, blocks...); return m }

// Concerns adds accounts of the action that neither its transactions nor its details
// name.
func (m *Made) Concerns(accounts ...Address) *Made {
	m.extras = append(m.extras, accounts...)
	return m
}

// Strangers are addresses of the details that are no accounts of this action.
func (m *Made) Strangers(accounts ...Address) *Made {
	m.others = append(m.others, accounts...)
	return m
}

// Protocol is a family of actions: one file.
type Protocol struct {
	Name  string
	Types []typed
	Rules []Rule
}

// registered is what is known of all protocols.
type registered struct {
	types     []*Type
	byName    map[string]*Type
	labels    map[string]bool // names, groups and versions of types
	rules     []*Rule         // by Order
	byOpcode  map[uint32][]*Rule
	byType    map[*Type][]*Rule
	transfers []*Rule
	deploys   []*Rule
	always    []*Rule
}

var registry *registered

func init() { registry = register(protocols) }

// register refuses what no trace could be recognised by.
func register(list []*Protocol) *registered {
	r := &registered{byName: map[string]*Type{}, labels: map[string]bool{}, byOpcode: map[uint32][]*Rule{}, byType: map[*Type][]*Rule{}}
	for _, p := range list {
		for _, t := range p.Types {
			d := t.describe()
			if r.byName[d.Name] != nil {
				panic("two types have the name " + d.Name)
			}
			r.types, r.byName[d.Name] = append(r.types, d), d
			for _, label := range slices.Concat(d.Groups, []string{d.Name}, versionLabels) {
				r.labels[label] = true
			}
		}
		for i := range p.Rules {
			r.rules = append(r.rules, &p.Rules[i])
		}
	}
	slices.SortStableFunc(r.rules, func(a, b *Rule) int { return a.Order - b.Order })
	for i, rule := range r.rules {
		rule.index = i
		if rule.Order == 0 || rule.Make == nil || rule.Name == "" {
			panic(fmt.Sprintf("rule %q lacks its name, order or outcome", rule.Name))
		}
		if i > 0 && r.rules[i-1].Order == rule.Order {
			panic(fmt.Sprintf("rules %q and %q have the same order", r.rules[i-1].Name, rule.Name))
		}
		start := rule.Pattern.starts()
		for _, op := range start.opcodes {
			r.byOpcode[op] = append(r.byOpcode[op], rule)
		}
		for _, t := range start.types {
			r.byType[t] = append(r.byType[t], rule)
		}
		if start.transfer {
			r.transfers = append(r.transfers, rule)
		}
		if start.deploys {
			r.deploys = append(r.deploys, rule)
		}
		if start.anything {
			r.always = append(r.always, rule)
		}
	}
	return r
}
