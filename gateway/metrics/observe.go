package metrics

import (
	"strconv"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Message implements link.Observer.
func (m *Metrics) Message(transport string, in bool, lane wire.Lane, bytes int) {
	direction := 0
	if in {
		direction = 1
	}
	t := &m.messages[transportIndex(transport)][direction][lane]
	t.messages.Inc()
	t.bytes.Add(float64(bytes))
}

// Dropped implements link.Observer.
func (m *Metrics) Dropped(transport string, reason link.DropReason) {
	m.dropped.WithLabelValues(transports[transportIndex(transport)], string(reason)).Inc()
}

// Links implements session.Observer.
func (m *Metrics) Links(transport string, delta int) {
	m.links[transportIndex(transport)].Add(float64(delta))
}

// Sessions implements session.Observer.
func (m *Metrics) Sessions(delta int) { m.sessions.Add(float64(delta)) }

// Refused implements session.Observer.
func (m *Metrics) Refused(c wire.Code) { m.RefusedAt(AtHello, c) }

// RefusedAt counts who was not let in.
func (m *Metrics) RefusedAt(p Place, c wire.Code) { m.refused[p].inc(c) }

// Hello implements session.Observer: a client offered a version, the best it
// speaks, or 0 if it offered none.
func (m *Metrics) Hello(version int, accepted bool) {
	m.versions.WithLabelValues(versionLabel(version), strconv.FormatBool(accepted)).Inc()
}

// Resumed implements session.Observer.
func (m *Metrics) Resumed(transport string, gap bool) {
	m.resumed.WithLabelValues(transports[transportIndex(transport)], strconv.FormatBool(gap)).Inc()
}

// Ended implements session.Observer.
func (m *Metrics) Ended(c wire.Code) { m.ended.inc(c) }

// GivenUp implements session.Observer.
func (m *Metrics) GivenUp(c wire.Code) { m.givenUp.inc(c) }

// Invalid implements session.Observer.
func (m *Metrics) Invalid(c wire.Code) { m.invalid.inc(c) }

// Limited implements session.Observer.
func (m *Metrics) Limited(k wire.Kind) { m.limited[k].Inc() }

// Tick implements room.Observer.
func (m *Metrics) Tick(d time.Duration) { m.tick.Observe(d.Seconds()) }

// Lag implements room.Observer.
func (m *Metrics) Lag(d time.Duration) { m.lag.Observe(d.Seconds()) }

// Skipped implements room.Observer.
func (m *Metrics) Skipped(ticks int) { m.skipped.Add(float64(ticks)) }

// Resync implements room.Observer.
func (m *Metrics) Resync() { m.resyncs.Inc() }

// Rooms implements room.Observer.
func (m *Metrics) Rooms(kind string, delta int) { m.rooms.WithLabelValues(kind).Add(float64(delta)) }

// Members implements room.Observer.
func (m *Metrics) Members(kind string, delta int) {
	m.members.WithLabelValues(kind).Add(float64(delta))
}

// Snapshot implements room.Observer.
func (m *Metrics) Snapshot(full bool, bytes int) {
	if full {
		m.fullBytes.Observe(float64(bytes))
		return
	}
	m.deltaBytes.Observe(float64(bytes))
}

// Input implements room.Observer.
func (m *Metrics) Input(reason string) { m.inputsDropped.WithLabelValues(reason).Inc() }

// Ignored implements room.Observer.
func (m *Metrics) Ignored(k wire.Kind) { m.ignored[k].Inc() }
