package api

import (
	"bytes"
	"slices"
)

// AppendSorted appends JSON with the members of all its objects in the order of their
// names. It is for what a body.Decoder has written: objects, strings and words
// without spaces between them.
func AppendSorted(dst, text []byte) []byte {
	s := sorter{text: text}
	s.value()
	return s.append(dst, 0)
}

// sorter holds a JSON text as a tree. The first value is the root.
type sorter struct {
	text   []byte
	at     int
	values []value
}

type value struct {
	name, text []byte // the text of an object is nil
	// first is the first member of an object, next the one behind the value; 0 for none.
	first, next int
}

// value reads a value and returns its index.
func (s *sorter) value() int {
	i := len(s.values)
	s.values = append(s.values, value{})
	switch from := s.at; s.text[from] {
	case '{':
		last := -1
		for s.at++; s.text[s.at] != '}'; {
			if s.text[s.at] == ',' {
				s.at++
			}
			name := s.string()
			s.at++ // the colon
			member := s.value()
			s.values[member].name = name
			if last < 0 {
				s.values[i].first = member
			} else {
				s.values[last].next = member
			}
			last = member
		}
		s.at++
	case '"':
		s.values[i].text = s.string()
	default:
		for s.at < len(s.text) && s.text[s.at] != ',' && s.text[s.at] != '}' {
			s.at++
		}
		s.values[i].text = s.text[from:s.at]
	}
	return i
}

// string reads a string with its quotes.
func (s *sorter) string() []byte {
	from := s.at
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.text[from:s.at]
}

func (s *sorter) append(dst []byte, i int) []byte {
	if text := s.values[i].text; text != nil {
		return append(dst, text...)
	}
	var members []int
	for m := s.values[i].first; m > 0; m = s.values[m].next {
		members = append(members, m)
	}
	// Without their quotes: one is a part of the other now and then.
	slices.SortFunc(members, func(a, b int) int { return bytes.Compare(inner(s.values[a].name), inner(s.values[b].name)) })
	dst = append(dst, '{')
	for k, m := range members {
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = s.append(append(append(dst, s.values[m].name...), ':'), m)
	}
	return append(dst, '}')
}

func inner(quoted []byte) []byte { return quoted[1 : len(quoted)-1] }
