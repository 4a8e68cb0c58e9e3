package room

import (
	"encoding/json"
	"fmt"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// simulation is the behaviour of rooms with a world: what seats deliver becomes
// the commands of the next tick, and each tick ends with a snapshot per seat.
type simulation struct {
	r      *Room
	world  authority.World
	store  *replica.Store
	schema json.RawMessage

	now      uint32 // last tick that was run
	commands []authority.Command
	held     []*wire.Frame // whose bytes the commands refer to
	effects  authority.Effects
	parsed   wire.Input
	json     jsonSnapshot
	scratch  []byte
}

func newSimulation(r *Room, g authority.Game) *simulation {
	schema, err := json.Marshal(g.Schema())
	if err != nil {
		panic(fmt.Sprintf("room: schema of %s: %v", g.Name(), err)) // a program's own constants
	}
	world := g.NewWorld(authority.Setup{Seed: r.spec.Seed, TickRate: r.spec.TickRate})
	return &simulation{r: r, world: world, store: world.Entities(), schema: schema}
}

func (m *simulation) joined(s *seat) {
	s.replica = newReplicaState(m, s.join.JSON)
	m.command(authority.Command{Kind: authority.CommandJoin, Member: s.id, Name: s.join.Name, Payload: s.join.Profile})
}

func (m *simulation) left(s *seat) {
	m.command(authority.Command{Kind: authority.CommandLeave, Member: s.id})
}

func (m *simulation) presence(s *seat, p authority.Presence) {
	kind := authority.CommandBack
	switch p {
	case authority.Away:
		kind = authority.CommandAway
	case authority.BackWithGap:
		s.replica.lost()
	}
	m.command(authority.Command{Kind: kind, Member: s.id})
}

func (m *simulation) command(c authority.Command) { m.commands = append(m.commands, c) }

// deliver implements behaviour.
func (m *simulation) deliver(s *seat, f *wire.Frame) {
	switch f.Kind {
	case wire.KindInput:
		m.input(s, f)
	case wire.KindRequest:
		m.request(s, f)
	case wire.KindResync:
		s.replica.wanted = true
		f.Release()
	default: // a relay: here members speak through the game
		m.r.obs.Ignored(f.Kind)
		f.Release()
	}
}

func (m *simulation) input(s *seat, f *wire.Frame) {
	defer f.Release()
	if err := wire.ParseInput(f.Body(), &m.parsed); err != nil {
		m.r.obs.Input(inputMalformed)
		m.r.expel(s, protocolError(err))
		return
	}
	s.replica.acknowledge(m, &m.parsed)
	s.replica.inputs.Add(&m.parsed, m.r.obs.Input)
}

func (m *simulation) request(s *seat, f *wire.Frame) {
	q, err := parseRequest(f)
	if err != nil {
		f.Release()
		m.r.expel(s, protocolError(err))
		return
	}
	verdict, kept := s.calls.accept(q.ID)
	switch verdict {
	case callNew:
		m.held = append(m.held, f)
		m.command(authority.Command{
			Kind: authority.CommandRequest, Member: s.id, Request: q.ID, Name: q.Name, Payload: q.Payload,
		})
		return
	case callRepeated:
		if kept != nil {
			s.send(kept)
		}
	case callSpent:
		s.send(responseFrame(wire.Response{ID: q.ID, Code: wire.CodeDuplicateRequest}))
	case callTooMany:
		s.send(responseFrame(wire.Response{ID: q.ID, Code: wire.CodeRateLimited}))
	}
	f.Release()
}

// tick implements behaviour.
func (m *simulation) tick() {
	m.now++
	for _, s := range m.r.seats {
		for {
			in, ok := s.replica.inputs.Next()
			if !ok {
				break
			}
			m.command(authority.Command{
				Kind: authority.CommandInput, Member: s.id, Seq: in.Seq, ClientTick: in.ClientTick, Payload: in.Payload,
			})
		}
	}
	m.effects.Reset()
	m.world.Step(m.now, m.commands, &m.effects)
	m.store.Commit(m.now)
	clear(m.commands)
	m.commands = m.commands[:0]
	wire.ReleaseAll(m.held)
	m.held = m.held[:0]
	m.tell()
	m.json.stale = true
	for _, s := range m.r.seats {
		if !s.away {
			s.replica.snapshot(m, s)
		}
	}
}

// tell sends what the step had to say besides its entities.
func (m *simulation) tell() {
	for range m.effects.Refused {
		m.r.obs.Input(inputRefused)
	}
	for _, r := range m.effects.Responses {
		s := m.r.byID(r.To)
		if s == nil {
			continue
		}
		if f := s.calls.answer(wire.Response{ID: r.Request, Code: r.Code, Payload: r.Payload}); f != nil {
			s.send(f)
		}
	}
	for _, e := range m.effects.Events {
		f := wire.NewFrame(wire.KindEvent, len(e.Payload)+len(e.Name)+8)
		f.Tick = m.now
		m.scratch = wire.AppendEvent(m.scratch[:0], wire.Event{Tick: m.now, Name: e.Name, Payload: e.Payload})
		f.Write(m.scratch)
		if e.To == authority.Everyone {
			m.r.broadcast(f, nil)
		} else if s := m.r.byID(e.To); s != nil {
			s.send(f)
		} else {
			f.Release()
		}
	}
}
