package faults_test

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// player is a client that speaks frames and remembers what it is told. It does
// what an honest one does (acknowledge, answer pings, send them), unless its
// script says otherwise. It outlives its lines, as its session does.
type player struct {
	t         testing.TB
	h         *house
	name      string
	transport string
	dial      dialing
	script    script // set before it connects

	sending sync.Mutex // of numbered frames, so that they leave in order
	mu      sync.Mutex
	changed chan struct{} // closed when anything below changes

	line     transport
	pumping  sync.WaitGroup
	lastSent time.Time

	welcome   wire.Welcome
	welcomed  int         // how many welcomes
	greeted   bool        // one on this line: nothing is said before
	farewell  *wire.Close // the close frame of this line
	over      bool        // this line has ended
	code      uint32      // its transport's close code
	received  uint64      // numbered frames of the session
	owed      int         // bytes not acknowledged
	owedSince time.Time
	confirmed uint64
	unsaid    [][]byte // numbered frames sent and not confirmed

	view      *replica.View
	hashes    map[uint32]uint32 // of the view, by tick
	snapshots []snapshot
	fulls     int // complete full snapshots
	acked     map[uint32]bool
	notices   []wire.PeerNotice
	texts     []said
	events    []event
	responses map[uint32]wire.Response
	asked     uint32
	chunks    int // of full snapshots, also those not applied

	// onNotice runs as soon as a notice has come.
	onNotice func(wire.PeerNotice)
}

// script is what a player does otherwise than an honest one.
type script struct {
	// deaf: it acknowledges nothing of the reliable lane.
	deaf bool
	// mute: it says nothing by itself, not even pongs.
	mute bool
	// blind: it applies no snapshot and acknowledges none.
	blind bool
	// quiet: it applies snapshots and acknowledges none.
	quiet bool
}

// said is a relayed message.
type said struct {
	lane    wire.Lane
	from    uint32
	payload []byte
	after   int // full snapshots that were complete when it came
}

type event struct {
	wire.Event
	after int // as of said
}

// snapshot is one that was applied.
type snapshot struct {
	tick uint32
	base uint32 // 0: none
	full bool
	at   time.Time
}

// guest returns a player who is not there yet.
func (h *house) guest(t testing.TB, transport, name string) *player {
	p := &player{
		t: t, h: h, name: name, transport: transport, changed: make(chan struct{}),
		hashes: map[uint32]uint32{}, responses: map[uint32]wire.Response{}, acked: map[uint32]bool{},
	}
	t.Cleanup(func() { p.gone(); p.pumping.Wait() })
	return p
}

// gone ends the line, if there is one, without a word.
func (p *player) gone() {
	p.mu.Lock()
	line := p.line
	p.mu.Unlock()
	if line != nil {
		line.cut()
	}
}

// join brings a player into a room.
func (h *house) join(t testing.TB, transport, room, name string) *player {
	t.Helper()
	p := h.guest(t, transport, name)
	p.join(room)
	return p
}

func (p *player) join(room string) {
	p.t.Helper()
	p.greet(wire.Hello{Versions: []int{1}, Room: room, Identity: p.name, Name: p.name})
	if p.welcome.Resumed {
		p.t.Fatalf("%s: a join was answered as a resume", p.name)
	}
	if len(p.welcome.Schema) > 0 && !p.script.blind {
		p.await("its first full snapshot", func() bool { return p.fulls > 0 })
	}
}

// resume goes on with the session over a line of a transport.
func (p *player) resume(transport string) {
	p.t.Helper()
	p.transport = transport
	before := p.state(func() int { return p.welcomed })
	p.greet(wire.Hello{Versions: []int{1}, Resume: &wire.ResumeRequest{
		Secret: p.welcome.Resume.Secret, Received: p.received,
	}})
	if p.welcomed != before+1 || !p.welcome.Resumed {
		p.t.Fatalf("%s: welcome %d, resumed: %v", p.name, p.welcomed, p.welcome.Resumed)
	}
}

