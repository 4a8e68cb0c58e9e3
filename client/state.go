package client

// State of a client. An open link is not a synchronized game: the states say
// which it is.
//
//	Connecting → Joining → Synchronized ⇄ Resynchronizing
//	                            ⇅               ⇅
//	                           Away ────────────┘        any → Leaving → Closed
type State uint8

const (
	// Connecting: dialing, or waiting for the welcome.
	Connecting State = iota
	// Joining: welcome, but the first full snapshot has not come yet.
	Joining
	// Synchronized: the world is whole. A room without simulation goes here from
	// Connecting.
	Synchronized
	// Resynchronizing: the world may lack something until a full snapshot came.
	Resynchronizing
	// Away: the link is gone; the client is trying to resume.
	Away
	// Leaving: the leave message is on its way.
	Leaving
	// Closed: the session is over. [Client.Err] says why.
	Closed
)

func (s State) String() string {
	names := [...]string{"connecting", "joining", "synchronized", "resynchronizing", "away", "leaving", "closed"}
	if int(s) < len(names) {
		return names[s]
	}
	return "unknown"
}
