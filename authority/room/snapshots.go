package room

import (
	"errors"
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/authority/input"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/wire"
)

// How snapshots are sent.
const (
	// chunkBytes and chunksPerTurn pace a full snapshot.
	chunkBytes    = 16 << 10
	chunksPerTurn = 2
	// deltaBudget is the largest delta body: a datagram with its frame header.
	deltaBudget = wire.MaxDatagram - 2
	// slackTicks is how many snapshots beyond a round trip may be
	// unacknowledged before a seat is served less.
	slackTicks = 8
	// thinPeriod is the least time between snapshots for such a seat.
	thinPeriod = 250 * time.Millisecond
	// resyncPeriod is the least time between full snapshots on request.
	resyncPeriod = time.Second
	// jsonPeriod is the time between snapshots of the JSON dialect.
	jsonPeriod = 200 * time.Millisecond
	// jsonBytes bounds the entities of one: a frame with its other fields.
	jsonBytes = wire.MaxReliableBody - 256
)

// replicaState is what a simulated room keeps of a seat: what it holds of the
// world, and the inputs it sent.
type replicaState struct {
	json   bool
	peer   *replica.Peer
	inputs *input.Buffer

	wanted   bool   // a resync was asked for
	lastFull uint32 // tick of the last full snapshot, 0: none
	lastSent uint32
	acked    uint32
	trip     uint32 // smoothed ticks from a snapshot to its acknowledgement, times 8

	front []*wire.Frame // chunks of a full snapshot still to be sent
}

func newReplicaState(m *simulation, json bool) replicaState {
	return replicaState{json: json, peer: replica.NewPeer(m.store), inputs: input.NewBuffer()}
}

// drop releases what was not sent.
func (p *replicaState) drop() {
	wire.ReleaseAll(p.front)
	p.front = nil
}

// lost: reliable messages to this seat were lost, perhaps a full snapshot.
func (p *replicaState) lost() {
	p.drop()
	p.peer.Resync()
}

// acknowledge takes what an input frame says of snapshots.
func (p *replicaState) acknowledge(m *simulation, in *wire.Input) {
	if in.Acked == 0 || p.json {
		return
	}
	if err := p.peer.Ack(in.Acked, in.Mask); err != nil {
		m.r.obs.Input(ackReason(err))
		return
	}
	if in.Acked > p.acked {
		p.acked = in.Acked
		p.trip += (m.now - in.Acked) - p.trip/8
	}
}

func ackReason(err error) string {
	var bogus replica.AckError
	if errors.As(err, &bogus) {
		return bogus.Reason()
	}
	return inputMalformed
}

// snapshot sends a seat the state of this tick, as far as it is its turn.
func (p *replicaState) snapshot(m *simulation, s *seat) {
	switch {
	case p.json:
		p.sendJSON(m, s)
	case p.peer.NeedsFull(), p.wanted && m.since(p.lastFull) >= resyncPeriod:
		p.sendFull(m)
	case !p.throttled(m):
		p.sendDelta(m, s)
	}
}

// throttled reports whether a seat that falls behind has to wait: back-pressure
// that needs nothing but acknowledgements.
func (p *replicaState) throttled(m *simulation) bool {
	if p.lastSent <= p.acked || p.lastSent-p.acked <= p.trip/8+slackTicks {
		return false
	}
	return m.since(p.lastSent) < max(thinPeriod, m.duration(p.trip/8))
}

func (m *simulation) duration(ticks uint32) time.Duration {
	return time.Duration(ticks) * time.Second / time.Duration(m.r.spec.TickRate)
}

// since returns the simulated time since a tick; for ever since tick 0.
func (m *simulation) since(tick uint32) time.Duration {
	if tick == 0 {
		return time.Hour
	}
	return m.duration(m.now - tick)
}

func (p *replicaState) meta() replica.Meta {
	seq, ok := p.inputs.Applied()
	return replica.Meta{HasInput: ok, InputSeq: seq}
}

// sendFull replaces a full snapshot that is still on its way.
func (p *replicaState) sendFull(m *simulation) {
	if p.wanted {
		p.peer.Resync()
		m.r.obs.Resync()
	}
	if p.lastFull != 0 {
		m.r.worker.opts.Logger.Debug("full snapshot again", "domain", "sync", "room", m.r.spec.Name, "tick", m.now,
			"asked", p.wanted)
	}
	p.wanted, p.lastFull, p.lastSent = false, m.now, m.now
	p.drop()
	p.peer.Full(p.meta(), chunkBytes, func(chunk []byte) {
		f := wire.CopyFrame(wire.KindFull, chunk)
		f.Tick = m.now
		p.front = append(p.front, f)
		m.r.obs.Snapshot(true, len(chunk))
	})
}

func (p *replicaState) sendDelta(m *simulation, s *seat) {
	body, _ := p.peer.Delta(m.scratch[:0], p.meta(), deltaBudget)
	m.scratch = body[:0]
	if len(body) == 0 {
		return // a full snapshot is not acknowledged yet
	}
	p.lastSent = m.now
	m.r.obs.Snapshot(false, len(body))
	s.send(snapshotFrame(m.now, body))
}

func snapshotFrame(tick uint32, body []byte) *wire.Frame {
	f := wire.CopyFrame(wire.KindSnapshot, body)
	f.Key, f.Tick = wire.SnapshotKey, tick
	return f
}

// jsonSnapshot is the world for seats of the JSON dialect, made once per tick.
type jsonSnapshot struct {
	stale    bool
	entities []byte
	whole    bool
}

func (p *replicaState) sendJSON(m *simulation, s *seat) {
	if p.lastSent != 0 && m.since(p.lastSent) < jsonPeriod {
		return
	}
	p.lastSent = m.now
	if m.json.stale {
		m.json.stale = false
		m.json.entities, m.json.whole = m.store.AppendJSON(m.json.entities[:0], jsonBytes)
	}
	b := append(m.scratch[:0], `{"tick":`...)
	b = strconv.AppendUint(b, uint64(m.now), 10)
	if meta := p.meta(); meta.HasInput {
		b = append(b, `,"input":`...)
		b = strconv.AppendUint(b, uint64(meta.InputSeq), 10)
	}
	if !m.json.whole {
		b = append(b, `,"truncated":true`...)
	}
	b = append(append(append(b, `,"entities":`...), m.json.entities...), '}')
	m.scratch = b
	m.r.obs.Snapshot(true, len(b))
	s.send(snapshotFrame(m.now, b))
}
