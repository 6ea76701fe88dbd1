package action

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
)

// Opcodes of LayerZero.
const (
	opLayerEndpointSend     = 0xdd4ea3b4
	opLayerChannelSend      = 0x536feb09
	opLayerConnectionSend   = 0x4002b790
	opLayerUlnSend          = 0x5de68393
	opLayerSendCallback     = 0x421c1a25
	opLayerSent             = 0xa2b5fbae
	opLayerEvent            = 0xe33b9873
	opLayerReceivePrepare   = 0x22f3ac09
	opLayerOappPrepare      = 0x97df404c
	opLayerReceiveLock      = 0xb7680bc6
	opLayerReceiveExecute   = 0x0c7b8418
	opLayerReceived         = 0xcaae25a1
	opLayerUlnCommit        = 0x28b97077
	opLayerConnectionCommit = 0xf9d37b80
	opLayerEndpointCommit   = 0x5dab749a
	opLayerChannelCommit    = 0x5388cd88
	opLayerCommitted        = 0x5e178f33
	opLayerDvnVerify        = 0xa0d51a8d
	opLayerProxyCall        = 0x09f047d9
	opLayerUlnVerify        = 0x994aaf4e
	opLayerConnectionVerify = 0x4ec8f80a
	opLayerVerified         = 0x3cb38090
)

// layerVerified is the status of a verification that was taken.
const layerVerified = "succeeded"

// layerStatuses are the statuses of verifications by their codes.
var layerStatuses = map[uint64]string{
	0x3bbc306b: layerVerified,
	0x7fcbb4ac: "nonce_out_of_range",
	0x29c53fab: "dvn_not_configured",
}

var (
	layerSend       = NewType[layerSending]("layerzero_send", V3, "layerzero")
	layerSendTokens = NewType[layerTokens]("layerzero_send_tokens", V3, "layerzero")
	layerReceive    = NewType[layerReceiving]("layerzero_receive", V3, "layerzero")
	layerCommit     = NewType[layerCommitment]("layerzero_commit_packet", V3, "layerzero")
	layerVerify     = NewType[layerVerification]("layerzero_dvn_verify", V3, "layerzero")
)

type layerSending struct {
	Initiator Address     `detail:"initiator,account"`
	Send      layerRoute  `detail:"layerzero_send_data"`
	Packet    layerPacket `detail:"layerzero_packet_data"`
}

type layerTokens struct {
	Sender       Address     `detail:"sender,account"`
	SenderWallet Address     `detail:"sender_wallet,account"`
	Oapp         Address     `detail:"oapp,account"`
	OappWallet   Address     `detail:"oapp_wallet,account"`
	Asset        Address     `detail:"asset"`
	Amount       *big.Int    `detail:"amount"`
	Send         layerRoute  `detail:"layerzero_send_data"`
	Packet       layerPacket `detail:"layerzero_packet_data"`
}

type layerReceiving struct {
	Sender  Address     `detail:"sender,account"`
	Oapp    Address     `detail:"oapp,account"`
	Channel Address     `detail:"channel,account"`
	Packet  layerPacket `detail:"layerzero_packet_data"`
}

type layerCommitment struct {
	Sender           Address     `detail:"sender,account"`
	Endpoint         Address     `detail:"endpoint,account"`
	Uln              Address     `detail:"uln,account"`
	UlnConnection    Address     `detail:"uln_connection,account"`
	Channel          Address     `detail:"channel"`
	MsglibConnection Address     `detail:"msglib_connection"`
	Packet           layerPacket `detail:"layerzero_packet_data"`
}

type layerVerification struct {
	Initiator     Address `detail:"initiator,account"`
	Nonce         *int64  `detail:"nonce"`
	Status        string  `detail:"status"`
	Dvn           Address `detail:"dvn"`
	Proxy         Address `detail:"proxy"`
	Uln           Address `detail:"uln"`
	UlnConnection Address `detail:"uln_connection"`
}

// layerRoute is on which way a packet was sent, and what that cost.
type layerRoute struct {
	SendRequestID *int64  `detail:"send_request_id"`
	MsglibManager string  `detail:"msglib_manager"`
	Msglib        string  `detail:"msglib"`
	Uln           Address `detail:"uln"`
	NativeFee     *int64  `detail:"native_fee"`
	ZroFee        *int64  `detail:"zro_fee"`
	Endpoint      Address `detail:"endpoint"`
	Channel       Address `detail:"channel"`
}

// layerPacket is what goes from an application on one chain to one on another.
type layerPacket struct {
	SrcOapp string  `detail:"src_oapp"`
	DstOapp string  `detail:"dst_oapp"`
	SrcEid  int64   `detail:"src_eid"`
	DstEid  int64   `detail:"dst_eid"`
	Nonce   *int64  `detail:"nonce"`
	Guid    string  `detail:"guid"`
	Message *string `detail:"message"`
}

