package action

import "math/rand/v2"

// Shape is what a trace could look like that a rule matches, but for what is asked of
// bodies.
type Shape struct {
	Opcode   uint32 // of a call or log
	Log      bool
	Plain    bool
	Deployed bool
	Any      bool
	Type     string // of an action that another rule makes
	Payload  uint32 // of what a transfer of jettons carries, 0 for anything
	Then     []*Shape
}

// RandomShape is one of a rule.
func RandomShape(r *rand.Rand) *Shape {
	p := registry.rules[r.IntN(len(registry.rules))].Pattern
	return p.shape(r, 12)
}

func (p *Pattern) shape(r *rand.Rand, depth int) *Shape {
	if depth == 0 {
		return &Shape{Plain: true}
	}
	var s *Shape
	switch {
	case p.refer != nil:
		return p.refer().shape(r, depth-1)
	case len(p.options) > 0:
		s = p.options[r.IntN(len(p.options))].shape(r, depth-1)
	case len(p.opcodes) > 0:
		s = &Shape{Opcode: p.opcodes[r.IntN(len(p.opcodes))], Log: p.logs}
	case len(p.types) > 0:
		s = &Shape{Type: p.types[r.IntN(len(p.types))].Name}
	default:
		s = &Shape{Plain: p.transfer, Deployed: p.deploys, Any: p.anything}
	}
	if len(p.payload) > 0 {
		s.Payload = p.payload[r.IntN(len(p.payload))]
	}
	for _, c := range p.children {
		if c.optional && r.IntN(3) == 0 {
			continue
		}
		times := 1
		if c.every {
			times += r.IntN(3)
		}
		for range times {
			s.Then = append(s.Then, c.shape(r, depth-1))
		}
	}
	if p.parent != nil && (!p.parent.optional || r.IntN(2) == 0) {
		top := p.parent.shape(r, depth-1)
		top.Then = append(top.Then, s)
		return top
	}
	return s
}
