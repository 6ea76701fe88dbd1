package action_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
)

var (
	oapp       = account(0x91)
	endpoint   = account(0x92)
	channel    = account(0x93)
	connection = account(0x94)
	uln        = account(0x95)
	dvn        = account(0x96)
	dvnProxy   = account(0x97)
	sink       = account(0x98)
	lzGuid     = append([]byte{0}, bytes.Repeat([]byte{0xfe}, 31)...)
)

// lzObject begins an object of LayerZero's class library.
func lzObject(name string) *cell.Builder {
	b := cell.BeginCell().MustStoreSlice(append(make([]byte, 10-len(name)), name...), 80)
	for range 27 {
		b.MustStoreUInt(0x3ff, 10)
	}
	return b
}

func id256(b *cell.Builder, id []byte) *cell.Builder { return b.MustStoreSlice(id, 256) }

func lzPacket(to []byte) *cell.Cell {
	path := id256(id256(lzObject("path").MustStoreUInt(30101, 32), bytes.Repeat([]byte{5}, 32)).MustStoreUInt(30343, 32), to[4:])
	tail := cell.BeginCell().MustStoreSlice([]byte{3}, 8).EndCell()
	message := cell.BeginCell().MustStoreSlice([]byte{1, 2}, 16).MustStoreRef(tail).EndCell()
	return id256(lzObject("Packet").MustStoreUInt(162, 64), lzGuid).MustStoreRef(path.EndCell()).MustStoreRef(message).EndCell()
}

// lzCall is a message of LayerZero with an object.
func lzCall(to []byte, op uint64, object *cell.Cell, then ...step) step {
	if object == nil {
		object = lzObject("MdObj").EndCell()
	}
	b := coins(word(op).MustStoreUInt(4, 64), 0).MustStoreAddr(friendly(alice)).MustStoreRef(object)
	return step{to: to, value: 50, body: b, then: then}
}

func lzEvent() step { return step{to: sink, aborted: true, body: word(0xe33b9873)} }

func lzPacketDetails(to []byte) []any {
	return []any{"layerzero_packet_data.src_oapp", "0x" + hex.EncodeToString(bytes.Repeat([]byte{5}, 32))[1:], "layerzero_packet_data.dst_oapp",
		"0x" + hex.EncodeToString(to[4:]), "layerzero_packet_data.src_eid", 30101, "layerzero_packet_data.dst_eid", 30343,
		"layerzero_packet_data.nonce", 162, "layerzero_packet_data.guid", "0x" + hex.EncodeToString(lzGuid[1:]), "layerzero_packet_data.message", "0x010203"}
}

