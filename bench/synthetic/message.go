package synthetic

// readMessage finds the addresses, times and the body of a message (block.tlb).
// Who produced it and who consumed it hold the same cell: it is read once.
func (t *template) readMessage(i int32) {
	if t.read[i] || !t.nodes[i].live {
		return
	}
	t.read[i] = true
	n := &t.nodes[i]
	switch refs := 0; {
	case !bitAt(n.data, 0): // int_msg_info$0 ihr_disabled bounce bounced src dest value …
		at := t.readAddress(i, 4)
		at = t.readAddress(i, at)
		at = skipCurrencies(n, at, &refs)
		at = skipCoins(n, at) // ihr_fee
		at = skipCoins(n, at) // fwd_fee
		t.addLT(i, at)
		t.addUtime(i, at+64)
	case !bitAt(n.data, 1): // ext_in_msg_info$10 src dest import_fee
		at := t.readAddress(i, 2)
		at = t.readAddress(i, at)
		t.addSalt(i, skipCoins(n, at))
	default: // ext_out_msg_info$11 src dest created_lt created_at
		at := t.readAddress(i, 2)
		at = t.readAddress(i, at)
		t.addLT(i, at)
		t.addUtime(i, at+64)
	}
}

// readAddress passes a MsgAddress and re-keys it if it is an account of the
// basechain.
func (t *template) readAddress(i int32, at int) int {
	n := &t.nodes[i]
	switch bitsAt(n.data, at, 2) {
	case 0: // addr_none
		return at + 2
	case 1: // addr_extern
		return at + 11 + int(bitsAt(n.data, at+2, 9))
	}
	variable := bitAt(n.data, at+1)
	at += 3
	if bitAt(n.data, at-1) { // anycast: depth and as many bits
		at += 5 + int(bitsAt(n.data, at, 5))
	}
	if variable {
		return at + 9 + 32 + int(bitsAt(n.data, at, 9))
	}
	if bitsAt(n.data, at, 8) == 0 {
		t.addKey(i, at+8, 0, 256)
	}
	return at + 8 + 256
}

// Bits of an external message's body that differ from copy to copy: behind
// whatever operation code there is, inside the signature of most wallets. A body that
// is too short gives way to the cell below it.
const saltAt, saltBits = 64, 64

// addSalt makes the body of an external message, whose header is read up to bit
// at, part of what changes: it has no logical time that would tell copies apart.
func (t *template) addSalt(i int32, at int) {
	n := &t.nodes[i]
	refs := 0
	if bitAt(n.data, at) { // init:(Maybe (Either StateInit ^StateInit))
		if at++; bitAt(n.data, at) {
			refs++
		} else {
			at = skipStateInit(n, at+1, &refs) - 1
		}
	}
	at++
	body, from := i, at+1
	if bitAt(n.data, at) { // body:(Either X ^X)
		body, from = n.refs[refs], 0
	}
	for b := &t.nodes[body]; b.live; b = &t.nodes[body] {
		if b.bits-from >= saltAt+saltBits {
			t.salts = append(t.salts, place{body, from + saltAt})
			b.dirty = true
			return
		}
		if body == i || b.refCount() == 0 {
			return
		}
		body, from = b.refs[0], 0
	}
}

// skipStateInit passes split_depth:(Maybe (## 5)) special:(Maybe TickTock)
// code:(Maybe ^Cell) data:(Maybe ^Cell) library:(HashmapE 256 SimpleLib).
func skipStateInit(n *node, at int, refs *int) int {
	for _, bits := range []int{5, 2} {
		if bitAt(n.data, at) {
			at += bits
		}
		at++
	}
	for range 3 {
		if bitAt(n.data, at) {
			*refs++
		}
		at++
	}
	return at
}
