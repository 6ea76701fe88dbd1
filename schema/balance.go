package schema

import "math/bits"

// BalanceClasses is the number of classes that BalanceClass tells apart.
const BalanceClasses = 512

// BalanceClass is the class of a balance in the table accounts_by_balance: the
// greater the balance, the lower the class, and no class has balances that differ
// by more than an eighth.
func BalanceClass(balance uint64) uint16 {
	rank := balance // up to 7 in classes of their own
	if balance > 7 {
		exponent := bits.Len64(balance) - 1
		rank = uint64(exponent)*8 + balance>>(exponent-3)&7
	}
	return BalanceClasses - 1 - uint16(rank)
}

// LeastBalance is the smallest balance of a class.
func LeastBalance(class uint16) uint64 {
	rank := BalanceClasses - 1 - uint64(class)
	exponent := rank / 8
	if exponent < 3 {
		return min(rank, 8)
	}
	return (8 + rank%8) << (exponent - 3)
}
