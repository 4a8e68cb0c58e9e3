package session

import "github.com/gatehouse/gatehouse/wire"

// Observer is told what happens to sessions, for metrics. Safe for concurrent
// use; must not block.
type Observer interface {
	LinkObserver
	StreamObserver
}

// LinkObserver is told of links and sessions as they come and go.
type LinkObserver interface {
	// Links: the number of open links of a transport has changed.
	Links(transport string, delta int)
	// Sessions: the number of sessions, away ones included, has changed.
	Sessions(delta int)
	// Refused: a hello was not accepted.
	Refused(c wire.Code)
	// Resumed on a transport, with or without a gap.
	Resumed(transport string, gap bool)
	// Ended: a session has, for a reason.
	Ended(c wire.Code)
}

// StreamObserver is told of what sessions receive.
type StreamObserver interface {
	// Hello came, with the best version that its client speaks (0: none), and
	// there was one in common or not.
	Hello(version int, accepted bool)
	// Invalid: a link was closed for what its client sent.
	Invalid(c wire.Code)
	// GivenUp: a link was closed that read too slowly or said nothing; its
	// session may come back.
	GivenUp(c wire.Code)
	// Limited: a frame came above the rate limit.
	Limited(k wire.Kind)
}

type nopObserver struct{}

func (nopObserver) Links(string, int)    {}
func (nopObserver) Sessions(int)         {}
func (nopObserver) Refused(wire.Code)    {}
func (nopObserver) Resumed(string, bool) {}
func (nopObserver) Ended(wire.Code)      {}
func (nopObserver) Hello(int, bool)      {}
func (nopObserver) Invalid(wire.Code)    {}
func (nopObserver) GivenUp(wire.Code)    {}
func (nopObserver) Limited(wire.Kind)    {}
