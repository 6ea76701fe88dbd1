package traffic

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
)

// chanceOf is a source of chance that depends on nothing but its arguments. Its
// algorithm is fixed by the language's library, so that a seed means the same
// chain for ever.
func chanceOf(seed uint64, purpose string, numbers ...uint64) *rand.Rand {
	return rand.New(rand.NewChaCha8(digest(seed, purpose, numbers...)))
}

func digest(seed uint64, purpose string, numbers ...uint64) [32]byte {
	text := binary.BigEndian.AppendUint64(nil, seed)
	text = append(text, purpose...)
	for _, number := range numbers {
		text = binary.BigEndian.AppendUint64(text, number)
	}
	return sha256.Sum256(text)
}

// coins is a number of nanotons between two numbers of tons, small ones as
// likely as large ones.
func coins(chance *rand.Rand, from, to float64) *big.Int {
	tons := from * math.Pow(to/from, chance.Float64())
	return big.NewInt(int64(tons * 1e9))
}

// ton is a number of nanotons.
func ton(tons float64) *big.Int { return big.NewInt(int64(math.Round(tons * 1e9))) }

// oneOf is any element. The list must not be empty.
func oneOf[T any](chance *rand.Rand, list []T) T { return list[chance.IntN(len(list))] }

// among prefers what stands in front: a few receive most, as on any network.
func among[T any](chance *rand.Rand, list []T) T {
	at := math.Pow(float64(len(list)+1), chance.Float64()) - 1
	return list[min(int(at), len(list)-1)]
}
