package devnet

import "tonscribe/devnet/contracts"

func (w *town) checkMultisigs() {
	w.checkList("multisig/wallets", "multisigs", w.ofKinds(contracts.MultisigCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_multisig_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["next_order_seqno"], want["threshold"], want["signers"], want["proposers"] = r.decimal(0), r.count(1), r.list(2), r.list(3)
		if want["proposers"] == nil {
			want["proposers"] = []any{}
		}
		return want, r.err
	})
	w.checkList("multisig/orders", "orders", w.ofKinds(contracts.MultisigOrderCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_order_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		if empty, err := r.IsNil(2); err != nil || empty {
			return nil, err
		}
		want := w.hashes(raw)
		want["multisig_address"], want["order_seqno"], want["threshold"], want["sent_for_execution"] = r.address(0), r.decimal(1), r.count(2), r.flag(3)
		want["signers"], want["approvals_mask"], want["approvals_num"], want["expiration_date"] = r.list(4), r.decimal(5), r.count(6), r.count(7)
		if r.err != nil {
			return nil, r.err
		}
		confirmed, err := w.says(want["multisig_address"], "get_order_address", r.number(1))
		if err != nil || confirmed != raw {
			return nil, err
		}
		return want, nil
	})
}
