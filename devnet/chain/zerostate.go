package chain

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/genesis"
)

// genesis builds both zerostates.
func (c *Chain) genesis() error {
	conf := genesis.Default()
	base, err := c.zerostate(basechain, conf.GlobalID, c.options.Accounts, nil)
	if err != nil {
		return err
	}
	c.baseZero = zerostateOf(base)
	params, err := conf.Params(genesis.Facts{
		Validator: [32]byte(c.publicKey()), ADNL: sha256.Sum256(c.publicKey()), GenUtime: c.options.GenUtime,
		Simplex:      c.options.Consensus != Catchain,
		BaseRootHash: c.baseZero.ID.RootHash, BaseFileHash: c.baseZero.ID.FileHash, Special: c.specialAccounts(),
	})
	if err != nil {
		return err
	}
	for id, param := range c.options.Params {
		params[id] = param
	}
	config, err := genesis.Dict(params)
	if err != nil {
		return err
	}
	settings, err := readSettings(config, c.options)
	if err != nil {
		return err
	}
	accounts, err := c.masterAccounts(config, settings.configAddr)
	if err != nil {
		return err
	}
	master, err := c.zerostate(masterchain, settings.globalID, accounts, func(st *state) error {
		x := &masterExtra{
			configAddr: settings.configAddr, config: config, afterKey: true,
			blocks: augmented{bits: 32, aug: oldBlocks{}}, globalBalance: sum(st.balance, base.balance),
		}
		var err error
		if x.validatorHash, err = settings.validatorHash(0); err != nil {
			return err
		}
		st.custom, err = x.toCell()
		return err
	})
	if err != nil {
		return err
	}
	c.masterZero = zerostateOf(master)
	return nil
}

// specialAccounts are those with ticks or tocks.
func (c *Chain) specialAccounts() (ids [][32]byte) {
	for _, a := range c.options.Accounts {
		if a.Workchain == masterchain && (a.Tick || a.Tock) {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

// masterAccounts are those of the masterchain: with an elector and a config
// contract, whose data begins with the config.
func (c *Chain) masterAccounts(config *cell.Cell, configAddr [32]byte) ([]Account, error) {
	silent := cell.BeginCell().EndCell() // empty code takes every internal message
	accounts := map[[32]byte]Account{
		Elector:    {Workchain: masterchain, ID: Elector, Code: silent, Data: silent, Balance: systemBalance},
		configAddr: {Workchain: masterchain, ID: configAddr, Code: silent, Data: silent, Balance: systemBalance},
	}
	for _, a := range c.options.Accounts {
		if a.Workchain == masterchain {
			accounts[a.ID] = a
		}
	}
	keeper := accounts[configAddr]
	data, err := withFirstRef(keeper.Data, config)
	if err != nil {
		return nil, fmt.Errorf("data of the config contract: %w", err)
	}
	keeper.Data = data
	accounts[configAddr] = keeper
	var list []Account
	for _, a := range accounts {
		list = append(list, a)
	}
	return list, nil
}

func withFirstRef(data, ref *cell.Cell) (*cell.Cell, error) {
	b := cell.BeginCell()
	if data == nil {
		return b.MustStoreRef(ref).EndCell(), nil
	}
	s, err := data.BeginParse()
	if err != nil {
		return nil, err
	}
	bits, err := s.LoadSlice(s.BitsLeft())
	if err != nil {
		return nil, err
	}
	b.MustStoreSlice(bits, data.BitsSize()).MustStoreRef(ref)
	for i := 1; i < int(data.RefsNum()); i++ {
		child, err := data.PeekRef(i)
		if err != nil {
			return nil, err
		}
		b.MustStoreRef(child)
	}
	return b.EndCell(), nil
}

func (c *Chain) zerostate(workchain, globalID int32, accounts []Account, complete func(*state) error) (*state, error) {
	st := emptyState(globalID, shardID{workchain, fullShard}, c.options.GenUtime)
	var changes []change
	for _, a := range accounts {
		if a.Workchain != workchain {
			continue
		}
		account, err := c.accountCell(a)
		if err != nil {
			return nil, fmt.Errorf("account %d:%x: %w", a.Workchain, a.ID, err)
		}
		value := cell.BeginCell().MustStoreRef(account).MustStoreSlice(make([]byte, 32), 256).MustStoreUInt(0, 64)
		changes = append(changes, change{append([]byte(nil), a.ID[:]...), value})
	}
	var err error
	if st.accounts, err = st.accounts.update(changes); err != nil {
		return nil, err
	}
	if st.balance, err = st.accountsBalance(); err != nil {
		return nil, err
	}
	if complete != nil {
		if err := complete(st); err != nil {
			return nil, err
		}
	}
	return st, st.seal()
}

// accountCell is Account (block.tlb) of an account nothing has happened to yet.
func (c *Chain) accountCell(a Account) (*cell.Cell, error) {
	if a.Balance == nil {
		a.Balance = new(big.Int)
	}
	storage := cell.BeginCell().MustStoreUInt(0, 64)
	if err := storeCurrency(storage, a.Balance); err != nil {
		return nil, err
	}
	if a.Code == nil && a.Data == nil {
		storage.MustStoreUInt(0b00, 2)
	} else {
		storage.MustStoreBoolBit(true).MustStoreBoolBit(false).MustStoreBoolBit(a.Tick || a.Tock)
		if a.Tick || a.Tock {
			storage.MustStoreBoolBit(a.Tick).MustStoreBoolBit(a.Tock)
		}
		storage.MustStoreMaybeRef(a.Code).MustStoreMaybeRef(a.Data).MustStoreBoolBit(false)
	}
	cells, bits := storageUsed(storage.EndCell())
	b := cell.BeginCell().MustStoreBoolBit(true).
		MustStoreUInt(0b100, 3).MustStoreInt(int64(a.Workchain), 8).MustStoreSlice(a.ID[:], 256).
		MustStoreVarUInt(cells, 7).MustStoreVarUInt(bits, 7).MustStoreUInt(0, 3)
	lastPaid := c.options.GenUtime
	if a.Workchain == masterchain && (a.Tick || a.Tock || a.ID == Elector || a.ID == Config) {
		lastPaid = 0
	}
	b.MustStoreUInt(uint64(lastPaid), 32).MustStoreBoolBit(false)
	if err := b.StoreBuilder(storage); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

// storageUsed counts the different cells of a tree and their bits.
func storageUsed(root *cell.Cell) (cells, bits uint64) {
	seen := map[cell.Hash]bool{}
	var visit func(c *cell.Cell)
	visit = func(c *cell.Cell) {
		if hash := c.HashKey(); !seen[hash] {
			seen[hash] = true
			cells, bits = cells+1, bits+uint64(c.BitsSize())
			for i := range int(c.RefsNum()) {
				visit(c.MustPeekRef(i))
			}
		}
	}
	visit(root)
	return cells, bits
}

func zerostateOf(st *state) *Zerostate {
	data := st.root.ToBOCWithOptions(serialization)
	file := sha256.Sum256(data)
	return &Zerostate{
		ID: &ton.BlockIDExt{
			Workchain: st.shard.workchain, Shard: int64(st.shard.shard), RootHash: st.root.Hash(), FileHash: file[:],
		},
		Data: data, State: st.root,
	}
}