// layerZero are packets between applications on different chains: sent by an
// endpoint, verified by verifier networks, committed, received by an application.
var layerZero = &Protocol{
	Name:  "layerzero",
	Types: []typed{layerSend, layerSendTokens, layerReceive, layerCommit, layerVerify},
	Rules: []Rule{
		{
			Name:  "packet sent through LayerZero",
			Order: orderLayerZeroSend,
			Pattern: Call(opLayerEndpointSend).With(Call(opLayerChannelSend).As("channel").With(layerEvents(), OneOf(
				Call(opLayerConnectionSend).With(Call(opLayerUlnSend).As("uln").With(
					Call(opLayerSendCallback).With(layerEvents(), layerChange(), layerReceipt()),
				)),
				layerReceipt(),
			))),
			Make: makeLayerSend,
		},
		{
			Name:    "jettons sent through LayerZero",
			Order:   orderLayerZeroSendTokens,
			Pattern: Is(layerSend).As("send").Below(Is(jettonTransfer).As("transfer").With(layerEvents())),
			Make:    makeLayerSendTokens,
		},
		{
			Name:  "packet received through LayerZero",
			Order: orderLayerZeroReceive,
			Pattern: Call(opLayerReceivePrepare).With(layerChange(), Call(opLayerOappPrepare).As("prepare").With(
				Call(opLayerReceiveLock).With(layerEvents(), layerChange(),
					Call(opLayerReceiveExecute).As("execute").With(layerEvents(),
						Call(opLayerReceived).As("received").With(layerEvents(), layerChange()).Maybe(),
					).Maybe(),
				).Maybe(),
			)),
			Make: makeLayerReceive,
		},
		{
			Name:  "packet committed at LayerZero",
			Order: orderLayerZeroCommit,
			Pattern: Call(opLayerUlnCommit).With(Call(opLayerConnectionCommit).As("connection").With(
				Call(opLayerEndpointCommit).As("endpoint").With(Call(opLayerChannelCommit).As("channel").With(layerEvents().As("event"),
					Call(opLayerCommitted).As("committed").With(layerChange()).Maybe(),
				)),
			)),
			Make: makeLayerCommit,
		},
		{
			Name:  "packet verified at LayerZero",
			Order: orderLayerZeroVerify,
			Pattern: Call(opLayerDvnVerify).With(Call(opLayerProxyCall).As("proxy").With(
				Call(opLayerUlnVerify).As("uln").With(Call(opLayerConnectionVerify).As("connection").With(layerEvents(),
					Call(opLayerVerified).As("verified").With(layerChange()),
				)),
			)),
			Make: makeLayerVerify,
		},
	},
}

// layerEvents are what contracts tell: messages to a sink, which takes none.
func layerEvents() *Pattern { return OneOf(Call(opLayerEvent), Log(opLayerEvent)).Every().Maybe() }

// layerChange is what is paid, and what is left in the end.
func layerChange() *Pattern { return Plain().Every().Maybe() }

// layerReceipt is what an application is told of a packet that it sent.
func layerReceipt() *Pattern {
	return Call(opLayerSent).As("sent").With(layerEvents(), layerChange())
}

// layerHeader is the number of bits that objects of LayerZero's class library begin
// with: a name of ten bytes, and of which kinds the fields are.
const layerHeader = 350

// layerObject reads the header of an object, and fails where it has another name.
func layerObject(r Reader, name string) Reader {
	whole := r
	var b [10]byte
	r.Read(b[:])
	whole.Skip(layerHeader)
	if strings.TrimLeft(string(b[:]), "\x00") != name {
		whole.FailTag()
	}
	return whole
}

// layerBody reads the object of a message of LayerZero. Others' fields are the query
// id, what is given to the contract and who began it all.
func layerBody(b *Block) Reader {
	r := b.Body()
	return r.Open()
}

// hexOf is a number as it is written in details.
func hexOf(n *big.Int) string { return "0x" + n.Text(16) }

// number is a number as JSON has it, nil where it is too large.
func number(n *big.Int) *int64 {
	if !n.IsInt64() {
		return nil
	}
	v := n.Int64()
	return &v
}

func readLayerPacket(r Reader) (p layerPacket, ok bool) {
	r = layerObject(r, "Packet")
	path := layerObject(r.Open(), "path")
	message := r.Open()
	p.Nonce, p.Guid = number(r.Big(64)), hexOf(r.Big(256))
	p.SrcEid, p.SrcOapp = int64(path.Uint(32)), hexOf(path.Big(256))
	p.DstEid, p.DstOapp = int64(path.Uint(32)), hexOf(path.Big(256))
	if bytes, ok := message.Bytes(); ok {
		text := "0x" + hex.EncodeToString(bytes)
		p.Message = &text
	}
	return p, !r.Failed() && !path.Failed()
}

