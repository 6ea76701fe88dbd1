package stored

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// ActionSQL is the expression for what UnpackAction reads: columns of actions that its
// record does not repeat, and the record.
const ActionSQL = "concat(reinterpretAsFixedString(id_prefix), reinterpretAsFixedString(trace_end_lt), reinterpretAsFixedString(end_utime), record)"

// ActionColumns is the length of what ActionSQL has before the record.
const ActionColumns = 4 + 8 + 4

// Parties are the account ids, zeros for none, that stand in the stored form of an action
// at places that statements know: source, destination and NFT item.
type Parties [3][]byte

// What the stored form of an action begins with: the id behind its first 4 bytes, the
// parties, and, little endian, how much earlier than the trace the action ended (lt), how
// long it took (lt) and how long (seconds). Columns of the table are read from here.
const (
	actionParties = hashSize - 4
	actionTimes   = actionParties + len(Parties{})*hashSize
	actionHead    = actionTimes + 8 + 8 + 4
)

// maxParties is how many account ids the stored form of an action names by their number.
const maxParties = 64

var (
	errAction = errors.New("not the stored form of an action")
	errParty  = errors.New("an account that is not there")
)

// PackAction writes the stored form of an action, whose trace ends with an lt, behind
// dst. Behind the head come the hashes of its transactions, then the ids of accounts that
// are no parties, both with how many there are before them, then the protobuf Action
// without what stands elsewhere. Accounts and addresses of details are named by numbers
// there: twice the place among parties and others, and one more in the masterchain.
func PackAction(dst []byte, a *record.Action, traceEndLt uint64, parties Parties) ([]byte, error) {
	if len(a.Id) != hashSize {
		return dst, fmt.Errorf("action %x: %w", a.Id, errShort)
	}
	rest := &record.Action{Type: a.Type, Success: a.Success, Parent: a.Parent, Ancestors: a.Ancestors, Since: a.Since, Until: a.Until}
	known := &accounts{}
	dst = append(dst, a.Id[4:]...)
	for _, id := range parties {
		if len(id) != hashSize {
			return dst, fmt.Errorf("action %x: %w", a.Id, errShort)
		}
		dst, known.ids = append(dst, id...), append(known.ids, id)
	}
	dst = binary.LittleEndian.AppendUint64(dst, traceEndLt-a.EndLt)
	dst = binary.LittleEndian.AppendUint64(dst, a.EndLt-a.StartLt)
	dst = binary.LittleEndian.AppendUint32(dst, a.EndUtime-a.StartUtime)
	transactions := a.Transactions
	if slices.ContainsFunc(transactions, func(h []byte) bool { return len(h) != hashSize }) {
		transactions, rest.Transactions = nil, transactions
	}
	dst = appendHashes(dst, transactions)
	if rest.Parties = known.numbers(a.Accounts); rest.Parties == nil {
		rest.Accounts = a.Accounts
	}
	rest.Details = known.pack(a.Details)
	dst = appendHashes(dst, known.ids[len(parties):])
	encoded, err := rest.MarshalVT()
	if err != nil {
		return dst, fmt.Errorf("action %x: %w", a.Id, err)
	}
	return append(dst, encoded...), nil
}

// UnpackAction reads an action, from what ActionSQL gives.
func UnpackAction(a *record.Action, columns []byte) error {
	if len(columns) < ActionColumns+actionHead {
		return fmt.Errorf("%w: %d bytes", errAction, len(columns))
	}
	columns = bytes.Clone(columns) // hashes and accounts stay in it
	head := columns[ActionColumns:]
	times := head[actionTimes:]
	known := &accounts{}
	for i := range len(Parties{}) {
		known.ids = append(known.ids, head[actionParties+i*hashSize:][:hashSize])
	}
	transactions, rest, err := cutHashes(head[actionHead:])
	if err != nil {
		return err
	}
	others, rest, err := cutHashes(rest)
	if err != nil {
		return err
	}
	known.ids = append(known.ids, others...)
	if err := a.UnmarshalVT(rest); err != nil {
		return err
	}
	a.Id = append(binary.BigEndian.AppendUint32(make([]byte, 0, hashSize), binary.LittleEndian.Uint32(columns)), head[:actionParties]...)
	a.EndLt = binary.LittleEndian.Uint64(columns[4:]) - binary.LittleEndian.Uint64(times)
	a.StartLt = a.EndLt - binary.LittleEndian.Uint64(times[8:])
	a.EndUtime = binary.LittleEndian.Uint32(columns[12:])
	a.StartUtime = a.EndUtime - binary.LittleEndian.Uint32(times[16:])
	if a.Transactions == nil {
		a.Transactions = transactions
	}
	for _, n := range a.Parties {
		address, err := known.address(n)
		if err != nil {
			return fmt.Errorf("action %x: %w", a.Id, err)
		}
		a.Accounts = append(a.Accounts, address)
	}
	a.Parties = nil
	if err := known.unpack(a.Details); err != nil {
		return fmt.Errorf("action %x: %w", a.Id, err)
	}
	return nil
}

