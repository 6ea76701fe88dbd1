package tvm_test

import (
	"bytes"
	"context"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton/wallet"

	"tonscribe/ton/tvm"
)

func BenchmarkSeqnoOfAWallet(b *testing.B) {
	state, err := wallet.GetStateInit(bytes.Repeat([]byte{7}, 32), wallet.V4R2, wallet.DefaultSubwallet)
	if err != nil {
		b.Fatal(err)
	}
	in := tvm.Input{
		Context: tvm.Context{Config: emptyConfig(b), Now: noon}, Address: address.NewAddress(0, 0, make([]byte, 32)),
		Code: state.Code, Data: state.Data, Balance: big.NewInt(1), Method: "seqno",
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	for b.Loop() {
		if result, err := tvm.Run(ctx, in); err != nil || !result.OK() {
			b.Fatal(result.ExitCode, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkPaymentTried(b *testing.B) {
	d := deliveries(b)["paid"]
	d.Config = emptyConfig(b)
	for b.Loop() {
		if outcome, err := tvm.Deliver(d); err != nil || !outcome.Accepted {
			b.Fatal(outcome.ExitCode, err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkCodeThatNeverEnds(b *testing.B) {
	for name, code := range hostile(b) {
		b.Run(name, func(b *testing.B) {
			in := hostileInput(b, code, tvm.DefaultGasLimit)
			for b.Loop() {
				if _, err := tvm.Run(b.Context(), in); err != nil {
					b.Skip(err)
				}
			}
		})
	}
}
