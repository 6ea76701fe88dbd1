package contract

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// DedustFactory is the account that knows the pools of DeDust.
var DedustFactory = func() []byte {
	a := address.MustParse("0:5f0564fb5f604783db57031ce1cf668a88d4d4d6da6de4db222b4b920d6fd800")
	return a[:]
}()

// dedustPool reads a pool of DeDust. The factory must confirm it.
func dedustPool(p *probe) {
	r := p.run("get_assets", 2)
	pool := &record.DedustPool{Assets: [][]byte{r.asset(), r.asset()}}
	if !r.ok {
		return
	}
	r = p.run("is_stable", 1)
	if pool.Stable = r.truth(); !r.ok {
		return
	}
	r = p.run("get_reserves", 2)
	if pool.Reserves = [][]byte{r.amount(), r.amount()}; !r.ok {
		return
	}
	r = p.run("get_trade_fee", 2)
	pool.FeeNumerator, pool.FeeDenominator = r.amount(), r.amount()
	p.facts().DedustPool = pool
}

// asset is what a pool of DeDust trades: empty for toncoin, else the address of
// a jetton master.
func (r *results) asset() []byte {
	s := r.slice()
	tag, err := s.LoadUInt(4)
	switch {
	case err != nil:
		r.ok = false
	case tag == 0: // native
	case tag == 1: // jetton: workchain, account id
		account, err := s.LoadSlice(8 + 256)
		if err != nil {
			r.ok = false
			return nil
		}
		sign := byte(int8(account[0]) >> 7)
		return append([]byte{sign, sign, sign}, account...)
	default:
		r.ok = false
	}
	return nil
}

// assetCell is an asset as the factory takes it.
func assetCell(asset []byte) *cell.Slice {
	if len(asset) == 0 {
		return cell.BeginCell().MustStoreUInt(0, 4).ToSlice()
	}
	return cell.BeginCell().MustStoreUInt(1, 4).MustStoreSlice(asset[3:], 8+256).ToSlice()
}

// stonfiPool reads a pool of STON.fi, version 1 or 2.
func stonfiPool(p *probe) {
	r := p.run("get_pool_data", 10)
	pool := &record.StonfiPool{Version: 1}
	if p.account.Code.Has("get_pool_type") {
		pool.Version = 2
		r.ok = r.ok && len(r.values) >= 12
		r.integer() // locked
		pool.Router = r.someone()
		r.amount() // supply of liquidity tokens
	}
	pool.Reserves = [][]byte{r.amount(), r.amount()}
	pool.Tokens = [][]byte{r.someone(), r.someone()}
	if r.ok {
		p.facts().StonfiPool = pool
	}
}