// appendHashes writes hashes behind how many there are.
func appendHashes(dst []byte, hashes [][]byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(hashes)))
	for _, h := range hashes {
		dst = append(dst, h...)
	}
	return dst
}

// cutHashes reads what appendHashes has written, and what is behind it.
func cutHashes(from []byte) (hashes [][]byte, rest []byte, err error) {
	n, size := binary.Uvarint(from)
	if size <= 0 || n > uint64(len(from)-size)/hashSize {
		return nil, nil, errAction
	}
	from = from[size:]
	for range n {
		hashes, from = append(hashes, from[:hashSize:hashSize]), from[hashSize:]
	}
	return hashes, from, nil
}

// accounts are the account ids that a stored form names by their numbers.
type accounts struct{ ids [][]byte }

// number names an address. It is false for one that keeps standing in its place: of
// another workchain, or one too many.
func (k *accounts) number(address []byte) (n uint32, ok bool) {
	if len(address) != schema.AddressSize {
		return 0, false
	}
	switch schema.Workchain(address) {
	case 0:
	case -1:
		n = 1
	default:
		return 0, false
	}
	id := schema.AccountID(address)
	at := slices.IndexFunc(k.ids, func(o []byte) bool { return bytes.Equal(o, id) })
	if at < 0 {
		if at = len(k.ids); at == maxParties {
			return 0, false
		}
		k.ids = append(k.ids, id)
	}
	return n + 2*uint32(at), true
}

// address is the one that number has named.
func (k *accounts) address(n uint32) ([]byte, error) {
	if int(n/2) >= len(k.ids) {
		return nil, errParty
	}
	workchain := uint32(0)
	if n%2 == 1 {
		workchain--
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, schema.AddressSize), workchain), k.ids[n/2]...), nil
}

// numbers names all of some addresses, or none.
func (k *accounts) numbers(addresses [][]byte) (list []uint32) {
	before := len(k.ids)
	for _, a := range addresses {
		n, ok := k.number(a)
		if !ok {
			k.ids = k.ids[:before]
			return nil
		}
		list = append(list, n)
	}
	return list
}

// pack names the addresses of details.
func (k *accounts) pack(details []*record.ActionDetail) []*record.ActionDetail {
	packed := make([]*record.ActionDetail, len(details))
	for i, d := range details {
		packed[i] = d
		switch v := d.Value.(type) {
		case *record.ActionDetail_Bytes:
			if n, ok := k.number(v.Bytes); ok {
				packed[i] = &record.ActionDetail{Name: d.Name, Value: &record.ActionDetail_Party{Party: n}}
			}
		case *record.ActionDetail_Object:
			packed[i] = &record.ActionDetail{Name: d.Name, Value: &record.ActionDetail_Object{Object: k.packObject(v.Object)}}
		case *record.ActionDetail_List:
			if v.List == nil || len(v.List.Objects) == 0 {
				continue
			}
			list := &record.ActionList{Addresses: v.List.Addresses, Currencies: v.List.Currencies}
			for _, o := range v.List.Objects {
				list.Objects = append(list.Objects, k.packObject(o))
			}
			packed[i] = &record.ActionDetail{Name: d.Name, Value: &record.ActionDetail_List{List: list}}
		}
	}
	return packed
}

func (k *accounts) packObject(o *record.ActionObject) *record.ActionObject {
	return &record.ActionObject{Details: k.pack(o.GetDetails())}
}

// unpack puts addresses in the places of their numbers.
func (k *accounts) unpack(details []*record.ActionDetail) error {
	for _, d := range details {
		var err error
		switch v := d.Value.(type) {
		case *record.ActionDetail_Party:
			var address []byte
			address, err = k.address(v.Party)
			d.Value = &record.ActionDetail_Bytes{Bytes: address}
		case *record.ActionDetail_Object:
			err = k.unpack(v.Object.GetDetails())
		case *record.ActionDetail_List:
			for _, o := range v.List.GetObjects() {
				err = errors.Join(err, k.unpack(o.GetDetails()))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
