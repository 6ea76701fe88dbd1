package payment

import (
	"strconv"

	"tonscribe/schema/record"
)

// Failure is why a transfer failed: errorCode and errorMessage of a webhook.
type Failure struct {
	Code int64
	Text string
}

// Codes of failures that no contract's code tells. Contracts throw up to 65,535.
const (
	codeUnknown = 70_000 + iota
	codeNoContract
	codeBadState
	codeSuspended
	codeNoGas
	codeElsewhere
	codeNotSent
)

// Elsewhere is that of a message with the payment's body that went to another account.
var Elsewhere = &Failure{codeElsewhere, "The transfer went to another recipient"}

// NotSent is that of a jetton wallet that took the transfer and did not send the jettons on.
var NotSent = &Failure{codeNotSent, "The jetton wallet did not send the jettons"}

// NoFunds is that of a message that was not sent for lack of coins (action phase of TVM).
var NoFunds = &Failure{37, "Not enough TON"}

// What numbers mean in each of the phases, and in jetton wallets: block.tlb, the TVM's own
// exceptions, the wallets of TEP-74 and those of stablecoins.
var (
	actionTexts = map[int32]string{
		32: "Action list is invalid", 33: "Action list is too long", 34: "Action is invalid or not supported",
		35: "Invalid source address in outbound message", 36: "Invalid destination address in outbound message",
		37: "Not enough TON", 38: "Not enough extra currencies", 39: "Outbound message does not fit into a cell",
		40: "Cannot process a message", 41: "Library reference is null", 42: "Library change action error",
		43: "Exceeded the maximum number of cells in a library or depth of its tree", 50: "Account state size exceeded limits",
	}
	computeTexts = map[int32]string{
		2: "Stack underflow", 3: "Stack overflow", 4: "Integer overflow", 5: "Integer out of expected range", 6: "Invalid opcode",
		7: "Type check error", 8: "Cell overflow", 9: "Cell underflow", 10: "Dictionary error", 11: "Unknown error of the contract",
		12: "Fatal error", 13: "Out of gas", -14: "Out of gas", 14: "Virtualization error",
	}
	jettonTexts = map[int32]string{
		705: "Not the owner of the jetton wallet", 706: "Not enough jettons", 707: "Not sent by a valid jetton wallet", 708: "Not sent by a valid jetton wallet or the minter",
		709: "Not enough TON attached", 710: "Invalid forward payload",
		45: "The jetton wallet is locked", 47: "Not enough jettons", 48: "Not enough TON attached",
		73: "Not the owner of the jetton wallet", 74: "Not sent by a valid jetton wallet", 333: "Wrong workchain",
	}
)

// FailureOf says why a transaction was aborted; jetton says that it is one of a jetton
// wallet.
func FailureOf(tx *record.Transaction, jetton bool) *Failure {
	compute, action := tx.GetCompute(), tx.GetAction()
	switch {
	case compute != nil && compute.SkipReason != record.ComputePhase_NOT_SKIPPED:
		return skipped(compute.SkipReason, jetton)
	case compute != nil && !compute.Success:
		text := computeTexts[compute.ExitCode]
		if text == "" && jetton {
			text = jettonTexts[compute.ExitCode]
		}
		if text == "" {
			text = "The contract failed with exit code " + strconv.Itoa(int(compute.ExitCode))
		}
		return &Failure{int64(compute.ExitCode), text}
	case action != nil && !action.Success:
		text := actionTexts[action.ResultCode]
		if text == "" {
			text = "The actions of the contract failed with result code " + strconv.Itoa(int(action.ResultCode))
		}
		return &Failure{int64(action.ResultCode), text}
	}
	return &Failure{codeUnknown, "The transfer failed"}
}

func skipped(reason record.ComputePhase_SkipReason, jetton bool) *Failure {
	switch reason {
	case record.ComputePhase_NO_STATE:
		if jetton {
			return &Failure{codeNoContract, "There is no such jetton wallet and the transfer came back"}
		}
		return &Failure{codeNoContract, "The recipient has no contract and the transfer came back"}
	case record.ComputePhase_BAD_STATE:
		return &Failure{codeBadState, "The recipient's state does not fit its address and the transfer came back"}
	case record.ComputePhase_SUSPENDED:
		return &Failure{codeSuspended, "The recipient is suspended"}
	}
	return &Failure{codeNoGas, "The transfer had not enough TON for its execution"}
}
