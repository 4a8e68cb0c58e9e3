package arena

// ways tells from every tile how far the nearest player is on foot, so that
// enemies find their way round walls. It is found anew a few times a second.
type ways struct {
	far [MapWidth * MapHeight]uint8 // tiles plus 1; 0 is beyond the horizon
}

// horizon is how far ways are looked for, in tiles.
const horizon = 16

// find searches from all players at once, breadth first.
func (f *ways) find(w *world) {
	f.far = [MapWidth * MapHeight]uint8{}
	var queue [MapWidth * MapHeight]uint16
	tail := 0
	for _, p := range w.players {
		if i := (p.body.Y>>8)*MapWidth + p.body.X>>8; !p.hidden() && f.far[i] == 0 {
			f.far[i] = 1
			queue[tail] = uint16(i)
			tail++
		}
	}
	for head := 0; head < tail; head++ {
		i := int32(queue[head])
		if f.far[i] > horizon {
			return
		}
		for _, side := range sides {
			x, y := i%MapWidth+side.x, i/MapWidth+side.y
			if w.grid.Solid(x, y) {
				continue
			}
			if j := y*MapWidth + x; f.far[j] == 0 {
				f.far[j] = f.far[i] + 1
				queue[tail] = uint16(j)
				tail++
			}
		}
	}
}

// distance on foot from a tile to the nearest player, 255 if it is far.
func (f *ways) distance(tx, ty int32) uint8 {
	if tx < 0 || ty < 0 || tx >= MapWidth || ty >= MapHeight {
		return 255
	}
	return f.far[ty*MapWidth+tx] - 1
}

// heading from a point to the middle of the neighbouring tile that is nearest to
// a player.
func (f *ways) heading(x, y int32) uint8 {
	tx, ty := x>>8, y>>8
	best, next := f.distance(tx, ty), tile{tx, ty}
	for _, side := range sides {
		if d := f.distance(tx+side.x, ty+side.y); d < best {
			best, next = d, tile{tx + side.x, ty + side.y}
		}
	}
	toX, toY := next.centre()
	return angle(toX-x, toY-y)
}
