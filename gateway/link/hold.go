package link

import "time"

// Hold is for a writer that serves many links and can not run a WriteLoop for
// each. Called once for each flush, it returns how long what follows may be held
// back so that more leaves with it; if that is not positive it may not. Only the
// writer calls it.
func (l *Link) Hold(now time.Time) time.Duration {
	select {
	case <-l.urgent:
		return 0
	default:
	}
	if l.pace.at.IsZero() {
		l.pace = newPacer(l.opts.FlushWindow, now)
		l.pace.sends = l.sends.Load() // over what time they came is not known
	}
	return l.pace.hold(now, l.sends.Load())
}

// Urgent reports whether a control frame waits, for which a link that is held back
// must be served at once. Safe for concurrent use.
func (l *Link) Urgent() bool { return len(l.urgent) > 0 }
