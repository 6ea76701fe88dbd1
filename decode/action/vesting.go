package action

import (
	"slices"

	"tonscribe/schema/record"
)

// Opcodes of vesting wallets.
const (
	opVestingSend        = 0xa7733acd
	opVestingSent        = 0xf7733acd
	opVestingWhitelist   = 0x7258a69b
	opVestingWhitelisted = 0xf258a69b
)

// maxAdded is the greatest number of accounts that one message adds to a whitelist.
const maxAdded = 1 << 10

var (
	vestingSend      = NewType[vestingMessage]("vesting_send_message", V2, "vesting")
	vestingWhitelist = NewType[vestingAddition]("vesting_add_whitelist", V2, "vesting")
)

type vestingMessage struct {
	QueryID     uint64  `detail:"query_id"`
	MessageBoC  BoC     `detail:"message_boc"`
	Source      Address `detail:"source,account"`
	Vesting     Address `detail:"vesting,account"`
	Destination Address `detail:"destination,account"`
	Amount      uint64  `detail:"amount"`
}

type vestingAddition struct {
	QueryID       uint64    `detail:"query_id"`
	AccountsAdded []Address `detail:"accounts_added"`
	Source        Address   `detail:"source,account"`
	Vesting       Address   `detail:"vesting,account"`
}

// vestings are what owners and senders have vesting wallets do. The wallet's answer is
// what tells that it did; a message that it skipped, as it would have taken what is
// locked, is not sent in spite of it, nor is one by a contract that only answers.
var vestings = &Protocol{
	Name:  "vesting",
	Types: []typed{vestingSend, vestingWhitelist},
	Rules: []Rule{
		{
			Name:    "message sent by a vesting wallet",
			Order:   orderVestingSend,
			Pattern: Call(opVestingSend).With(Call(opVestingSent)),
			Make: func(m *Match) *Made {
				b := m.Block
				r := b.Body()
				sent := &vestingMessage{Source: b.Source(), Vesting: b.Destination(), QueryID: r.Uint(64)}
				r.Skip(8) // send_mode
				c := r.Ref()
				message := asked(c, r.bag)
				if message == nil {
					return nil
				}
				sent.MessageBoC, sent.Destination, sent.Amount = asSent(c), message.Destination, message.Value
				return vestingSend.Make(sent).Fails(b.Aborted() || !b.hasSent(message))
			},
		},
		{
			Name:    "accounts added to the whitelist of a vesting wallet",
			Order:   orderVestingWhitelist,
			Pattern: Call(opVestingWhitelist).With(Call(opVestingWhitelisted)),
			Make: func(m *Match) *Made {
				b := m.Block
				r := b.Body()
				added := &vestingAddition{Source: b.Source(), Vesting: b.Destination(), QueryID: r.Uint(64)}
				for range maxAdded {
					account := r.Address()
					if account == nil {
						return nil
					}
					added.AccountsAdded = append(added.AccountsAdded, account)
					if r.RefsLeft() == 0 {
						return vestingWhitelist.Make(added).Fails(b.Aborted())
					}
					r = r.Open()
				}
				return nil
			},
		},
	},
}

// hasSent reports whether the transaction sent the message that it was asked for, whatever
// value the mode gave that.
func (b *Block) hasSent(asked *record.Message) bool {
	return slices.ContainsFunc(b.Tx.OutMsgs, func(m *record.Message) bool {
		return same(m.Destination, asked.Destination) && (m.Opcode == nil) == (asked.Opcode == nil) && m.GetOpcode() == asked.GetOpcode()
	})
}
