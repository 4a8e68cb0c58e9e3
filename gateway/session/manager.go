package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Options of a manager. Zero durations and sizes take the defaults in brackets.
type Options struct {
	// Rooms seats the sessions. Required.
	Rooms authority.Rooms
	// Admit decides who may join. Required.
	Admit Admitter

	PingInterval time.Duration // [5s] between pings to a client
	PingTimeout  time.Duration // [15s] of silence after which a link is given up
	JoinTimeout  time.Duration // [10s] from an open link to its welcome
	ResumeGrace  time.Duration // [30s] a session outlives its link; negative: not at all
	OutboxBytes  int           // [256 KiB] queued and unacknowledged per session
	MaxSessions  int           // [20,000]
	// MessagesPerSecond is the sustained rate of frames from a client, with a
	// burst of twice that [200]; negative: unlimited.
	MessagesPerSecond int

	Observer Observer
	Logger   *slog.Logger
}

// minOutbox holds two of the largest messages.
const minOutbox = 2*wire.MaxReliableBody + 1024

func (o *Options) complete() {
	o.PingInterval = cmp.Or(o.PingInterval, 5*time.Second)
	o.PingTimeout = cmp.Or(o.PingTimeout, 15*time.Second)
	o.JoinTimeout = cmp.Or(o.JoinTimeout, 10*time.Second)
	o.ResumeGrace = cmp.Or(o.ResumeGrace, 30*time.Second)
	o.OutboxBytes = max(cmp.Or(o.OutboxBytes, 256<<10), minOutbox)
	o.MaxSessions = cmp.Or(o.MaxSessions, 20_000)
	o.MessagesPerSecond = cmp.Or(o.MessagesPerSecond, 200)
	if o.Observer == nil {
		o.Observer = nopObserver{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
}

// Manager is the handler of every link of a gateway. Safe for concurrent use.
type Manager struct {
	opts    Options
	journal journal
	base    context.Context // of joins; ended by Close
	stop    context.CancelFunc
	wg      sync.WaitGroup // the sweeper and joins

	mu       sync.Mutex // guards the rest
	guests   map[*link.Link]*guest
	sessions map[string]*Session
	secrets  map[secretHash]*Session
	reserved int // joins under way, counted against MaxSessions
	draining bool
	closed   bool
}

var _ link.Handler = (*Manager)(nil)

// NewManager returns a manager and starts its sweeper; Close ends it.
func NewManager(o Options) *Manager {
	o.complete()
	m := &Manager{
		opts: o, journal: newJournal(o.Logger), guests: map[*link.Link]*guest{},
		sessions: map[string]*Session{}, secrets: map[secretHash]*Session{},
	}
	m.base, m.stop = context.WithCancel(context.Background())
	m.wg.Go(m.sweep)
	return m
}

// Sessions returns the state of every session, by id.
func (m *Manager) Sessions() []State {
	states := []State{}
	for _, s := range m.all() {
		states = append(states, s.State())
	}
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.ID, b.ID) })
	return states
}

// Inspect returns the state of one session.
func (m *Manager) Inspect(id string) (State, bool) {
	m.mu.Lock()
	s := m.sessions[id]
	m.mu.Unlock()
	if s == nil {
		return State{}, false
	}
	return s.State(), true
}

// Kick ends a session with the terminal code kicked. It does not wait for the
// client, and reports false if there is no such session.
func (m *Manager) Kick(id, reason string) bool {
	m.mu.Lock()
	s := m.sessions[id]
	m.mu.Unlock()
	if s == nil {
		return false
	}
	if reason == "" {
		reason = "removed by an operator"
	}
	s.end(wire.Errorf(wire.CodeKicked, "%s", reason), true)
	return true
}

// Drain refuses new joins from now on and tells every session that its links
// will be closed in at most the given time. Resumes go on.
func (m *Manager) Drain(deadline time.Duration) {
	m.mu.Lock()
	already := m.draining
	m.draining = true
	m.mu.Unlock()
	if already {
		return
	}
	f := wire.JSONFrame(wire.KindDraining, wire.Draining{DeadlineMS: int(deadline.Milliseconds())})
	defer f.Release()
	for _, s := range m.all() {
		f.Retain(1)
		s.Send([]*wire.Frame{f})
	}
}

// Close ends every session with the retryable code going_away, and waits until
// no goroutine of the manager is left, or ctx ends. Links end by themselves.
func (m *Manager) Close(ctx context.Context) error {
	m.mu.Lock()
	m.closed, m.draining = true, true
	guests := make([]*link.Link, 0, len(m.guests))
	for l := range m.guests {
		guests = append(guests, l)
	}
	m.mu.Unlock()
	away := wire.Errorf(wire.CodeGoingAway, "the server is going away")
	for _, l := range guests {
		l.Close(away)
	}
	for _, s := range m.all() {
		s.end(away, true)
	}
	m.stop()
	ended := make(chan struct{})
	go func() { m.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sessions did not end in time: %w", ctx.Err())
	}
}

func (m *Manager) all() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*Session, 0, len(m.sessions))
	for _, s := range m.sessions {
		all = append(all, s)
	}
	return all
}
