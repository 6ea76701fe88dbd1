package contracts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tonscribe/devnet/contracts"
	nodetest "tonscribe/test/support/node"
)

// What the contracts do in the TVM of these tests they do in the official one:
// every transaction has the same hash, and so has the account after it.
func TestOfficialEmulatorExecutesTheSame(t *testing.T) {
	nodetest.Modules(t)
	var lines bytes.Buffer
	lines.WriteString(boc(testConfig()) + "\n")
	count := 0
	record = func(one emulation) {
		line, err := json.Marshal(one)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		count++
	}
	defer func() { record = nil }()
	for name, scenario := range map[string]func(*testing.T){
		"jetton transfer": TestTransferMovesJettonsAndNotifies, "jetton bounce": TestBouncedTransferRestoresTheBalance,
		"jetton burn": TestBurnLessensTheSupply, "jetton admin": TestAdminAndContentChange, "jetton address": TestWalletAddressIsProvided,
		"NFT batch": TestBatchDeploysItemsInOrder, "NFT transfer": TestItemTransferAssignsTheNewOwner, "NFT editor": TestEditorChangesContentAndEditor,
		"SBT": TestSoulBoundItemIsRevokedByItsAuthorityAndDestroyedByItsOwner, "wallets": TestWalletsSendWhatTheyAreOrdered,
		"sale": TestSaleGivesTheItemForItsPrice, "marketplace": TestMarketplacePutsAnItemOnSale, "auction": TestAuctionGoesToTheHighestBid,
		"names": TestNameIsResolvedFromTheRoot, "name auction": TestNameIsAuctioned, "name release": TestNameThatIsNotRenewedIsPutUpAgain,
		"multisig": TestOrderIsExecutedAtTheThreshold, "multisig signers": TestOrderChangesSigners, "vesting": TestVestingKeepsWhatIsLocked,
		"vesting list": TestVestingSendsAnythingToTheList, "pool": TestNominatorsDepositAndWithdraw, "elector": TestStakeEarnsAReward,
		"exchange deposit": TestWhatAPoolDoesNotTakeComesBack, "exchange rejection": TestDepositBelowItsLeastSharesIsRejected,
		"exchange cancelled": TestCancelledDepositPaysBack, "exchange swap": TestToncoinsAreSwappedForJettons,
		"exchange route": TestJettonsAreSwappedThroughTwoPools, "exchange refusals": TestVaultAndFactoryRefuseWhatTheyCannotDo,
		"exchange route refused": TestRefusedSecondSwapPaysWhatTheFirstGave, "exchange shares": TestSharesAreTakenOut,
		"tick-tock": TestTicksAndTocksAreCounted, "forwarder": TestForwarderSendsToMany, "failures": TestForwarderFailsAsItIsTold,
		// The official emulator, as WASM, has not the stack for cells of some
		// hundred levels.
		"bombs": func(t *testing.T) { dropBomb(t, contracts.SharedContent(40)); dropBomb(t, contracts.DeepContent(100)) },
	} {
		t.Run(name, scenario)
	}
	got := strings.TrimSpace(string(nodetest.Run(t, lines.Bytes(), "testdata/emulate.js")))
	if want := fmt.Sprintf("done %d", count); got != want {
		t.Errorf("the official emulator differs:\n%.4000s", got)
	}
	t.Logf("%d transactions", count)
}
