package arena

// trigOne is 1 in the tables of this file.
const trigOne = 1 << 14

// quarterSine holds trigOne * sin for the angles 0 to 64, in 1/256 turn.
var quarterSine = [65]int32{
	0, 402, 804, 1205, 1606, 2006, 2404, 2801, 3196, 3590, 3981, 4370, 4756,
	5139, 5520, 5897, 6270, 6639, 7005, 7366, 7723, 8076, 8423, 8765, 9102, 9434,
	9760, 10080, 10394, 10702, 11003, 11297, 11585, 11866, 12140, 12406, 12665, 12916, 13160,
	13395, 13623, 13842, 14053, 14256, 14449, 14635, 14811, 14978, 15137, 15286, 15426, 15557,
	15679, 15791, 15893, 15986, 16069, 16143, 16207, 16261, 16305, 16340, 16364, 16379, 16384,
}

// sine of an angle in 1/256 turn, times trigOne.
func sine(a uint8) int32 {
	switch {
	case a < 64:
		return quarterSine[a]
	case a < 128:
		return quarterSine[128-int32(a)]
	case a < 192:
		return -quarterSine[a-128]
	default:
		return -quarterSine[256-int32(a)]
	}
}

// along returns the vector of a length that looks along an angle.
func along(a uint8, length int32) (x, y int32) {
	return sine(a+64) * length / trigOne, sine(a) * length / trigOne
}

// angle returns the direction of a vector, to within 1/256 turn; 0 for none.
// Components are within a map.
func angle(x, y int32) uint8 {
	ax, ay := abs(x), abs(y)
	low, high := int32(0), int32(64) // of a quarter: the least whose ray passes (ax, ay)
	for low < high {
		middle := (low + high) / 2
		if int64(ax)*int64(quarterSine[middle]) < int64(ay)*int64(quarterSine[64-middle]) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	a := uint8(low)
	if x < 0 {
		a = 128 - a
	}
	if y < 0 {
		a = -a
	}
	return a
}

// turn moves an angle toward another by at most step, the short way round.
func turn(from, to uint8, step int32) uint8 {
	return from + uint8(clamp(int32(int8(to-from)), step))
}

// within reports whether (dx, dy) is at most reach long. Components are within a
// map, so that the squares fit.
func within(dx, dy, reach int32) bool { return dx*dx+dy*dy <= reach*reach }

func abs(v int32) int32 { return max(v, -v) }

// clamp returns v, within -limit to limit.
func clamp(v, limit int32) int32 { return min(max(v, -limit), limit) }
