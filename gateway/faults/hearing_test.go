package faults_test

import (
	"encoding/binary"
	"time"

	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// What a player hears, and what it answers by itself.

// pump takes what a line brings, until it ends.
func (p *player) pump(in *inbox) {
	beat := time.NewTicker(50 * time.Millisecond)
	defer beat.Stop()
	for {
		select {
		case <-in.wake:
		case <-beat.C:
			p.keepAlive()
		}
		messages, ended, code := in.take()
		for _, m := range messages {
			p.receive(m)
		}
		if ended {
			p.change(func() { p.over, p.code = true, code })
			return
		}
	}
}

// keepAlive sends what is due.
func (p *player) keepAlive() {
	p.mu.Lock()
	if !p.greeted {
		p.mu.Unlock()
		return
	}
	ack := p.owed > 0 && time.Since(p.owedSince) >= 200*time.Millisecond
	ping := time.Since(p.lastSent) > pingInterval/2
	var told []byte
	// An acknowledgement may be lost, and after a full snapshot the server waits
	// for it: it is repeated while nothing newer comes.
	if n := len(p.snapshots); n > 0 && !p.script.blind && !p.script.quiet && time.Since(p.snapshots[n-1].at) > 250*time.Millisecond {
		told = p.acknowledgement()
	}
	p.mu.Unlock()
	if p.script.mute {
		return
	}
	if told != nil {
		p.send(wire.KindInput, told)
	}
	if ack {
		p.ack()
	}
	if ping {
		p.send(wire.KindPing, []byte("12345678"))
	}
}

func (p *player) ack() {
	if p.script.deaf || p.script.mute {
		return
	}
	p.mu.Lock()
	received := p.received
	p.owed = 0
	p.mu.Unlock()
	p.send(wire.KindAck, wire.AppendAck(nil, received))
}

func (p *player) receive(m message) {
	for rest := m.body; len(rest) > 0; {
		k, body, next, err := wire.NextFrame(rest)
		if err != nil {
			p.t.Errorf("%s: the server sent %x: %v", p.name, rest, err)
			return
		}
		rest = next
		if p.transport != "ws" && k.Lane() != m.lane {
			p.t.Errorf("%s: %s on the %s lane", p.name, k, m.lane)
		}
		reply := func() {}
		p.change(func() { reply = p.take(k, body) })
		reply()
	}
}

// take notes a frame and returns what to answer. It runs under the lock.
func (p *player) take(k wire.Kind, body []byte) (reply func()) {
	reply = func() {}
	if k.Numbered() {
		if p.welcomed == 0 {
			p.t.Errorf("%s: %s before the welcome", p.name, k)
		}
		p.received++
		if p.owed == 0 {
			p.owedSince = time.Now()
		}
		if p.owed += wire.HeaderSize(len(body)) + len(body) + 64; p.owed >= 16<<10 {
			reply = p.ack
		}
	}
	var err error
	switch k {
	case wire.KindWelcome:
		reply, err = p.takeWelcome(body)
	case wire.KindClose:
		p.farewell = new(wire.Close)
		err = wire.DecodeJSON(k, body, p.farewell)
	case wire.KindAck:
		var n uint64
		if n, err = wire.ParseAck(body); err == nil && n >= p.confirmed && n-p.confirmed <= uint64(len(p.unsaid)) {
			p.unsaid, p.confirmed = p.unsaid[n-p.confirmed:], n
		} else {
			p.t.Errorf("%s: acknowledged %d of %d to %d", p.name, n, p.confirmed, int(p.confirmed)+len(p.unsaid))
		}
	case wire.KindPing:
		if !p.script.mute {
			reply = func() { p.send(wire.KindPong, body) }
		}
	case wire.KindPeer:
		var n wire.PeerNotice
		err = wire.DecodeJSON(k, body, &n)
		p.notices = append(p.notices, n)
		if p.onNotice != nil {
			acked := reply
			reply = func() { acked(); p.onNotice(n) }
		}
	case wire.KindResponse:
		var r wire.Response
		r, err = wire.ParseResponse(body)
		if _, twice := p.responses[r.ID]; twice {
			p.t.Errorf("%s: a second response to %d", p.name, r.ID)
		}
		p.responses[r.ID] = r
	case wire.KindEvent:
		var e wire.Event
		e, err = wire.ParseEvent(body)
		p.events = append(p.events, event{e, p.fulls})
	case wire.KindRelayed, wire.KindRelayedFast:
		var r wire.Relayed
		r, err = wire.ParseRelayed(k.Lane(), body)
		p.texts = append(p.texts, said{k.Lane(), r.Sender, r.Payload, p.fulls})
	case wire.KindFull, wire.KindSnapshot:
		if k == wire.KindFull {
			p.chunks++
		}
		if p.script.blind {
			break
		}
		err = p.takeSnapshot(k, body)
		if !p.script.quiet && !p.script.mute {
			acked, told := reply, p.acknowledgement()
			reply = func() { acked(); p.send(wire.KindInput, told) }
		}
	}
	if err != nil {
		p.t.Errorf("%s: %s: %v", p.name, k, err)
	}
	return reply
}

func (p *player) takeWelcome(body []byte) (reply func(), err error) {
	var w wire.Welcome
	if err := wire.DecodeJSON(wire.KindWelcome, body, &w); err != nil {
		return func() {}, err
	}
	p.welcome = w
	p.welcomed++
	p.greeted = true
	if !w.Resumed {
		p.received, p.owed, p.confirmed, p.unsaid = 0, 0, 0, nil
	}
	if len(w.Schema) > 0 && p.view == nil {
		schema, err := replica.ParseSchema(w.Schema)
		if err != nil {
			return func() {}, err
		}
		p.view = replica.NewView(schema)
	}
	if w.Gap {
		p.received, p.owed, p.confirmed, p.unsaid = 0, 0, 0, nil
	}
	again := p.unsaid
	if done := w.Received - p.confirmed; done <= uint64(len(again)) {
		again = again[done:]
	}
	// A frame at once: it proves that the welcome, and its secret, have arrived.
	return func() {
		if !p.script.mute {
			p.send(wire.KindPing, nil)
		}
		for _, f := range again {
			p.write(wire.Reliable, f)
		}
	}, nil
}

func (p *player) takeSnapshot(k wire.Kind, body []byte) error {
	before := p.view.Tick()
	if k == wire.KindFull {
		a, done, err := p.view.ApplyFull(body)
		if err != nil || !done {
			return err
		}
		p.fulls++
		p.noted(snapshot{tick: a.Tick, full: true, at: time.Now()})
		return nil
	}
	a, err := p.view.Apply(body)
	if err != nil || a.Stale {
		return err
	}
	if a.Tick <= before {
		p.t.Errorf("%s: tick %d was applied after %d", p.name, a.Tick, before)
	}
	s := snapshot{tick: a.Tick, at: time.Now()}
	_, n := binary.Uvarint(body[1:])
	if back, _ := binary.Uvarint(body[1+n:]); back > 0 {
		s.base = a.Tick - uint32(back)
	}
	p.noted(s)
	return nil
}

func (p *player) noted(s snapshot) {
	p.snapshots = append(p.snapshots, s)
	p.hashes[s.tick] = p.view.Hash()
}
