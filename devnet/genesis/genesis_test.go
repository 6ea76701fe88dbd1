package genesis

import (
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
)

func params(t *testing.T) tlb.BlockchainConfig {
	t.Helper()
	all, err := Default().Params(Facts{BaseRootHash: make([]byte, 32), BaseFileHash: make([]byte, 32), Special: [][32]byte{{7}}})
	if err != nil {
		t.Fatal(err)
	}
	root, err := Dict(all)
	if err != nil {
		t.Fatal(err)
	}
	return tlb.BlockchainConfig{Root: root}
}

func TestEveryParamIsReadByTheLibrary(t *testing.T) {
	c := params(t)
	for name, read := range map[string]func() error{
		"config address":     func() error { _, err := c.GetConfigAddress(); return err },
		"elector":            func() error { _, err := c.GetElectorAddress(); return err },
		"minter":             func() error { _, err := c.GetMinterAddress(); return err },
		"DNS root":           func() error { _, err := c.GetDNSRootAddress(); return err },
		"mandatory params":   func() error { _, err := c.GetMandatoryParams(); return err },
		"critical params":    func() error { _, err := c.GetCriticalParams(); return err },
		"voting":             func() error { _, err := c.GetConfigVotingSetup(); return err },
		"workchains":         func() error { _, err := c.GetWorkchains(); return err },
		"complaints":         func() error { _, err := c.GetComplaintPricing(); return err },
		"created":            func() error { _, err := c.GetBlockCreateFees(); return err },
		"elections":          func() error { _, err := c.GetValidatorElectionTimings(); return err },
		"validators":         func() error { _, err := c.GetValidatorCountLimits(); return err },
		"stakes":             func() error { _, err := c.GetValidatorStakeLimits(); return err },
		"global id":          func() error { _, err := c.GetGlobalID(); return err },
		"block limits":       func() error { _, err := c.GetBlockLimits(false); return err },
		"masterchain limits": func() error { _, err := c.GetBlockLimits(true); return err },
		"validator set":      func() error { _, err := c.GetCurrentValidators(); return err },
		"sizes":              func() error { _, err := c.GetSizeLimitsConfig(); return err },
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	gas, err := c.GetGasPrices(false)
	if err != nil || gas.GasPrice != 26214400 || gas.GasLimit != 1_000_000 || gas.FlatGasPrice != 40000 || gas.FreezeDueLimit != 3 || gas.DeleteDueLimit != 15 {
		t.Errorf("gas prices are %+v, %v", gas, err)
	}
	forward, err := c.GetMsgForwardPrices(true)
	if err != nil || forward.LumpPrice != 10_000_000 || forward.FirstFrac != 21845 {
		t.Errorf("forward prices are %+v, %v", forward, err)
	}
	storage, err := c.GetStoragePrices(1)
	if err != nil || storage.CellPrice != 500 || storage.MCBitPrice != 1000 {
		t.Errorf("storage prices are %+v, %v", storage, err)
	}
	special, err := c.GetFundamentalSmartContractAddresses()
	if err != nil {
		t.Fatal(err)
	}
	if list, err := special.Addresses.LoadAll(); err != nil || len(list) != 3 {
		t.Errorf("%d special accounts, %v; want elector, config and one more", len(list), err)
	}
	version, err := c.GetGlobalVersion()
	if err != nil || version.Capabilities != 46 {
		t.Errorf("version is %+v, %v", version, err)
	}
}

func TestMistakesInTheConfigAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"globl_id: 1":            "globl_id",
		"config_address: \"55\"": "64 hex digits",
		"global_id: x":           "x",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v does not name %q", text, err, want)
		}
	}
}
