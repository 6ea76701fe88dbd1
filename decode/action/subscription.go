package action

import (
	"bytes"
	"math/big"
)

// Opcodes of subscriptions, a plugin of wallets of version 4.
const (
	opPaymentRequest      = 0x706c7567
	opPaymentConfirmed    = 0xf06c7567
	opSubscriptionPayment = 0x73756273
	opPluginDestruct      = 0x64737472
	opPluginRemoved       = 0xe4737472
)

// pluginReserve is what a plugin keeps of a payment at most, for itself, in nanotons.
const pluginReserve = 67_108_864

var (
	subscribe   = NewType[subscription]("subscribe", V1)
	unsubscribe = NewType[subscriptionEnd]("unsubscribe", V1)
)

type subscription struct {
	Subscriber   Address  `detail:"subscriber,account"`
	Beneficiary  Address  `detail:"beneficiary,account,optional"`
	Subscription Address  `detail:"subscription,account"`
	Amount       *big.Int `detail:"amount"`
}

type subscriptionEnd struct {
	Subscriber   Address  `detail:"subscriber,account"`
	Beneficiary  Address  `detail:"beneficiary,account,optional"`
	Subscription Address  `detail:"subscription,account"`
	Amount       *big.Int `detail:"amount,optional"`
}

// subscriptions are payments of a wallet through its plugin, the first one with the
// plugin's deployment and those that the plugin asks for, and the plugin's end.
var subscriptions = &Protocol{
	Name:  "subscriptions",
	Types: []typed{subscribe, unsubscribe},
	Rules: []Rule{
		{
			Name:  "payment of a subscription",
			Order: orderSubscribe,
			Pattern: Call(opPaymentConfirmed).With(Call(opSubscriptionPayment).As("payment")).
				Below(Call(opPaymentRequest).As("request").Maybe()),
			Make: makeSubscribe,
		},
		{
			Name:    "end of a subscription that was not paid",
			Order:   orderUnsubscribeUnpaid,
			Pattern: Call(opPluginDestruct).Where(asksForRemoval).Below(Any().Where(isExternal).Kept().Alone()),
			Make:    makeUnsubscribeUnpaid,
		},
		{
			Name:  "end of a subscription",
			Order: orderUnsubscribe,
			Pattern: Call(opPluginDestruct).With(
				Call(opPluginDestruct).As("told").With(
					Call(opPluginRemoved).With(Call(opPluginDestruct).Maybe()).Maybe(),
				).Every().Maybe(),
			),
			Make: makeUnsubscribe,
		},
	},
}

func makeSubscribe(m *Match) *Made {
	b, payment := m.Block, m.One("payment")
	s := &subscription{Subscriber: b.Source(), Beneficiary: payment.Destination(), Subscription: b.Destination(), Amount: nanotons(b.Value())}
	if request := m.One("request"); request != nil {
		r := request.Body()
		r.Skip(64) // query_id
		s.Amount = r.Coins()
		if r.Failed() {
			return nil
		}
	}
	due := new(big.Int).Sub(s.Amount, nanotons(pluginReserve))
	return subscribe.Make(s).Fails(m.Aborted("request") || returned(payment) || b.lacks(s.Amount) || payment.lacks(due))
}

func isExternal(b *Block) bool { return b.kind == kindExternal }

// asksForRemoval reports whether a plugin's message is that to its wallet, which has a
// query id. That to its beneficiary, with what the plugin has left, is the opcode alone.
func asksForRemoval(b *Block) bool {
	r := b.Body()
	r.Skip(64) // query_id
	return !r.Failed()
}

// makeUnsubscribe tells by whom the plugin tells who began it: told by its wallet, it
// tells its beneficiary; told by its beneficiary, it asks its wallet to remove it, and
// pays the beneficiary at once or when it was removed.
func makeUnsubscribe(m *Match) *Made {
	b := m.Block
	end := &subscriptionEnd{Subscriber: b.Source(), Subscription: b.Destination()}
	for _, told := range m.All("told") {
		switch {
		case !bytes.Equal(told.Destination(), b.Source()) && asksForRemoval(told):
			end.Subscriber, end.Beneficiary = told.Destination(), b.Source()
		case end.Beneficiary == nil:
			end.Beneficiary = told.Destination()
		}
	}
	return unsubscribe.Make(end).Fails(b.Aborted())
}

// makeUnsubscribeUnpaid is for a plugin that ends by itself, on a message from outside
// after its requests for payment were refused.
func makeUnsubscribeUnpaid(m *Match) *Made {
	b := m.Block
	end := &subscriptionEnd{Subscriber: b.Destination(), Subscription: b.Source()}
	for _, c := range b.Parent.Children {
		if c != b && c.IsCall(opPluginDestruct) && !asksForRemoval(c) {
			end.Beneficiary = c.Destination()
			return unsubscribe.Make(end).Consumes(c).Fails(false)
		}
	}
	return nil
}
