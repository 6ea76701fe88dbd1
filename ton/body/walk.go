package body

import (
	"strconv"
	"strings"

	toncell "tonscribe/ton/cell"
)

// The types whose constructors depend on more than a tag: dictionaries on the length
// of the key that is left, lists on what follows.

// hashmapE shows a HashmapE.
func (d *Decoder) hashmapE(t *typ, s *toncell.Slice) bool {
	there := s.Bool()
	if s.Failed() {
		return false
	}
	if !there {
		d.out = append(d.out, `{"@type":"hashmap_empty"}`...)
		return true
	}
	d.out = append(d.out, `{"@type":"hashmap_root","root":`...)
	if !d.edge(t.elem, s, t.bits) {
		return false
	}
	d.out = append(d.out, '}')
	return true
}

// edge shows a Hashmap in a reference.
func (d *Decoder) edge(value *typ, s *toncell.Slice, keyBits int) bool {
	in := s.Next()
	return !in.Failed() && d.hashmap(value, &in, keyBits) && isEmpty(&in)
}

// hashmap shows a Hashmap whose keys have some bits left.
func (d *Decoder) hashmap(value *typ, s *toncell.Slice, keyBits int) bool {
	if !d.read() {
		return false
	}
	d.out = append(d.out, `{"@type":"hashmap_edge","label":`...)
	n, ok := d.label(s, keyBits)
	if !ok {
		return false
	}
	if n == keyBits {
		d.out = append(d.out, `,"node":{"@type":"hashmap_node_leaf","value":`...)
		if !d.value(value, s, 0) {
			return false
		}
		d.out = append(d.out, "}}"...)
		return true
	}
	d.out = append(d.out, `,"node":{"@type":"hashmap_node_fork","left":`...)
	if !d.edge(value, s, keyBits-n-1) {
		return false
	}
	d.out = append(d.out, `,"right":`...)
	if !d.edge(value, s, keyBits-n-1) {
		return false
	}
	d.out = append(d.out, "}}"...)
	return true
}

// label shows an HmLabel and returns its length, at most limit.
func (d *Decoder) label(s *toncell.Slice, limit int) (n int, ok bool) {
	if !s.Bool() {
		if n = s.Unary(); s.Failed() || n > limit {
			return n, false
		}
		d.out = append(d.out, `{"@type":"hashmap_label_short","len":`...)
		for range n {
			d.out = append(d.out, `{"@type":"unary_succ","x":`...)
		}
		d.out = append(d.out, `{"@type":"unary_zero"}`...)
		d.out = append(d.out, strings.Repeat("}", n)...)
		d.out = append(d.out, `,"s":`...)
		if !d.bits(s, n) {
			return n, false
		}
		d.out = append(d.out, '}')
		return n, true
	}
	if same := s.Bool(); same {
		one := s.Uint(1)
		n = int(s.Uint(uint(lengthBits(limit))))
		d.out = append(d.out, `{"@type":"hashmap_label_same","v":`...)
		d.decimal(one)
		d.out = append(d.out, `,"n":`...)
		d.decimal(uint64(n))
	} else {
		n = int(s.Uint(uint(lengthBits(limit))))
		d.out = append(d.out, `{"@type":"hashmap_label_long","n":`...)
		d.decimal(uint64(n))
		d.out = append(d.out, `,"s":`...)
		if s.Failed() || n > limit || !d.bits(s, n) {
			return n, false
		}
	}
	d.out = append(d.out, '}')
	return n, !s.Failed() && n <= limit
}

// outList shows an OutList in the rest of a cell. The list ends in an empty cell.
func (d *Decoder) outList(s *toncell.Slice) bool {
	if !d.read() {
		return false
	}
	if isEmpty(s) {
		d.out = append(d.out, `{"@type":"out_list_empty"}`...)
		return true
	}
	d.out = append(d.out, `{"@type":"out_list","prev":`...)
	prev := s.Next()
	if prev.Failed() || !d.outList(&prev) {
		return false
	}
	d.out = append(d.out, `,"action":`...)
	if !d.value(theTable().outAction, s, 0) || !isEmpty(s) {
		return false
	}
	d.out = append(d.out, '}')
	return true
}

// extended shows a W5ExtendedActionList: it goes on in a reference where there is one.
func (d *Decoder) extended(s *toncell.Slice) bool {
	if !d.read() {
		return false
	}
	if s.RefsLeft() == 0 {
		d.out = append(d.out, `{"@type":"extended_list_last","action":`...)
	} else {
		d.out = append(d.out, `{"@type":"extended_list_action","action":`...)
	}
	if !d.value(theTable().extended, s, 0) {
		return false
	}
	if s.RefsLeft() > 0 {
		d.out = append(d.out, `,"prev":`...)
		prev := s.Next()
		if prev.Failed() || !d.extended(&prev) || !isEmpty(&prev) {
			return false
		}
	}
	d.out = append(d.out, '}')
	return true
}

// messages shows WalletV1toV4Msgs: one for each reference.
func (d *Decoder) messages(s *toncell.Slice) bool {
	if !d.read() {
		return false
	}
	n := s.RefsLeft()
	d.out = append(d.out, `{"@type":"msgs_`...)
	d.out = append(strconv.AppendInt(d.out, int64(n), 10), '"')
	for i := range n {
		d.out = append(d.out, `,"msg_`...)
		d.out = append(strconv.AppendInt(d.out, int64(i)+1, 10), `":`...)
		if !d.value(theTable().message, s, 0) {
			return false
		}
	}
	d.out = append(d.out, '}')
	return true
}

// chunks shows TextChunks of the DNS standard (TEP-81), the next one in a reference.
func (d *Decoder) chunks(s *toncell.Slice, n uint64) bool {
	if !d.read() {
		return false
	}
	if n == 0 {
		d.out = append(d.out, `{"@type":"text_chunk_empty"}`...)
		return true
	}
	d.out = append(d.out, `{"@type":"text_chunk","len":`...)
	size := s.Uint(8)
	d.decimal(size)
	d.out = append(d.out, `,"data":`...)
	if s.Failed() || !d.bits(s, int(size)*8) {
		return false
	}
	if n == 1 {
		d.out = append(d.out, `,"next":{"@type":"chunk_ref_empty"}}`...)
		return true
	}
	d.out = append(d.out, `,"next":{"@type":"chunk_ref","ref":`...)
	next := s.Next()
	if next.Failed() || !d.chunks(&next, n-1) || !isEmpty(&next) {
		return false
	}
	d.out = append(d.out, "}}"...)
	return true
}
