package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"tonscribe/webhooks/event"
	"tonscribe/webhooks/receiver"
)

// receiverCommand takes webhooks, for trials and as an example.
func receiverCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "receiver",
		Short: "Take payment webhooks, as a shop does",
		Long: `Take payment webhooks, as a shop does: check who signed, find the order, compare
amount, asset and wallet, answer, and only then process. Each order that is paid is
printed once, as the JSON of its event, for what ships it.

--orders has an order in each line, and is read again when a reference is not known:

  {"reference":"0192…","amount":"10.5","asset":"TON","recipient":"EQ…"}

asset is TON when there is none, and any wallet may be paid without recipient. What
became of orders is in --journal; a payment that was being printed when the process
ended is printed once more after it starts.

The secrets that may have signed, two while one is replaced, are not for a command
line, which everybody sees: TONSCRIBE_RECEIVER_SECRETS, or receiver.secrets in --config.`,
		Example: `  TONSCRIBE_RECEIVER_SECRETS=whsec_… tonscribe receiver --orders orders.jsonl`,
		Args:    cobra.NoArgs,
		RunE: s.running(func(cmd *cobra.Command, p *process) (err error) {
			settings := s.Receiver
			if err := settings.Validate(); err != nil {
				return err
			}
			book, err := receiver.OpenBook(settings.Orders, settings.Journal)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, book.Close()) }()
			var printing sync.Mutex
			ship := func(e *event.Event) error {
				printing.Lock()
				defer printing.Unlock()
				line, err := e.Encode()
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", line); err != nil {
					return err
				}
				return book.Shipped(e.Data.Reference)
			}
			for _, e := range book.Unshipped() {
				if err := ship(e); err != nil {
					return err
				}
			}
			r := &receiver.Receiver{Secrets: settings.Secrets, Header: settings.Header, Orders: book, Log: p.report.Log}
			r.Process = func(_ context.Context, e *event.Event) {
				if err := ship(e); err != nil {
					p.report.Log.Error().Err(err).Str("reference", e.Data.Reference).Msg("the payment was not passed on; it is once more at the next start")
				}
			}
			defer r.Wait()
			address, err := p.serve("webhooks", settings.Listen, r, nil)
			if err != nil {
				return err
			}
			p.report.Log.Info().Str("url", "http://"+address).Msg("taking webhooks")
			<-cmd.Context().Done()
			return p.stop()
		}),
	}
	addFlags(c, false,
		flag{"orders", "receiver.orders", "`FILE` with an order in each line"},
		flag{"journal", "receiver.journal", "`FILE` with what became of them"},
		flag{"receive-at", "receiver.listen", "`HOST:PORT` that webhooks are sent to"},
	)
	return c
}
