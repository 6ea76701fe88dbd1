package contract

import "tonscribe/schema/record"

// jettonMaster reads TEP-74 get_jetton_data, and the root of a mintless jetton's
// airdrop.
func jettonMaster(p *probe) {
	r := p.run("get_jetton_data", 5)
	master := &record.JettonMaster{TotalSupply: r.amount(), Mintable: r.truth(), Admin: r.address()}
	content, walletCode := r.cell(), r.cell()
	if !r.ok {
		return
	}
	var ok bool
	if master.Content, ok = p.content(content); !ok {
		return
	}
	hash := walletCode.HashKey()
	master.WalletCodeHash = hash[:]
	p.facts().JettonMaster = master
	master.NextAdmin = p.ask("get_next_admin_address", 1).address()
	master.MintlessRoot = p.ask("get_mintless_airdrop_hashmap_root", 1).hash()
}

// jettonWallet reads TEP-74 get_wallet_data. The master must confirm it.
func jettonWallet(p *probe) {
	r := p.run("get_wallet_data", 4)
	wallet := &record.JettonWallet{Balance: r.amount(), Owner: r.someone(), Master: r.someone()}
	walletCode := r.cell()
	if !r.ok {
		return
	}
	hash := walletCode.HashKey()
	wallet.WalletCodeHash = hash[:]
	r = p.ask("is_claimed", 1)
	if claimed := r.truth(); r.ok {
		wallet.Claimed = &claimed
	}
	r = p.ask("get_status", 1)
	if status := r.uint32(); r.ok {
		wallet.Status = &status
	}
	p.facts().JettonWallet = wallet
}
