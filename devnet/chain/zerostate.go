package chain

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/genesis"
)

// genesis builds both zerostates.
func (c *Chain) genesis() error {
	conf := genesis.Default()
	base, err := c.zerostate(basechain, conf.GlobalID, c.options.Accounts)
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
	maps.Copy(params, c.options.Params)
	config, err := genesis.Dict(params)
	if err != nil {
		return err
	}
	settings, err := readSettings(config, c.options)
	if err != nil {
		return err
	}
	master, err := c.zerostate(masterchain, settings.globalID, c.masterAccounts(config, settings.configAddr))
	if err != nil {
		return err
	}
	master.custom = (&masterExtra{
		configAddr: settings.configAddr, config: config, afterKey: true, validatorHash: settings.validatorHash(0),
		blocks: augmented{bits: 32, aug: oldBlocks{}}, globalBalance: sum(master.balance, base.balance),
	}).toCell()
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
func (c *Chain) masterAccounts(config *cell.Cell, configAddr [32]byte) []Account {
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
	contract := accounts[configAddr]
	b := cell.BeginCell()
	if data := contract.Data; data == nil {
		b.MustStoreRef(config)
	} else {
		s := data.MustBeginParse()
		b.MustStoreSlice(s.MustLoadSlice(s.BitsLeft()), data.BitsSize()).MustStoreRef(config)
		if s.RefsNum() > 0 {
			sure(s.LoadRefCell()) // in whose place the config is
		}
		b.MustStoreBuilder(s.ToBuilder())
	}
	contract.Data = b.EndCell()
	accounts[configAddr] = contract
	return slices.Collect(maps.Values(accounts))
}

// zerostate is a state that is not sealed yet.
func (c *Chain) zerostate(workchain, globalID int32, accounts []Account) (*state, error) {
	st := emptyState(globalID, shardID{workchain, fullShard}, c.options.GenUtime)
	var changes []change
	for _, a := range accounts {
		if a.Workchain != workchain {
			continue
		}
		value := cell.BeginCell().MustStoreRef(c.accountCell(a)).MustStoreSlice(make([]byte, 32), 256).MustStoreUInt(0, 64)
		changes = append(changes, change{bytes.Clone(a.ID[:]), value})
	}
	var err error
	if st.accounts, err = st.accounts.update(changes); err != nil {
		return nil, err
	}
	st.balance = st.accountsBalance()
	return st, nil
}

// accountCell is Account (block.tlb) of an account nothing has happened to yet.
func (c *Chain) accountCell(a Account) *cell.Cell {
	storage := storeCurrency(cell.BeginCell().MustStoreUInt(0, 64), cmp.Or(a.Balance, new(big.Int)))
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
	return b.MustStoreUInt(uint64(lastPaid), 32).MustStoreBoolBit(false).MustStoreBuilder(storage).EndCell()
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
	st.seal()
	id, data := identify(st.shard, 0, st.root)
	return &Zerostate{ID: id, Data: data, State: st.root}
}
