package token

import "github.com/xssnick/tonutils-go/tvm/cell"

// Snake joins the bits of s and of the chain of first references behind it, until
// they are more than maxBytes bytes. ok is false when all of them fill no whole number
// of bytes, when one of the cells is special, and when there are more of them
// than cells; those behind the first one are taken from it.
func Snake(s *cell.Slice, maxBytes int, cells *int) (text []byte, ok bool) {
	var total uint
	for ; *cells > 0; *cells-- {
		if s.IsSpecial() {
			return nil, false
		}
		bits, data, err := s.RestBits()
		if err != nil {
			return nil, false
		}
		text = join(text, total, data, bits)
		total += bits
		switch {
		case s.RefsNum() > 0 && len(text) <= maxBytes:
		case s.RefsNum() == 0 && total%8 != 0:
			return nil, false
		default:
			return text, true
		}
		if s, err = s.LoadRef(); err != nil {
			return nil, false
		}
	}
	return nil, false
}

// join appends bits to text, which has total of them.
func join(text []byte, total uint, data []byte, bits uint) []byte {
	shift := total % 8
	if shift == 0 {
		return append(text, data...)
	}
	for _, b := range data {
		text[len(text)-1] |= b >> shift
		text = append(text, b<<(8-shift))
	}
	return text[:(total+bits+7)/8]
}
