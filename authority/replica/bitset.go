package replica

import "math/bits"

// bitset is a set of ids that yields them ascending, which is the order of the
// wire. Its words are always enough for the ids of the table it belongs to.
type bitset []uint64

func (b bitset) has(id ID) bool { return int(id>>6) < len(b) && b[id>>6]>>(id&63)&1 != 0 }
func (b bitset) set(id ID)      { b[id>>6] |= 1 << (id & 63) }
func (b bitset) unset(id ID)    { b[id>>6] &^= 1 << (id & 63) }

// after returns the least member above id, or 0.
func (b bitset) after(id ID) ID {
	id++
	w := int(id >> 6)
	if w >= len(b) {
		return 0
	}
	for word := b[w] &^ (1<<(id&63) - 1); ; word = b[w] {
		if word != 0 {
			return ID(w<<6 + bits.TrailingZeros64(word))
		}
		if w++; w == len(b) {
			return 0
		}
	}
}

// before returns the greatest member below id, or 0.
func (b bitset) before(id ID) ID {
	w := int(id >> 6)
	for word := b[w] & (1<<(id&63) - 1); ; word = b[w] {
		if word != 0 {
			return ID(w<<6 + 63 - bits.LeadingZeros64(word))
		}
		if w--; w < 0 {
			return 0
		}
	}
}

// grow returns b with room for ids below n.
func (b bitset) grow(n int) bitset { return extend(b, (n+63)/64) }

// lowest returns the least id of word w of a set.
func lowest(w int, word uint64) ID { return ID(w<<6 + bits.TrailingZeros64(word)) }
