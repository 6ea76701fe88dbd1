package node

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"tonscribe/ton/address"
)

// A payment channel between two parties.
type (
	PaymentChannel struct {
		Alice, Bob                ChannelParty
		InitTimeout, CloseTimeout int32
		ID                        int64
		Phase                     any // ChannelInit, ChannelClose or ChannelPayout
		Description               string
	}
	// ChannelParty is a side of a channel; the key is as the node library writes it.
	ChannelParty struct {
		Key     string
		Address address.Address
	}

	// ChannelTerms are what the first two phases have in common. While a channel
	// closes, its minima are what was promised.
	ChannelTerms struct {
		SignedA, SignedB bool
		MinA, MinB       int64
		ExpireAt         int64
		A, B             int64
	}
	ChannelInit   struct{ ChannelTerms }
	ChannelClose  struct{ ChannelTerms }
	ChannelPayout struct{ A, B int64 }
)

// revisionOfBuild is the revision of a contract whose code is that of somebody's
// build of the sources.
const revisionOfBuild = -1

// Tags of ChanState (block.tlb).
const (
	channelTagInit   = 0b000
	channelTagClose  = 0b001
	channelTagPayout = 0b010
)

var errNoChannel = errors.New("no payment channel")

// readChannel reads ChanData (block.tlb): two references and no bits, to
// ChanConfig and ChanState. The code of payment channels has no get-methods and
// was never released as one build, so that its hash tells nothing; the layout
// fits nothing else to the last bit.
func readChannel(r *reader) Contract {
	if r.BitsLeft() != 0 || r.Slice().RefsNum() != 2 {
		r.Fail(errNoChannel)
		return nil
	}
	config, state := parse(r.ref()), parse(r.ref())
	c := &PaymentChannel{InitTimeout: int32(config.Uint(32)), CloseTimeout: int32(config.Uint(32))}
	c.Alice.Key, c.Bob.Key = publicKey(config.Hash()), publicKey(config.Hash())
	for _, party := range []*ChannelParty{&c.Alice, &c.Bob} {
		held := parse(config.ref())
		var ok bool
		party.Address, ok = held.address()
		if r.Fail(held.Err()); !ok || !held.Ended() {
			r.Fail(errNoChannel)
		}
	}
	c.ID = int64(config.Uint(64))
	config.Coins() // min_A_extra
	c.Phase, c.Description = readChannelPhase(state)
	for _, part := range []*reader{config, state} {
		if r.Fail(part.Err()); !part.Ended() {
			r.Fail(errNoChannel)
		}
	}
	return c
}

// publicKey is a key as the node library writes it: a tag, the key, a checksum.
func publicKey(key [32]byte) string {
	form := append([]byte{0x3e, 0xe6}, key[:]...)
	return base64.URLEncoding.EncodeToString(binary.BigEndian.AppendUint16(form, address.Checksum(form)))
}

// readChannelPhase reads ChanState, and describes it as the node library prints
// TL-B values.
func readChannelPhase(r *reader) (any, string) {
	d := description{r: r}
	switch r.Uint(3) {
	case channelTagInit:
		d.begin("chan_state_init")
		return ChannelInit{d.terms("min_A", "min_B")}, d.end()
	case channelTagClose:
		d.begin("chan_state_close")
		return ChannelClose{d.terms("promise_A", "promise_B")}, d.end()
	case channelTagPayout:
		d.begin("chan_state_payout")
		return ChannelPayout{A: d.coins("A"), B: d.coins("B")}, d.end()
	}
	r.Fail(errNoChannel)
	return nil, ""
}

// description reads the fields of a TL-B value and prints them.
type description struct {
	r    *reader
	text strings.Builder
}

func (d *description) begin(name string) { d.text.WriteString("(" + name) }

func (d *description) end() string { return d.text.String() + ")" }

func (d *description) uint(name string, bits uint) uint64 {
	n := d.r.Uint(bits)
	fmt.Fprintf(&d.text, " %s:%d", name, n)
	return n
}

// coins reads Grams.
func (d *description) coins(name string) int64 {
	n := d.r.Coins()
	fmt.Fprintf(&d.text, " %s:(nanograms amount:(var_uint len:%d value:%s))", name, (n.BitLen()+7)/8, n)
	return n.Int64()
}

// terms reads the two signatures, two minima, the time and two balances.
func (d *description) terms(minA, minB string) ChannelTerms {
	t := ChannelTerms{SignedA: d.uint("signed_A", 1) == 1, SignedB: d.uint("signed_B", 1) == 1}
	t.MinA, t.MinB = d.coins(minA), d.coins(minB)
	t.ExpireAt = int64(d.uint("expire_at", 32))
	t.A, t.B = d.coins("A"), d.coins("B")
	return t
}
