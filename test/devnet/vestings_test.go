package devnet

import (
	"slices"

	"tonscribe/devnet/contracts"
)

func (w *town) checkVestings() {
	accounts := w.ofKinds(contracts.VestingCode)
	said := each(w, accounts, func(raw string) (facts, error) {
		result, err := w.call(raw, "get_vesting_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		whitelist := []string{}
		if dict := r.cell(7); dict != nil {
			entries, err := dict.AsDict(264).LoadAll()
			r.keep(err)
			for _, e := range entries {
				key := e.Key
				workchain := int32(int8(key.MustLoadUInt(8)))
				whitelist = append(whitelist, rawOf(workchain, key.MustLoadSlice(256)))
			}
		}
		slices.Sort(whitelist)
		return facts{"start_time": r.count(0), "total_duration": r.count(1), "unlock_period": r.count(2), "cliff_duration": r.count(3),
			"total_amount": r.decimal(4), "sender_address": r.address(5), "owner_address": r.address(6), "whitelist": whitelist}, r.err
	})
	w.compareRows("vesting", w.rows("vesting", "contract_address", "vesting_contracts", "address", accounts), said)
}
