package room

import (
	"context"
	"fmt"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/wire"
)

// ErrExists is returned by Create for a name that is taken.
type ErrExists struct{ Name string }

func (e ErrExists) Error() string { return fmt.Sprintf("room %q exists already", e.Name) }

// Unwrap makes it an [authority.ErrExists].
func (ErrExists) Unwrap() error { return authority.ErrExists }

// Create implements authority.Control.
func (w *Worker) Create(ctx context.Context, s authority.RoomSpec) (authority.RoomState, error) {
	if w.opts.CheckName != nil {
		if err := w.opts.CheckName(s.Name); err != nil {
			return authority.RoomState{}, wire.Errorf(wire.CodeBadName, "%v", err)
		}
	}
	w.mu.Lock()
	if w.rooms[s.Name] != nil {
		w.mu.Unlock()
		return authority.RoomState{}, ErrExists{s.Name}
	}
	r, err := w.open(s)
	w.mu.Unlock()
	if err != nil {
		return authority.RoomState{}, err
	}
	return r.inspect(ctx, true)
}

// List implements authority.Control. Rooms that close meanwhile are left out.
func (w *Worker) List(ctx context.Context) ([]authority.RoomState, error) {
	states := []authority.RoomState{}
	for _, r := range w.all() {
		st, err := r.inspect(ctx, false)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil {
			states = append(states, st)
		}
	}
	return states, nil
}

// Inspect implements authority.Control.
func (w *Worker) Inspect(ctx context.Context, name string) (authority.RoomState, error) {
	r, err := w.find(name, false)
	if err != nil {
		return authority.RoomState{}, err
	}
	return r.inspect(ctx, true)
}

// Update implements authority.Control.
func (w *Worker) Update(ctx context.Context, name string, u authority.RoomUpdate) (st authority.RoomState, err error) {
	r, err := w.find(name, false)
	if err != nil {
		return st, err
	}
	if u.Cap != nil && (*u.Cap < 1 || *u.Cap > maxCap) {
		return st, fmt.Errorf("cap: %d, accepted are 1 to %d", *u.Cap, maxCap)
	}
	err = r.ask(ctx, func() {
		if u.Cap != nil {
			r.cap = *u.Cap
		}
	})
	if err != nil {
		return st, err
	}
	return r.inspect(ctx, true)
}

// Close implements authority.Control. When it returns the name is free again.
func (w *Worker) Close(ctx context.Context, name, reason string) error {
	r, err := w.find(name, false)
	if err != nil {
		return err
	}
	if reason == "" {
		reason = "closed by an operator"
	}
	r.shut(wire.Errorf(wire.CodeRoomClosed, "%s", reason))
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *Room) inspect(ctx context.Context, roster bool) (st authority.RoomState, err error) {
	err = r.ask(ctx, func() { st = r.state(roster) })
	return st, err
}
