package contract

import "tonscribe/schema/record"

// jettonMaster reads TEP-74 get_jetton_data.
func jettonMaster(p *probe) {
	values, ok := p.call("get_jetton_data")
	if !ok {
		return
	}
	r := read(values, 5)
	master := &record.JettonMaster{TotalSupply: r.amount(), Mintable: r.truth(), Admin: r.address()}
	content, walletCode := r.cell(), r.cell()
	if !r.ok {
		return
	}
	if master.Content, ok = p.content(content); !ok {
		return
	}
	hash := walletCode.HashKey()
	master.WalletCodeHash = hash[:]
	p.facts().JettonMaster = master
	if p.account.Code.Has("get_next_admin_address") {
		if values, ok := p.call("get_next_admin_address"); ok {
			r := read(values, 1)
			master.NextAdmin = r.address()
		}
	}
}

// jettonWallet reads TEP-74 get_wallet_data. The master must confirm it.
func jettonWallet(p *probe) {
	values, ok := p.call("get_wallet_data")
	if !ok {
		return
	}
	r := read(values, 4)
	wallet := &record.JettonWallet{Balance: r.amount(), Owner: r.someone(), Master: r.someone()}
	walletCode := r.cell()
	if !r.ok {
		return
	}
	hash := walletCode.HashKey()
	wallet.WalletCodeHash = hash[:]
	if p.account.Code.Has("is_claimed") {
		if values, ok := p.call("is_claimed"); ok {
			r := read(values, 1)
			if claimed := r.truth(); r.ok {
				wallet.Claimed = &claimed
			}
		}
	}
	if p.account.Code.Has("get_status") {
		if values, ok := p.call("get_status"); ok {
			r := read(values, 1)
			if status := r.uint32(); r.ok {
				wallet.Status = &status
			}
		}
	}
	p.facts().JettonWallet = wallet
	p.claim(ClaimJettonWallet, wallet.Master)
}
