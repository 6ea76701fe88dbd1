package sink

import (
	"errors"
	"fmt"
	"math/big"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

var (
	contractTables = []table[*contract]{jettonMasters, jettonWallets, nftCollections, nftItems, contracts}

	linkTables = []table[*link]{contractLinks}

	documentTables = []table[*documentLink]{metadataLinks}

	jettonTransferTables = []table[*jettonTransfer]{jettonTransfers}

	jettonBurnTables = []table[*jettonBurn]{jettonBurns}

	nftTransferTables = []table[*nftTransfer]{nftTransfers}

	listTables = []table[*listed]{transfersByParty}
)

// contractFeed fills the tables of the topic contracts.
type contractFeed struct {
	contracts []*sheet[*contract]
	links     []*sheet[*link]
	documents []*sheet[*documentLink]
	transfers []*sheet[*jettonTransfer]
	burns     []*sheet[*jettonBurn]
	nfts      []*sheet[*nftTransfer]
	lists     []*sheet[*listed]
}

func newContractFeed() *contractFeed {
	return &contractFeed{
		newSheets(contractTables), newSheets(linkTables), newSheets(documentTables), newSheets(jettonTransferTables),
		newSheets(jettonBurnTables), newSheets(nftTransferTables), newSheets(listTables),
	}
}

// Fields of ContractBatch.
const (
	fieldContractFacts   protowire.Number = 1
	fieldJettonTransfers protowire.Number = 2
	fieldJettonBurns     protowire.Number = 3
	fieldNFTTransfers    protowire.Number = 4
)

func (f *contractFeed) add(r *record.Record, raw []byte) (rows int, err error) {
	batch := r.GetContracts()
	if batch == nil {
		return 0, errors.New("a record without contracts")
	}
	batches, err := fields(raw, fieldContracts)
	if err != nil || len(batches) != 1 {
		return 0, fmt.Errorf("record of %d bytes: %d batches instead of one: %w", len(raw), len(batches), err)
	}
	for _, part := range []func([]byte) (int, error){
		func(raw []byte) (int, error) {
			return addParts(raw, fieldContractFacts, batch.Contracts, f.addContract)
		},
		func(raw []byte) (int, error) {
			return addParts(raw, fieldJettonTransfers, batch.JettonTransfers, addTo(f.transfers, newJettonTransfer, f.addLists))
		},
		func(raw []byte) (int, error) {
			return addParts(raw, fieldJettonBurns, batch.JettonBurns, addTo(f.burns, newJettonBurn, f.addLists))
		},
		func(raw []byte) (int, error) {
			return addParts(raw, fieldNFTTransfers, batch.NftTransfers, addTo(f.nfts, newNFTTransfer, f.addLists))
		},
	} {
		n, err := part(batches[0])
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// addParts hands out the elements of a field with their bytes.
func addParts[E any](batch []byte, field protowire.Number, list []E, add func(e E, raw []byte) error) (int, error) {
	parts, err := fields(batch, field)
	if err != nil {
		return 0, err
	}
	if len(parts) != len(list) {
		return 0, fmt.Errorf("%d elements of field %d instead of %d", len(parts), field, len(list))
	}
	for i, e := range list {
		if err := add(e, parts[i]); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// addTo adds a row made of an element to the sheets, and to its lists.
func addTo[E any, R interface{ told() *told }](sheets []*sheet[R], row func(e E, raw []byte) (R, error), list func(*told)) func(e E, raw []byte) error {
	return func(e E, raw []byte) error {
		r, err := row(e, raw)
		if err != nil {
			return err
		}
		for _, s := range sheets {
			s.add(r)
		}
		if t := r.told(); t != nil {
			list(t)
		}
		return nil
	}
}

// addLists adds the rows of a transfer to its lists.
func (f *contractFeed) addLists(t *told) {
	t.lists(func(l *listed) {
		for _, s := range f.lists {
			s.add(l)
		}
	})
}

func (f *contractFeed) addContract(c *record.Contract, raw []byte) error {
	row, err := newContract(c, raw)
	if err != nil {
		return err
	}
	for _, s := range f.contracts {
		s.add(row)
	}
	row.links(func(l *link) {
		for _, s := range f.links {
			s.add(l)
		}
	})
	row.documentLinks(func(l *documentLink) {
		for _, s := range f.documents {
			s.add(l)
		}
	})
	return nil
}

func (f *contractFeed) pages() []page {
	return asPages(asPages(asPages(asPages(asPages(asPages(asPages(nil, f.links), f.documents), f.transfers), f.burns), f.nfts), f.lists), f.contracts)
}

// party is an address as the tables of contracts keep it.
type party struct {
	workchain int32
	prefix    uint64
	id        []byte // zeros for none
}

func partyOf(a []byte) party {
	p := party{id: noHash}
	p.workchain, p.prefix = address(a)
	if len(a) == schema.AddressSize {
		p.id = schema.AccountID(a)
	}
	return p
}

// partyColumns are an address's three columns: its prefix and its workchain
// have the column's name with a suffix.
func partyColumns[R any](name string, value func(R) party) []column[R] {
	return []column[R]{
		col(name+"_workchain", func(r R) int32 { return value(r).workchain }),
		col(name+"_prefix", func(r R) uint64 { return value(r).prefix }),
		col(name, func(r R) []byte { return value(r).id }),
	}
}

// number is an integer of up to 256 bits.
func number(magnitude []byte) *big.Int { return new(big.Int).SetBytes(magnitude) }

// fitsNumber says that a magnitude has at most 256 bits.
func fitsNumber(magnitude []byte) bool { return len(magnitude) <= 32 }

// columnsOf joins columns.
func columnsOf[R any](lists ...[]column[R]) (all []column[R]) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
