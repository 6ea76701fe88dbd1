package contract_test

import (
	"testing"

	"tonscribe/decode/contract"
	"tonscribe/devnet/contracts"
)

func BenchmarkJettonWalletDetected(b *testing.B) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OffchainContent("https://example.org/j.json")}
	purse := minter.Wallet(0, person(2))
	benchmark(b, accountOf(purse.Address(0), purse.StateInit()))
}

func BenchmarkJettonMasterDetected(b *testing.B) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OnchainContent(map[string]string{"name": "Gold", "symbol": "GLD", "decimals": "9"})}
	benchmark(b, accountOf(minter.Address(0), minter.StateInit()))
}

func BenchmarkEndlessContractDetected(b *testing.B) {
	endless := contracts.Endless{ID: 1}
	benchmark(b, accountOf(endless.Address(0), endless.StateInit()))
}

func benchmark(b *testing.B, account contract.Account) {
	b.Helper()
	d, at := contract.New(contract.DefaultLimits()), moment(b)
	runs := 0
	d.Observe = func(contract.Run) { runs++ }
	for b.Loop() {
		if _, err := d.Detect(b.Context(), account, at); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
}

func BenchmarkWalletConfirmedByItsMaster(b *testing.B) {
	minter := contracts.JettonMinter{Admin: person(1), Content: contracts.OffchainContent("https://example.org/j.json")}
	purse := minter.Wallet(0, person(2))
	wallet, master := accountOf(purse.Address(0), purse.StateInit()), accountOf(minter.Address(0), minter.StateInit())
	found := detect(b, wallet)
	d, at := contract.New(contract.DefaultLimits()), moment(b)
	for b.Loop() {
		c := d.Confirm(contract.Parent{Context: b.Context(), Account: master, Moment: at}, contract.ClaimsOf(found.Facts)[0].Kind, wallet.Address, found.Facts, nil)
		if c.Verdict != contract.Confirmed {
			b.Fatal(c.Verdict)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
}