// greet connects, says hello and waits for the welcome.
func (p *player) greet(hello wire.Hello) {
	p.t.Helper()
	before := p.state(func() int { return p.welcomed })
	p.connect()
	p.sendJSON(wire.KindHello, hello)
	p.await("a welcome", func() bool { return p.welcomed > before || p.over || p.farewell != nil })
	if p.state(func() int { return p.welcomed }) == before {
		p.t.Fatalf("%s over %s: no welcome but %+v", p.name, p.transport, p.farewell)
	}
}

// connect opens a line.
func (p *player) connect() {
	p.t.Helper()
	in := newInbox()
	line, err := dialers()[p.transport](p.h, p.dial, in)
	if err != nil {
		p.t.Fatalf("%s over %s: %v", p.name, p.transport, err)
	}
	p.pumping.Wait() // of an older line
	p.change(func() {
		p.line, p.farewell, p.over, p.code, p.lastSent, p.greeted = line, nil, false, 0, time.Now(), false
	})
	p.pumping.Go(func() { p.pump(in) })
}

// state reads something of the player.
func (p *player) state(fn func() int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fn()
}

func (p *player) change(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fn()
	close(p.changed)
	p.changed = make(chan struct{})
}

// await waits until is, which runs under the player's lock.
func (p *player) await(what string, is func() bool) { p.t.Helper(); p.awaitWithin(patience, what, is) }

func (p *player) awaitWithin(bound time.Duration, what string, is func() bool) {
	p.t.Helper()
	deadline := time.After(bound)
	for {
		p.mu.Lock()
		changed, good := p.changed, is()
		over, farewell, code := p.over, p.farewell, p.code
		p.mu.Unlock()
		if good {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			p.t.Fatalf("%s over %s: not within %v: %s (line over: %v, close %+v, code %d; %s)", p.name, p.transport, bound, what, over, farewell, code, p.history())
		}
	}
}

// history is what a failed test should tell of a player.
func (p *player) history() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := snapshot{}
	if n := len(p.snapshots); n > 0 {
		last = p.snapshots[n-1]
	}
	return fmt.Sprintf("%d welcomes, %d numbered frames, %d chunks, %d full snapshots, %d snapshots, the last of tick %d %v ago",
		p.welcomed, p.received, p.chunks, p.fulls, len(p.snapshots), last.tick, time.Since(last.at).Round(time.Millisecond))
}

// end waits for the end of the line and returns the code it came with: that of
// the close frame, else of the transport.
func (p *player) end() wire.Code {
	p.t.Helper()
	p.await("the end of the line", func() bool { return p.over })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.farewell != nil {
		return p.farewell.Code
	}
	return wire.Code(p.code)
}

// write sends link messages as they are.
func (p *player) write(lane wire.Lane, msg []byte) {
	p.mu.Lock()
	line := p.line
	p.lastSent = time.Now()
	p.mu.Unlock()
	_ = line.send(lane, msg) // a line that has ended says so elsewhere
}

// raw sends a link message whose frames, as far as there are any, are not the
// player's own. What is numbered among them counts all the same.
func (p *player) raw(lane wire.Lane, msg []byte) {
	p.counts(msg)
	p.write(lane, msg)
}

// counts notes the numbered frames of a message that is to be sent.
func (p *player) counts(msg []byte) {
	p.change(func() {
		for rest := msg; len(rest) > 0; {
			k, body, next, err := wire.NextFrame(rest)
			if err != nil {
				return
			}
			if k.Numbered() {
				p.unsaid = append(p.unsaid, wire.AppendFrame(nil, k, body))
			}
			rest = next
		}
	})
}

// send sends one frame; numbered ones are kept until they are confirmed.
func (p *player) send(k wire.Kind, body []byte) {
	f := wire.AppendFrame(nil, k, body)
	if k.Numbered() {
		p.sending.Lock()
		defer p.sending.Unlock()
		p.mu.Lock()
		p.unsaid = append(p.unsaid, f)
		p.mu.Unlock()
	}
	p.write(k.Lane(), f)
}

func (p *player) sendJSON(k wire.Kind, v any) {
	f := wire.JSONFrame(k, v)
	defer f.Release()
	p.send(k, f.Body())
}

