package arena

import "github.com/gatehouse/gatehouse/authority/games/arena/movement"

// ways tells from every tile how far the nearest of some goals is on foot: how
// enemies and bots find round walls.
type ways struct {
	width, height int32
	far           []uint16 // tiles plus 1; 0: not found
	queue         []uint16 // kept for its memory
}

// nowhere is the distance where no way was found.
const nowhere = 1<<16 - 1

// newWays returns ways on which nothing is found yet.
func newWays(g *movement.Grid) ways {
	width, height := g.Size()
	return ways{
		width: width, height: height,
		far:   make([]uint16, width*height),
		queue: make([]uint16, 0, width*height),
	}
}

// find searches from all goals at once, breadth first, up to a distance. Closed
// doors are walls, unless it may go through them.
func (f *ways) find(g *movement.Grid, goals []tile, horizon uint16, throughDoors bool) {
	clear(f.far)
	f.queue = f.queue[:0]
	for _, t := range goals {
		f.reach(t, 1)
	}
	for head := 0; head < len(f.queue); head++ {
		i := int32(f.queue[head])
		next := f.far[i] + 1
		if next > horizon+1 {
			return
		}
		x, y := i%f.width, i/f.width
		for _, side := range sides {
			t := tile{x + side.x, y + side.y}
			if !g.Solid(t.x, t.y) || throughDoors && g.Door(t.x, t.y) {
				f.reach(t, next)
			}
		}
	}
}

func (f *ways) reach(t tile, far uint16) {
	if t.x < 0 || t.y < 0 || t.x >= f.width || t.y >= f.height {
		return
	}
	if i := t.y*f.width + t.x; f.far[i] == 0 {
		f.far[i] = far
		f.queue = append(f.queue, uint16(i))
	}
}

// distance from a tile to the nearest goal, in tiles, or nowhere.
func (f *ways) distance(t tile) uint16 {
	if t.x < 0 || t.y < 0 || t.x >= f.width || t.y >= f.height {
		return nowhere
	}
	return f.far[t.y*f.width+t.x] - 1
}

// next returns the neighbour of a tile that is nearest to a goal; the tile itself
// if none is nearer.
func (f *ways) next(from tile) tile {
	best, to := f.distance(from), from
	for _, side := range sides {
		t := tile{from.x + side.x, from.y + side.y}
		if d := f.distance(t); d < best {
			best, to = d, t
		}
	}
	return to
}

// tileAt returns the tile of a point.
func tileAt(x, y int32) tile { return tile{x >> 8, y >> 8} }

// sees reports whether nothing solid is between two points.
func sees(g *movement.Grid, x, y, toX, toY int32) bool {
	const stride = Tile / 4
	dx, dy := toX-x, toY-y
	n := max(abs(dx), abs(dy))/stride + 1
	for i := int32(1); i < n; i++ {
		if g.Solid((x+dx*i/n)>>8, (y+dy*i/n)>>8) {
			return false
		}
	}
	return true
}

// fits reports whether a body of a half width could go straight from one point to
// another.
func fits(g *movement.Grid, x, y, toX, toY, radius int32) bool {
	sideX, sideY := along(angle(toX-x, toY-y)+64, radius)
	return sees(g, x+sideX, y+sideY, toX+sideX, toY+sideY) && sees(g, x-sideX, y-sideY, toX-sideX, toY-sideY)
}
