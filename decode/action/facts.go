package action

import "tonscribe/schema/record"

// Address is that of an account: 36 bytes as in records, nil for addr_none.
type Address []byte

// Facts are what is known of contracts as of a trace: the same trace must always
// get the same answers.
type Facts interface {
	// Contract returns what an account is, nil where nothing is known of it.
	Contract(account []byte) *record.Contract
	// AccountData returns the data of an account, BoC, nil where it is not known.
	AccountData(account []byte) []byte
}

// NoFacts knows nothing.
type NoFacts struct{}

// Contract implements Facts.
func (NoFacts) Contract([]byte) *record.Contract { return nil }

// AccountData implements Facts.
func (NoFacts) AccountData([]byte) []byte { return nil }