func TestAPacketIsSentThroughLayerZero(t *testing.T) {
	fees := id256(cell.BeginCell(), connection[4:]).MustStoreUInt(0, 64).MustStoreUInt(170162108, 64).MustStoreUInt(1, 64).MustStoreUInt(0, 64)
	sent := id256(id256(lzObject("lzSend").MustStoreUInt(531, 64), dvn[4:]), uln[4:]).MustStoreRef(lzPacket(oapp)).
		MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(fees.EndCell())
	answer := func(sent *cell.Builder, code uint64) *cell.Cell {
		r := lzObject("MsgReceipt").MustStoreUInt(0, 64).MustStoreUInt(5, 64).MustStoreUInt(0, 128).MustStoreUInt(code, 16)
		return lzObject("MdObj").MustStoreRef(r.MustStoreRef(sent.EndCell()).EndCell()).EndCell()
	}
	receipt := func(sent *cell.Builder) *cell.Cell { return answer(sent, 0) }
	callback := func(object *cell.Cell) step {
		return lzCall(oapp, 0xa2b5fbae, object, lzEvent(), step{to: alice, value: 3})
	}
	send := func(object *cell.Cell) step {
		callback := callback(object)
		return lzCall(endpoint, 0xdd4ea3b4, nil, lzCall(channel, 0x536feb09, nil, lzCall(connection, 0x4002b790, nil, lzCall(uln, 0x5de68393, nil,
			lzCall(channel, 0x421c1a25, nil, step{to: market, value: 1}, step{to: dvn, value: 2}, lzEvent(), callback)))))
	}
	list := outermost(t, action.NoFacts{}, play(oapp, send(receipt(sent))))
	wants(t, list, "layerzero_send")
	details(t, list, "layerzero_send", append([]any{"initiator", oapp, "layerzero_send_data.send_request_id", 531,
		"layerzero_send_data.msglib_manager", "0x" + hex.EncodeToString(dvn[4:]), "layerzero_send_data.msglib", "0x" + hex.EncodeToString(uln[4:]),
		"layerzero_send_data.uln", uln, "layerzero_send_data.native_fee", 170162108, "layerzero_send_data.zro_fee", nil,
		"layerzero_send_data.endpoint", endpoint, "layerzero_send_data.channel", channel}, lzPacketDetails(oapp)...)...)

	list = outermost(t, action.NoFacts{}, play(oapp, send(answer(sent, 136)))) // too small a fee
	wants(t, list, "layerzero_send!")
	details(t, list, "layerzero_send!", "layerzero_send_data.send_request_id", 531, "layerzero_send_data.uln", uln)
	congested := lzCall(endpoint, 0xdd4ea3b4, nil, lzCall(channel, 0x536feb09, nil, lzEvent(), callback(answer(sent, 138))))
	list = outermost(t, action.NoFacts{}, play(oapp, congested))
	wants(t, list, "layerzero_send!")
	details(t, list, "layerzero_send!", "layerzero_send_data.uln", nil, "layerzero_send_data.channel", channel)

	tokens := jettonsTo(alice, oapp, aliceWallet, bobWallet, 100, cell.BeginCell(), lzEvent(), send(receipt(sent)))
	facts := known{wallet(aliceWallet, alice), wallet(bobWallet, oapp)}
	list = outermost(t, facts, play(alice, tokens))
	wants(t, list, "layerzero_send_tokens")
	details(t, list, "layerzero_send_tokens", append([]any{"sender", alice, "sender_wallet", aliceWallet, "oapp", oapp, "oapp_wallet", bobWallet,
		"asset", master, "amount", 100, "layerzero_send_data.send_request_id", 531}, lzPacketDetails(oapp)...)...)
	tokens.then[0].then[0].then = tokens.then[0].then[0].then[1:]
	wants(t, outermost(t, facts, play(alice, tokens)), "layerzero_send_tokens") // without event

	for what, object := range map[string]*cell.Cell{
		"another object":   receipt(lzObject("lzQuote").MustStoreRef(lzPacket(oapp))),
		"a short one":      receipt(lzObject("lzSend")),
		"nothing of ours":  cell.BeginCell().EndCell(),
		"another packet":   receipt(id256(id256(lzObject("lzSend").MustStoreUInt(531, 64), dvn[4:]), uln[4:]).MustStoreRef(lzObject("packet").EndCell())),
		"no packet inside": receipt(id256(id256(lzObject("lzSend").MustStoreUInt(531, 64), dvn[4:]), uln[4:])),
	} {
		for _, a := range outermost(t, action.NoFacts{}, play(oapp, send(object))) {
			if a.Type.Name == "layerzero_send" {
				t.Errorf("%s was sent", what)
			}
		}
	}
	unsent := lzCall(endpoint, 0xdd4ea3b4, nil, lzCall(channel, 0x536feb09, nil))
	wants(t, outermost(t, action.NoFacts{}, play(oapp, unsent)), "call_contract", "call_contract")
}

