package action

import "math/big"

// Opcodes of subscriptions, a plugin of wallets of version 4.
const (
	opPaymentRequest      = 0x706c7567
	opPaymentConfirmed    = 0xf06c7567
	opSubscriptionPayment = 0x73756273
	opPluginDestruct      = 0x64737472
	opPluginRemoved       = 0xe4737472
)

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
			Name:  "end of a subscription",
			Order: orderUnsubscribe,
			Pattern: Call(opPluginDestruct).With(
				Call(opPluginDestruct).As("answer").With(
					Call(opPluginRemoved).As("removed").With(Call(opPluginDestruct).Maybe()).Maybe(),
				).Maybe(),
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
	return subscribe.Make(s).Fails(m.Aborted("request") || returned(payment))
}

// makeUnsubscribe tells by the answer who began it: told by its wallet, a plugin tells
// its beneficiary; told by its beneficiary, it asks its wallet to remove it.
func makeUnsubscribe(m *Match) *Made {
	b := m.Block
	end := &subscriptionEnd{Subscriber: b.Source(), Subscription: b.Destination()}
	if answer := m.One("answer"); m.One("removed") != nil {
		end.Subscriber, end.Beneficiary = answer.Destination(), b.Source()
	} else if answer != nil {
		end.Beneficiary = answer.Destination()
	}
	return unsubscribe.Make(end).Fails(b.Aborted())
}
