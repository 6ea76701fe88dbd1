package match

import (
	"math/big"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/schema/record"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// outcomes counts what was told of payments, by reference, in the words of their events.
func (s *town) outcomes(told []*record.TransferEvent) map[store.Reference][]string {
	s.Helper()
	all, ids := map[store.Reference][]string{}, map[string]bool{}
	for _, e := range told {
		if ids[string(e.Id)] {
			s.Errorf("event %x is told twice", e.Id)
		}
		ids[string(e.Id)] = true
		what := "success"
		if e.Status == record.TransferStatus_TRANSFER_FAILED {
			what = "failed"
		}
		if e.Duplicate {
			what += " duplicate"
		}
		of := store.Reference(e.Reference)
		all[of] = append(all[of], what)
	}
	return all
}

// expects complains of payments that did not end so.
func (s *town) expects(what string, told []*record.TransferEvent, want map[store.Reference][]string) {
	s.Helper()
	got := s.outcomes(told)
	wrong := 0
	for reference, words := range want {
		if !slices.Equal(got[reference], words) {
			if wrong++; wrong <= 3 {
				s.Errorf("%s: payment %s is told %q, want %q", what, payment.Reference(reference), got[reference], words)
			}
		}
	}
	if len(got) != len(want) || wrong > 3 {
		s.Errorf("%s: %d payments are told of, want %d; %d are told otherwise", what, len(got), len(want), wrong)
	}
}

func TestEveryPaymentOfAMessageWithManyIsToldByItself(t *testing.T) {
	for _, c := range []struct {
		what string
		from func(*town) *actor
		many int
		most int // jettons among them: those in the native coin follow
	}{
		{"a wallet with four messages", func(s *town) *actor { return s.payer }, 4, 2},
		{"a wallet with 255", func(s *town) *actor { return s.five }, 255, 10},
		{"a highload wallet with all that it can", func(s *town) *actor { return s.highload }, 253, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			s := newTown(t)
			from, want := c.from(s), map[store.Reference][]string{}
			var messages []contracts.Message
			for n := range c.many {
				amount, comment := ton(0.02), ""
				if n < c.most {
					amount = big.NewInt(1)
				}
				if n%2 == 1 {
					comment = "one of many"
				}
				p, m := s.registers(from, n < c.most, amount, comment)
				message := asked(m, true)
				message.Mode |= contracts.ModeIgnoreErrors
				messages, want[p.Reference] = append(messages, message), []string{"success"}
			}
			s.expects(c.what, s.send(from, messages...), want)
		})
	}
}

func TestABatchThatAHighloadWalletCannotPayFailsAsAWhole(t *testing.T) {
	s := newTown(t)
	want := map[store.Reference][]string{}
	var messages []contracts.Message
	for range s.highload.wallet.MaxMessages() {
		p, m := s.registers(s.highload, false, ton(1), "")
		messages, want[p.Reference] = append(messages, asked(m, true)), []string{"failed"}
	}
	s.expects("all of it is more than the wallet has", s.send(s.highload, messages...), want)
}

func TestABatchThatAHighloadWalletGivesNoGasFails(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.highload, false, ton(1), "")
	send := cell.BeginCell().MustStoreRef(cell.BeginCell().EndCell()).MustStoreUInt(0x0ec3c86d, 32).MustStoreUInt(contracts.ModePayFees, 8).MustStoreRef(asked(m, true).Cell()).EndCell()
	toItself := cell.BeginCell().MustStoreUInt(0xae42e5a4, 32).MustStoreUInt(0, 64).MustStoreRef(send).EndCell()
	s.wants("what it tells itself", s.send(s.highload, pays(s.highload.Address, big.NewInt(40_000), toItself, false)), p, "failed 1 1000000000 TON -14 Out of gas")
	if told := s.send(s.stranger, pays(s.highload.Address, big.NewInt(40_000), toItself, false)); len(told) > 0 {
		t.Errorf("what a stranger tells it: %d events, want none", len(told))
	}
}

func TestTheSamePaymentTwiceInOneTransactionIsADuplicate(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.payer, false, ton(1), "")
	q, n := s.registers(s.payer, true, big.NewInt(3), "Order 44")
	first := s.send(s.payer, asked(m, true), asked(n, true), asked(m, true), asked(n, true))
	s.expects("each twice", first, map[store.Reference][]string{
		p.Reference: {"success", "success duplicate"}, q.Reference: {"success", "success duplicate"},
	})
	s.expects("and once more", s.send(s.payer, asked(n, true), asked(m, true)), map[store.Reference][]string{
		p.Reference: {"success duplicate"}, q.Reference: {"success duplicate"},
	})
}

func TestAPaymentOfWhichOneOfTwoMessagesIsSkippedIsPaid(t *testing.T) {
	s := newTown(t)
	p, m := s.registers(s.five, false, ton(60), "") // the wallet has 100
	twice := asked(m, true)
	twice.Mode |= contracts.ModeIgnoreErrors
	s.expects("one is skipped", s.send(s.five, twice, twice), map[store.Reference][]string{p.Reference: {"success"}})

	p, m = s.registers(s.payer, false, ton(1), "")
	other := asked(m, true)
	other.To = s.stranger.Address
	s.expects("to somebody else and to the recipient", s.send(s.payer, other, asked(m, true)), map[store.Reference][]string{p.Reference: {"failed", "success"}})
}