func TestAPacketIsReceivedThroughLayerZero(t *testing.T) {
	receive := func(to []byte, execute step, then ...step) step {
		e := lzCall(oapp, 0x0c7b8418, lzObject("MdObj").MustStoreRef(lzPacket(to)).EndCell(), then...)
		e.aborted = execute.aborted
		return lzCall(channel, 0x22f3ac09, nil, lzCall(oapp, 0x97df404c, lzPacket(to), lzCall(channel, 0xb7680bc6, nil, e)), step{to: alice, value: 2})
	}
	status := func(taken bool) step {
		s := lzObject("LzRecvSts").MustStoreBoolBit(taken).MustStoreUInt(162, 64).EndCell()
		return lzCall(channel, 0xcaae25a1, s, lzEvent(), step{to: alice, value: 3})
	}
	received := status(true)
	list := outermost(t, action.NoFacts{}, play(alice, receive(oapp, step{}, lzEvent(), received)))
	wants(t, list, "layerzero_receive")
	details(t, list, "layerzero_receive", append([]any{"sender", alice, "oapp", oapp, "channel", channel}, lzPacketDetails(oapp)...)...)
	wants(t, outermost(t, action.NoFacts{}, play(alice, receive(oapp, step{aborted: true}))), "layerzero_receive!")
	wants(t, outermost(t, action.NoFacts{}, play(alice, receive(oapp, step{}))), "layerzero_receive!")
	wants(t, outermost(t, action.NoFacts{}, play(alice, receive(oapp, step{}, status(false)))), "layerzero_receive!")
	ended := lzCall(oapp, 0x97df404c, lzPacket(oapp))
	ended.aborted = true
	for _, s := range []step{ended, lzCall(oapp, 0x97df404c, lzPacket(oapp), lzCall(channel, 0xb7680bc6, nil, lzEvent(), step{to: alice, value: 2}))} {
		list := outermost(t, action.NoFacts{}, play(alice, lzCall(channel, 0x22f3ac09, nil, s)))
		wants(t, list, "layerzero_receive!")
		details(t, list, "layerzero_receive!", append([]any{"sender", alice, "oapp", oapp, "channel", channel}, lzPacketDetails(oapp)...)...)
	}
	if list := outermost(t, action.NoFacts{}, play(alice, receive(bob, step{}, received))); list[0].Type.Name != "call_contract" {
		t.Errorf("a packet for another one is %s", list[0].Type.Name)
	}
}

func TestAPacketIsCommittedAtLayerZero(t *testing.T) {
	commit := func(last step, then ...step) step {
		c := lzCall(channel, 0x5388cd88, lzObject("extendedMd").MustStoreRef(lzPacket(oapp)).EndCell(), then...)
		c.aborted = last.aborted
		return lzCall(uln, 0x28b97077, nil, lzCall(connection, 0xf9d37b80, nil, lzCall(endpoint, 0x5dab749a, nil, c)))
	}
	committed := lzCall(connection, 0x5e178f33, nil, step{to: alice, value: 3})
	list := outermost(t, action.NoFacts{}, play(alice, commit(step{}, lzEvent(), committed)))
	wants(t, list, "layerzero_commit_packet")
	details(t, list, "layerzero_commit_packet", append([]any{"sender", alice, "endpoint", endpoint, "uln", connection, "uln_connection", connection,
		"channel", channel, "msglib_connection", connection}, lzPacketDetails(oapp)...)...)
	wants(t, outermost(t, action.NoFacts{}, play(alice, commit(step{}, committed))), "layerzero_commit_packet!") // it was there already
	list = outermost(t, action.NoFacts{}, play(alice, commit(step{aborted: true})))
	wants(t, list, "layerzero_commit_packet!")
	details(t, list, "layerzero_commit_packet!", "msglib_connection", nil)
}

func TestAVerifiersWordIsTakenOrNot(t *testing.T) {
	verify := func(status *cell.Builder) step {
		verified := lzCall(dvnProxy, 0x3cb38090, lzObject("MdObj").MustStoreRef(status.EndCell()).EndCell(), step{to: alice, value: 3})
		return lzCall(dvn, 0xa0d51a8d, nil, lzCall(dvnProxy, 0x09f047d9, nil, lzCall(uln, 0x994aaf4e, nil,
			lzCall(connection, 0x4ec8f80a, nil, lzEvent(), verified))))
	}
	for status, code := range map[string]uint64{"succeeded": 0x3bbc306b, "nonce_out_of_range": 0x7fcbb4ac, "dvn_not_configured": 0x29c53fab, "unknown_7": 7} {
		list := outermost(t, action.NoFacts{}, play(alice, verify(lzObject("veristatus").MustStoreUInt(125, 64).MustStoreUInt(code, 32))))
		want := "layerzero_dvn_verify!"
		if status == "succeeded" {
			want = "layerzero_dvn_verify"
		}
		wants(t, list, want)
		details(t, list, want, "initiator", alice, "nonce", 125, "status", status, "dvn", dvn, "proxy", dvnProxy, "uln", uln, "uln_connection", connection)
	}
	if list := outermost(t, action.NoFacts{}, play(alice, verify(lzObject("veristatus")))); list[0].Type.Name != "call_contract" {
		t.Errorf("a status without code is %s", list[0].Type.Name)
	}
}
