package arena

import "github.com/gatehouse/gatehouse/authority/games/arena/movement"

// The map is five by five rooms between these lines of wall, with a hall in the
// middle. It looks the same from either end (turned by half a turn), so that no
// corner is better than its opposite.
var wallLines = [6]int{0, 9, 19, 28, 38, 47}

const rooms = len(wallLines) - 1

// worldMap is a map and what a world wants to know of it.
type worldMap struct {
	grid  *movement.Grid
	rows  []string
	doors []tile
	// floor lists the tiles that are in reach of the hall with all doors
	// closed: where things appear. vaults lists the other ones.
	floor, vaults []tile
}

type tile struct{ x, y int32 }

// centre in units.
func (t tile) centre() (x, y int32) { return t.x*Tile + Tile/2, t.y*Tile + Tile/2 }

// generateMap draws maps until one is sound: bounded, since any seed finds one
// within a few tries, and the last resort has no doors.
func generateMap(rng *source) worldMap {
	const tries = 200
	for range tries {
		if m := survey(drawMap(rng)); m.sound() {
			return m
		}
	}
	p := newPlan()
	p.eachWall(func(column, row int, right bool) { p.passage(column, row, right, '.', 3) })
	return survey(p.rows())
}

// sound reports whether the map is fit for play: nothing is cut off, there are a
// few doors, and most of it can be reached without them.
func (m *worldMap) sound() bool {
	return len(m.doors) >= 6 && len(m.doors) <= 16 && len(m.floor) >= 1350 && len(m.vaults) > 0
}

// plan is a map being drawn.
type plan [MapHeight][MapWidth]byte

func newPlan() *plan {
	var p plan
	for y := range p {
		for x := range p[y] {
			p[y][x] = '.'
		}
	}
	for _, line := range wallLines {
		for i := range MapWidth {
			p[line][i], p[i][line] = '#', '#'
		}
	}
	return &p
}

func (p *plan) rows() []string {
	rows := make([]string, MapHeight)
	for y := range p {
		rows[y] = string(p[y][:])
	}
	return rows
}

// eachWall visits the walls between rooms: right of a room, or below it.
func (p *plan) eachWall(visit func(column, row int, right bool)) {
	for i := range rooms - 1 {
		for j := range rooms {
			visit(i, j, true)
			visit(j, i, false)
		}
	}
}

// passage replaces the middle of the wall right of (or below) a room.
func (p *plan) passage(column, row int, right bool, with byte, width int) {
	along, across := row, wallLines[column+1]
	if !right {
		along, across = column, wallLines[row+1]
	}
	middle := (wallLines[along] + wallLines[along+1] + 1) / 2
	for i := middle - width/2; i < middle-width/2+width; i++ {
		if right {
			p[i][across] = with
		} else {
			p[across][i] = with
		}
	}
}

// drawMap draws one at random.
func drawMap(rng *source) []string {
	p := newPlan()
	p.eachWall(func(column, row int, right bool) {
		switch roll := rng.below(100); {
		case roll < 45:
			p.passage(column, row, right, '.', 3)
		case roll < 60:
			p.passage(column, row, right, '.', 6)
		case roll < 82:
			p.passage(column, row, right, '+', 1)
		}
	})
	for row := range rooms {
		for column := range rooms {
			p.furnish(rng, column, row)
		}
	}
	p.openHall()
	p.mirror()
	return p.rows()
}

// furnish puts pillars into a room, clear of its walls.
func (p *plan) furnish(rng *source, column, row int) {
	left, top := wallLines[column]+1, wallLines[row]+1
	right, bottom := wallLines[column+1]-1, wallLines[row+1]-1
	block := func(x, y, w, h int) {
		for i := y; i < y+h; i++ {
			for j := x; j < x+w; j++ {
				p[i][j] = '#'
			}
		}
	}
	middleX, middleY := (left+right)/2, (top+bottom)/2
	switch rng.below(6) {
	case 0: // four pillars
		block(left+2, top+2, 1, 1)
		block(right-2, top+2, 1, 1)
		block(left+2, bottom-2, 1, 1)
		block(right-2, bottom-2, 1, 1)
	case 1: // a block
		block(middleX, middleY, 2, 2)
	case 2: // a bar
		block(left+2, middleY, right-left-3, 1)
	case 3: // a bar, upright
		block(middleX, top+2, 1, bottom-top-3)
	case 4: // a corner
		block(left+2, top+2, 3, 1)
		block(left+2, top+2, 1, 3)
	}
}

// openHall joins the room in the middle to its four neighbours.
func (p *plan) openHall() {
	low, high := wallLines[2], wallLines[3]
	for i := low + 1; i < high; i++ {
		p[i][low], p[i][high], p[low][i], p[high][i] = '.', '.', '.', '.'
		for j := low + 1; j < high; j++ {
			p[i][j] = '.'
		}
	}
}

// mirror makes the lower half the upper one, turned by half a turn.
func (p *plan) mirror() {
	for y := range MapHeight / 2 {
		for x := range MapWidth {
			p[MapHeight-1-y][MapWidth-1-x] = p[y][x]
		}
	}
}

// survey reads a drawn map. A map with a part that can not be reached at all
// comes back without floor.
func survey(rows []string) worldMap {
	grid, err := movement.ParseMap(rows)
	if err != nil {
		panic("arena: " + err.Error()) // drawn by this file alone
	}
	hall := []tile{{MapWidth / 2, MapHeight / 2}}
	closed, open := newWays(grid), newWays(grid)
	closed.find(grid, hall, nowhere-2, false)
	open.find(grid, hall, nowhere-2, true)
	m := worldMap{grid: grid, rows: rows}
	for y := range int32(MapHeight) {
		for x := range int32(MapWidth) {
			switch t := (tile{x, y}); {
			case grid.Door(x, y):
				m.doors = append(m.doors, t)
			case grid.Solid(x, y):
			case closed.distance(t) != nowhere:
				m.floor = append(m.floor, t)
			case open.distance(t) != nowhere:
				m.vaults = append(m.vaults, t)
			default:
				return worldMap{grid: grid, rows: rows}
			}
		}
	}
	return m
}

// sides of a tile.
var sides = [4]tile{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}
