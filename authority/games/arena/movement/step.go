package movement

// Step returns the state of a body after one tick with an input. The dead do not
// move.
func Step(g *Grid, r Rules, s State, in Input) State {
	if s.Flags&Alive == 0 {
		s.VX, s.VY = 0, 0
		return s
	}
	mx, my := shorten(clamp(in.MoveX, MaxMove), clamp(in.MoveY, MaxMove))
	s = steer(r, s, mx, my, in.Dash)
	assist := r.Speed/4 + 1
	if mx != 0 && my != 0 {
		assist = 0
	}
	s.X, s.Y, s.VX = slideX(g, s.X, s.Y, s.VX, Radius, assist)
	s.X, s.Y, s.VY = slideY(g, s.X, s.Y, s.VY, Radius, assist)
	return s
}

// steer changes the velocity: the start of a dash sets it, the rest of the dash
// keeps it, and else it approaches what the move wishes.
func steer(r Rules, s State, mx, my int32, dash bool) State {
	if s.Dash > 0 {
		s.Dash--
	}
	if dash && s.Dash == 0 && (mx != 0 || my != 0) {
		n := root(mx*mx + my*my)
		s.Dash = r.DashEvery
		s.VX = clamp(mx*r.DashSpeed/n, MaxSpeed)
		s.VY = clamp(my*r.DashSpeed/n, MaxSpeed)
	}
	if s.Dash > r.DashEvery-r.DashTicks {
		return s
	}
	top := r.Speed
	if s.Power == Haste {
		top = r.Haste
	}
	s.VX, s.VY = approach(s.VX, s.VY, mx*top/MaxMove, my*top/MaxMove, r.Accel)
	return s
}

// approach moves a velocity toward a wish by at most accel. Components are
// rounded to the nearest, so that the larger never rounds to nothing.
func approach(vx, vy, wx, wy, accel int32) (int32, int32) {
	dx, dy := wx-vx, wy-vy
	square := dx*dx + dy*dy
	if square <= accel*accel {
		return wx, wy
	}
	n := root(square)
	return vx + nearest(dx*accel, n), vy + nearest(dy*accel, n)
}

// Slide moves a square body of half width radius by (vx, vy), x first, and stops
// it at solid tiles, each axis on its own; it returns the new position, and the
// velocity with the stopped components 0. Components must be within MaxSpeed. A
// body that stands in a solid tile may move within it and leave it.
func Slide(g *Grid, x, y, vx, vy, radius int32) (nx, ny, nvx, nvy int32) {
	x, y, vx = slideX(g, x, y, vx, radius, 0)
	x, y, vy = slideY(g, x, y, vy, radius, 0)
	return x, y, vx, vy
}

// slideX moves along x. Only a newly entered column can stop the body. If it is
// stopped by a corner while its centre would pass, it is moved round it by at
// most assist: doors are as easy to enter as they look.
func slideX(g *Grid, x, y, v, radius, assist int32) (nx, ny, nv int32) {
	nx = x + v
	from, to, stop := (x+radius)>>8, (nx+radius)>>8, int32(0)
	if v < 0 {
		from, to = (x-radius)>>8, (nx-radius)>>8
		stop = (to+1)*Tile + radius
	} else {
		stop = to*Tile - radius - 1
	}
	top, bottom := (y-radius)>>8, (y+radius)>>8
	if from == to || !(g.Solid(to, top) || g.Solid(to, bottom)) {
		return nx, y, v
	}
	if middle := y >> 8; !g.Solid(to, middle) {
		y += clamp(middle*Tile+Tile/2-y, assist)
	}
	return stop, y, 0
}

// slideY is slideX with the axes swapped.
func slideY(g *Grid, x, y, v, radius, assist int32) (nx, ny, nv int32) {
	ny = y + v
	from, to, stop := (y+radius)>>8, (ny+radius)>>8, int32(0)
	if v < 0 {
		from, to = (y-radius)>>8, (ny-radius)>>8
		stop = (to+1)*Tile + radius
	} else {
		stop = to*Tile - radius - 1
	}
	left, right := (x-radius)>>8, (x+radius)>>8
	if from == to || !(g.Solid(left, to) || g.Solid(right, to)) {
		return x, ny, v
	}
	if middle := x >> 8; !g.Solid(middle, to) {
		x += clamp(middle*Tile+Tile/2-x, assist)
	}
	return x, stop, 0
}

// shorten scales a move longer than MaxMove down to it.
func shorten(mx, my int32) (int32, int32) {
	square := mx*mx + my*my
	if square <= MaxMove*MaxMove {
		return mx, my
	}
	n := root(square)
	return mx * MaxMove / n, my * MaxMove / n
}

// clamp returns v, within -limit to limit.
func clamp(v, limit int32) int32 { return min(max(v, -limit), limit) }

// nearest divides, rounding halves away from zero. b is above 0.
func nearest(a, b int32) int32 {
	if a < 0 {
		return -((-a + b/2) / b)
	}
	return (a + b/2) / b
}

// root returns the square root, rounded down, bit by bit. n is not negative.
func root(n int32) int32 {
	r := int32(0)
	for bit := int32(1) << 14; bit > 0; bit >>= 1 {
		if t := r + bit; t*t <= n {
			r = t
		}
	}
	return r
}
