package arena

// source is a world's own random numbers: splitmix64, which any seed suits.
type source struct{ state uint64 }

func (s *source) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	return mix(s.state)
}

// below returns a number from 0 to n-1; n is above 0.
func (s *source) below(n int32) int32 {
	return int32((s.next() >> 32) * uint64(n) >> 32)
}

// oneIn reports true once in n times.
func (s *source) oneIn(n int32) bool { return s.below(n) == 0 }

// mix spreads every bit of x over all bits of the result.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
