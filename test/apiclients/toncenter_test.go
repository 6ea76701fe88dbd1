package apiclients

import (
	"bytes"
	"encoding/base64"
	"math"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/toncenter"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// must is for answers of clients: an error ends the test.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// tonutils-go's client of this API: the whole v2 layer by GET, and the v3
// endpoints that stand for v2 methods.
func TestTonutilsClientReadsEveryMethod(t *testing.T) {
	n := start(t)
	client := toncenter.New(n.Base, toncenter.WithAPIKey("k"), toncenter.WithRateLimit(10000), toncenter.WithTimeout(time.Minute))
	v2, v3, ctx := client.V2(), client.V3(), t.Context()
	wallet := address.MustParseAddr(n.Wallet)
	sender := address.MustParseAddr(n.Sender)

	info := must[*toncenter.MasterchainInfoV2Result](t)(v2.GetMasterchainInfo(ctx))
	seqno := info.Last.Seqno
	must[*toncenter.MasterchainBlockSignaturesV2Result](t)(v2.GetMasterchainBlockSignatures(ctx, seqno))
	must[*toncenter.ConsensusBlockV2Result](t)(v2.GetConsensusBlock(ctx))
	must[*toncenter.OutMsgQueueSizesV2Result](t)(v2.GetOutMsgQueueSizes(ctx))
	must[*toncenter.ShardBlockProofV2](t)(v2.GetShardBlockProof(ctx, -1, math.MinInt64, 1, &seqno))
	for _, b := range must[[]toncenter.BlockID](t)(v2.GetShards(ctx, seqno)) {
		found := must[*toncenter.BlockID](t)(v2.LookupBlock(ctx, b.Workchain, b.Shard, &toncenter.LookupBlockV2Options{Seqno: &b.Seqno}))
		if !bytes.Equal(found.RootHash, b.RootHash) {
			t.Errorf("block %v was found as %v", b, found)
		}
		must[*toncenter.BlockHeaderV2Result](t)(v2.GetBlockHeader(ctx, b.Workchain, b.Shard, b.Seqno, nil))
		must[*toncenter.BlockTransactionsV2Result](t)(v2.GetBlockTransactions(ctx, b.Workchain, b.Shard, b.Seqno, nil))
		must[*toncenter.BlockTransactionsExtV2Result](t)(v2.GetBlockTransactionsExt(ctx, b.Workchain, b.Shard, b.Seqno, nil))
	}
	all := must[*cell.Cell](t)(v2.GetConfigAll(ctx, nil))
	one := must[*cell.Cell](t)(v2.GetConfigParam(ctx, 20, nil))
	value, err := all.AsDict(32).LoadValueByUintKey(20)
	if err != nil || value.MustLoadRef().MustToCell().HashKey() != one.HashKey() {
		t.Errorf("configuration parameter 20 is %x (%v)", one.Hash(), err)
	}

	must[*toncenter.AddressInformationV2Result](t)(v2.GetAddressInformation(ctx, wallet))
	must[*toncenter.ExtendedAddressInformationV2](t)(v2.GetExtendedAddressInformation(ctx, wallet))
	known := must[*toncenter.WalletInformationV2Result](t)(v2.GetWalletInformation(ctx, wallet))
	same := must[*toncenter.WalletInformationV3Result](t)(v3.GetWalletInformation(ctx, wallet))
	if known.WalletType == "" || same.WalletType != known.WalletType {
		t.Errorf("the wallet is %+v in v2 and %+v in v3", known, same)
	}
	must[*toncenter.AddressInformationV3Result](t)(v3.GetAddressInformation(ctx, wallet))
	must[*toncenter.NanoCoins](t)(v2.GetAddressBalance(ctx, wallet))
	if state := must[string](t)(v2.GetAddressState(ctx, wallet)); state != "active" {
		t.Errorf("state is %s, want active", state)
	}
	must[*toncenter.TokenDataV2Result](t)(v2.GetTokenData(ctx, address.MustParseAddr(n.Jetton)))

	// The body of a message without text is base64, as this client reads it.
	limit := 3
	must[[]toncenter.TransactionV2](t)(v2.GetTransactions(ctx, sender, &toncenter.GetTransactionsV2Opts{Limit: &limit}))

	run := must[*toncenter.RunGetMethodV2Result](t)(v2.RunGetMethod(ctx, wallet, "seqno", nil, nil)) //nolint:staticcheck // v2 is what is tested
	ran := must[*toncenter.RunGetMethodV3Result](t)(v3.RunGetMethod(ctx, wallet, "seqno", nil, nil))
	if run.ExitCode != 0 || run.GasUsed != ran.GasUsed || len(run.Stack) != 1 || len(ran.Stack) != 1 {
		t.Errorf("seqno is %+v in v2 and %+v in v3", run, ran)
	}
	body, err := base64.StdEncoding.DecodeString(n.Body)
	if err != nil {
		t.Fatal(err)
	}
	request := toncenter.EstimateFeeRequest{Address: wallet, Body: must[*cell.Cell](t)(cell.FromBOC(body))}
	fees, again := must[*toncenter.EstimateFeeV2Result](t)(v2.EstimateFee(ctx, request)), must[*toncenter.EstimateFeeV2Result](t)(v3.EstimateFee(ctx, request))
	if fees.SourceFees.GasFee != again.SourceFees.GasFee {
		t.Errorf("fees are %+v in v2 and %+v in v3", fees, again)
	}
	message, err := base64.StdEncoding.DecodeString(n.Message)
	if err != nil {
		t.Fatal(err)
	}
	if err := v3.SendMessage(ctx, message); err != nil {
		t.Fatal(err)
	}
	for must[*toncenter.WalletInformationV2Result](t)(v2.GetWalletInformation(ctx, wallet)).Seqno == 0 {
		time.Sleep(50 * time.Millisecond) // until a block has it
	}
	if err := v2.SendBoc(ctx, message); err == nil {
		t.Error("a message was taken twice")
	}
}
