package movement

import "fmt"

// MaxMapSide bounds a map, in tiles: positions then fit 16 bits.
const MaxMapSide = 128

// Kinds of tiles.
const (
	floor = iota
	wall
	doorClosed
	doorOpen
)

// Grid is a map with the present state of its doors. Its zero value has no
// tiles: all is wall.
type Grid struct {
	width, height int32
	tiles         []uint8
}

// ParseMap reads a map: one string per row, one character per tile: '#' wall,
// '.' floor, '+' a door, which is closed at first. All rows are equally long, 1
// to [MaxMapSide] tiles, and there are as many rows at most.
func ParseMap(rows []string) (*Grid, error) {
	if len(rows) == 0 || len(rows) > MaxMapSide {
		return nil, fmt.Errorf("map: %d rows, accepted are 1 to %d", len(rows), MaxMapSide)
	}
	g := &Grid{width: int32(len(rows[0])), height: int32(len(rows))}
	if g.width == 0 || g.width > MaxMapSide {
		return nil, fmt.Errorf("map: rows of %d tiles, accepted are 1 to %d", g.width, MaxMapSide)
	}
	g.tiles = make([]uint8, 0, g.width*g.height)
	for y, row := range rows {
		if int32(len(row)) != g.width {
			return nil, fmt.Errorf("map: row %d has %d tiles, row 0 has %d", y, len(row), g.width)
		}
		for x := range len(row) {
			switch row[x] {
			case '.':
				g.tiles = append(g.tiles, floor)
			case '#':
				g.tiles = append(g.tiles, wall)
			case '+':
				g.tiles = append(g.tiles, doorClosed)
			default:
				return nil, fmt.Errorf("map: row %d, column %d: %q is none of '#', '.', '+'", y, x, row[x])
			}
		}
	}
	return g, nil
}

// EncodeMap is the inverse of [ParseMap]; whether doors are open is not part of
// a map.
func EncodeMap(g *Grid) []string {
	rows := make([]string, 0, g.height)
	row := make([]byte, g.width)
	for y := range g.height {
		for x := range g.width {
			row[x] = ".#++"[g.tiles[y*g.width+x]]
		}
		rows = append(rows, string(row))
	}
	return rows
}

// Size returns width and height, in tiles.
func (g *Grid) Size() (width, height int32) { return g.width, g.height }

// Solid reports whether a tile stops bodies and projectiles: a wall, a closed
// door, and everything outside the map.
func (g *Grid) Solid(tx, ty int32) bool {
	if tx < 0 || ty < 0 || tx >= g.width || ty >= g.height {
		return true
	}
	t := g.tiles[ty*g.width+tx]
	return t == wall || t == doorClosed
}

// Door reports whether there is a door, open or not.
func (g *Grid) Door(tx, ty int32) bool {
	return tx >= 0 && ty >= 0 && tx < g.width && ty < g.height && g.tiles[ty*g.width+tx] >= doorClosed
}

// SetDoor opens or closes the door of a tile. Where there is none it does
// nothing.
func (g *Grid) SetDoor(tx, ty int32, open bool) {
	if !g.Door(tx, ty) {
		return
	}
	g.tiles[ty*g.width+tx] = doorClosed
	if open {
		g.tiles[ty*g.width+tx] = doorOpen
	}
}
