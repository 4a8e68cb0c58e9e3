// Package session owns players' presences: who they are, the reliable stream
// that outlives their links, their resume, their liveness and their limits.
//
// A link begins as a guest. Its hello either joins, which seats a new session in
// a room, or resumes a session that exists. From then on the session receives
// the link's messages, splits them into frames, answers link control itself and
// delivers the rest to its seat; it never parses what a game or a relay means.
//
// A session whose link ends is away until it is resumed or its grace ends. Only a
// leave, a kick, a terminal error or the expiry ends it. Resume and a change of
// transport are one mechanism: the link is exchanged under the session's mutex
// and the old one, by then a stranger, is closed.
//
// Goroutines: Receive and Ended run on the links' readers; Send and Close of a
// session on its room's goroutine; a join waits for its room on a goroutine of
// its own, bounded by the join timeout; one sweeper per manager does everything
// that is a matter of time. Manager.Close waits for them all.
//
// Locks: Session.mu, then Manager.mu; never the other way, never over I/O. What
// a room sends takes neither: the ring has its own, and the live link is atomic.
package session
