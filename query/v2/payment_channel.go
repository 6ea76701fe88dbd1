package v2

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
	channelState struct {
		_           typed         `type:"pchan.accountState"`
		Config      channelConfig `json:"config"`
		State       channelPhase  `json:"state"`
		Description string        `json:"description"`
	}
	channelConfig struct {
		_            typed          `type:"pchan.config"`
		AliceKey     string         `json:"alice_public_key"`
		Alice        accountAddress `json:"alice_address"`
		BobKey       string         `json:"bob_public_key"`
		Bob          accountAddress `json:"bob_address"`
		InitTimeout  int32          `json:"init_timeout"`
		CloseTimeout int32          `json:"close_timeout"`
		ID           int64          `json:"channel_id"`
	}

	// channelPhase is one of the phases below.
	channelPhase interface{ isChannelPhase() }

	// channelTerms are what the first two phases have in common. While a channel
	// closes, its minima are what was promised.
	channelTerms struct {
		SignedA  bool  `json:"signed_A"`
		SignedB  bool  `json:"signed_B"`
		MinA     int64 `json:"min_A"`
		MinB     int64 `json:"min_B"`
		ExpireAt int64 `json:"expire_at"`
		A        int64 `json:"A"`
		B        int64 `json:"B"`
	}
	channelInit struct {
		_ typed `type:"pchan.stateInit"`
		channelTerms
	}
	channelClose struct {
		_ typed `type:"pchan.stateClose"`
		channelTerms
	}
	channelPayout struct {
		_ typed `type:"pchan.statePayout"`
		A int64 `json:"A"`
		B int64 `json:"B"`
	}
)

func (channelInit) isChannelPhase()   {}
func (channelClose) isChannelPhase()  {}
func (channelPayout) isChannelPhase() {}

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
func readChannel(r *reader) contractState {
	if r.BitsLeft() != 0 || r.Slice().RefsNum() != 2 {
		r.Fail(errNoChannel)
		return nil
	}
	config, state := parse(r.ref()), parse(r.ref())
	channel := channelState{Config: readChannelConfig(config)}
	channel.State, channel.Description = readChannelPhase(state)
	for _, part := range []*reader{config, state} {
		if r.Fail(part.Err()); !part.Ended() {
			r.Fail(errNoChannel)
		}
	}
	return channel
}

// readChannelConfig reads ChanConfig.
func readChannelConfig(r *reader) channelConfig {
	c := channelConfig{InitTimeout: int32(r.Uint(32)), CloseTimeout: int32(r.Uint(32)), AliceKey: publicKey(r.Hash()), BobKey: publicKey(r.Hash())}
	for _, party := range []*accountAddress{&c.Alice, &c.Bob} {
		held := parse(r.ref())
		a, ok := held.address()
		if r.Fail(held.Err()); !ok || !held.Ended() {
			r.Fail(errNoChannel)
		}
		party.Address = a.bounceable()
	}
	c.ID = int64(r.Uint(64))
	r.Coins() // min_A_extra
	return c
}

// publicKey is a key as the node library writes it: a tag, the key, a checksum.
func publicKey(key [32]byte) string {
	form := append([]byte{0x3e, 0xe6}, key[:]...)
	return base64.URLEncoding.EncodeToString(binary.BigEndian.AppendUint16(form, address.Checksum(form)))
}

// readChannelPhase reads ChanState, and describes it as the node library prints
// TL-B values.
func readChannelPhase(r *reader) (channelPhase, string) {
	d := description{r: r}
	switch r.Uint(3) {
	case channelTagInit:
		d.begin("chan_state_init")
		return channelInit{channelTerms: d.terms("min_A", "min_B")}, d.end()
	case channelTagClose:
		d.begin("chan_state_close")
		return channelClose{channelTerms: d.terms("promise_A", "promise_B")}, d.end()
	case channelTagPayout:
		d.begin("chan_state_payout")
		return channelPayout{A: d.coins("A"), B: d.coins("B")}, d.end()
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
func (d *description) terms(minA, minB string) channelTerms {
	t := channelTerms{SignedA: d.uint("signed_A", 1) == 1, SignedB: d.uint("signed_B", 1) == 1}
	t.MinA, t.MinB = d.coins(minA), d.coins(minB)
	t.ExpireAt = int64(d.uint("expire_at", 32))
	t.A, t.B = d.coins("A"), d.coins("B")
	return t
}