func makeLayerSend(m *Match) *Made {
	sent := m.One("sent")
	list := layerObject(layerBody(sent), "MdObj")
	receipt := layerObject(list.Open(), "MsgReceipt")
	r := layerObject(receipt.Open(), "lzSend")
	receipt.Skip(128 + 128) // what it cost
	refused := receipt.Uint(16) != 0
	made := &layerSending{Initiator: m.Block.Source(), Send: layerRoute{
		SendRequestID: number(r.Big(64)), MsglibManager: hexOf(r.Big(256)), Msglib: hexOf(r.Big(256)),
		Endpoint: m.Block.Destination(), Channel: m.One("channel").Destination(),
	}}
	if uln := m.One("uln"); uln != nil {
		made.Send.Uln = uln.Destination()
	}
	packet := r.Open()
	r.Ref() // extraOptions
	fees := r.Open()
	fees.Skip(256) // sendMsglibConnection
	made.Send.NativeFee, made.Send.ZroFee = number(fees.Big(128)), number(fees.Big(128))
	var ok bool
	if made.Packet, ok = readLayerPacket(packet); !ok || receipt.Failed() || r.Failed() || fees.Failed() {
		return nil
	}
	return layerSend.Make(made).Fails(m.Block.Aborted() || refused)
}

func makeLayerSendTokens(m *Match) *Made {
	t, send := jettonTransfer.Of(m.One("transfer")), layerSend.Of(m.Block)
	return layerSendTokens.Make(&layerTokens{
		Sender: t.Sender, SenderWallet: t.SenderJettonWallet, Oapp: t.Receiver, OappWallet: t.ReceiverJettonWallet,
		Asset: t.Asset, Amount: t.Amount, Send: send.Send, Packet: send.Packet,
	}).Fails(m.Aborted("send", "transfer"))
}

// makeLayerReceive reads the packet where the application is told to take it, and where
// it was only asked whether it would, there.
func makeLayerReceive(m *Match) *Made {
	prepare, execute, received := m.One("prepare"), m.One("execute"), m.One("received")
	body := layerBody(prepare)
	if execute != nil {
		list := layerObject(layerBody(execute), "MdObj")
		body = list.Open()
	}
	packet, ok := readLayerPacket(body)
	if oapp := prepare.Destination(); !ok || len(oapp) != 36 || packet.DstOapp != hexOf(new(big.Int).SetBytes(oapp[4:])) {
		return nil
	}
	return layerReceive.Make(&layerReceiving{
		Sender: m.Block.Source(), Oapp: prepare.Destination(), Channel: m.Block.Destination(), Packet: packet,
	}).Fails(received == nil || execute.Aborted() || received.Aborted() || !layerTaken(received))
}

// layerTaken reports whether an application took a packet, as it tells the channel.
func layerTaken(b *Block) bool {
	status := layerBody(b)
	status.Skip(layerHeader)
	taken := status.Bool()
	return taken && !status.Failed()
}

func makeLayerCommit(m *Match) *Made {
	connection, channel, committed := m.One("connection"), m.One("channel"), m.One("committed")
	md := layerObject(layerBody(channel), "extendedMd")
	packet, ok := readLayerPacket(md.Open())
	if !ok {
		return nil
	}
	made := &layerCommitment{
		Sender: m.Block.Source(), Endpoint: m.One("endpoint").Destination(),
		Uln: connection.Destination(), UlnConnection: connection.Destination(), // one for both, as the reference has it
		Channel: channel.Destination(), Packet: packet,
	}
	if committed != nil {
		made.MsglibConnection = committed.Destination()
	}
	// A channel tells what it took, and answers what it has already, too.
	return layerCommit.Make(made).Fails(committed == nil || channel.Aborted() || m.One("event") == nil)
}

func makeLayerVerify(m *Match) *Made {
	list := layerObject(layerBody(m.One("verified")), "MdObj")
	r := layerObject(list.Open(), "veristatus")
	made := &layerVerification{
		Initiator: m.Block.Source(), Dvn: m.Block.Destination(), Proxy: m.One("proxy").Destination(),
		Uln: m.One("uln").Destination(), UlnConnection: m.One("connection").Destination(),
		Nonce: number(r.Big(64)),
	}
	code := r.Uint(32)
	if r.Failed() {
		return nil
	}
	made.Status = layerStatuses[code]
	if made.Status == "" {
		made.Status = "unknown_" + strconv.FormatUint(code, 10)
	}
	return layerVerify.Make(made).Fails(made.Status != layerVerified)
}