// relay says something to some or all others.
func (p *player) relay(lane wire.Lane, payload []byte, to ...uint32) {
	k := wire.KindRelay
	if lane == wire.Unreliable {
		k = wire.KindRelayFast
	}
	p.send(k, wire.AppendRelay(nil, to, payload))
}

// request asks the game for something and returns the id.
func (p *player) request(name string, payload []byte) uint32 {
	p.mu.Lock()
	p.asked++
	id := p.asked
	p.mu.Unlock()
	p.send(wire.KindRequest, wire.AppendRequest(nil, wire.Request{ID: id, Name: name, Payload: payload}))
	return id
}

// ask asks the zoo for something and waits for its answer.
func (p *player) ask(name string, n int) []byte {
	p.t.Helper()
	return p.call(name, []byte(strconv.Itoa(n)))
}

func (p *player) call(name string, payload []byte) []byte {
	p.t.Helper()
	id := p.request(name, payload)
	var r wire.Response
	p.await("the response to "+name, func() (ok bool) { r, ok = p.responses[id]; return ok })
	if r.Code != wire.CodeNone {
		p.t.Fatalf("%s: %s was answered with %v", p.name, name, r.Code)
	}
	return r.Payload
}

// lives proves that the session goes on and is served.
func (p *player) lives() {
	p.t.Helper()
	p.call("echo", []byte("are you there?"))
}

// sees waits until the player's copy of the world is the server's own at one and
// the same tick. One that is served less is not shown every tick.
func (p *player) sees() {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		answer := p.ask("hash", 0)
		tick, hash := binary.LittleEndian.Uint32(answer), binary.LittleEndian.Uint32(answer[4:])
		p.await("a snapshot of that tick or later", func() bool { return p.view.Tick() >= tick })
		p.mu.Lock()
		mine, shown := p.hashes[tick]
		shown = shown && p.promptAt(tick)
		p.mu.Unlock()
		if shown && mine != hash {
			p.t.Fatalf("%s over %s: at tick %d it holds another world than the server", p.name, p.transport, tick)
		}
		if shown {
			return
		}
	}
	p.t.Fatalf("%s over %s: it is hardly shown anything", p.name, p.transport)
}

// acknowledgement is the body of an input frame that says what was applied, and
// notes it. It runs under the lock.
func (p *player) acknowledgement(inputs ...wire.Input) []byte {
	var in wire.Input
	if len(inputs) > 0 {
		in = inputs[0]
	}
	in.Acked, in.Mask = p.view.Ack()
	p.acked[in.Acked] = true
	for i := range 64 {
		if in.Mask>>i&1 != 0 {
			p.acked[in.Acked-1-uint32(i)] = true
		}
	}
	return wire.AppendInput(nil, in)
}

// of returns the notices about a member since the i-th.
func (p *player) of(id uint32, since int) (events []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.notices[since:] {
		if n.ID == id {
			events = append(events, n.Event)
		}
	}
	return events
}

// hears waits for a notice about a member, and returns the first.
func (p *player) hears(bound time.Duration, id uint32, what string) (n wire.PeerNotice) {
	p.t.Helper()
	p.awaitWithin(bound, "notice "+what, func() bool {
		for _, n = range p.notices {
			if n.ID == id && n.Event == what {
				return true
			}
		}
		return false
	})
	return n
}

// pulse counts the ticks that a player is shown between two moments.
type pulse struct {
	p     *player
	since time.Time
	count int
}

func (p *player) pulse() pulse {
	return pulse{p, time.Now(), p.state(func() int { return len(p.snapshots) })}
}

// holds fails the test unless the room went on at its 30 Hz since then, with
// some tolerance for a machine that is busy with other tests.
func (u pulse) holds() {
	u.p.t.Helper()
	seconds := time.Since(u.since).Seconds()
	n := u.p.state(func() int { return len(u.p.snapshots) }) - u.count
	if rate := float64(n) / seconds; rate < leastRate || rate > 36 && seconds > 1 {
		u.p.t.Errorf("%s over %s: %d snapshots in %.2f s, that is %.1f Hz", u.p.name, u.p.transport, n, seconds, rate)
	}
}
