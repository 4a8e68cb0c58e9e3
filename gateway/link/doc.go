// Package link is the seam between a transport and a session: one live
// connection that knows bytes and two lanes, nothing else.
//
// A transport (ws, rtc, enet, and the in-memory [Pair] here) implements [Conn]:
// it hands received messages to [Link.Receive], and when told to [Conn.Wake]
// takes what there is to send from [Link.Pack]. Everything between is here and
// the same for all: the queues and their bounds, what is dropped and why, how
// frames are packed into messages, when they are flushed ([Link.WriteLoop]), and
// the network conditioner ([Netsim]). It knows nothing of sessions and rooms, and
// of frames only their kind and size.
//
// Ownership: a link has one reader, which alone calls Receive, and one writer,
// which alone calls Pack and touches the socket. Send, Attach, Close and the rest
// may be called from anywhere and never block. For ENet reader and writer are
// both the goroutine that owns the host. A link itself has no goroutine; with a
// conditioner the timer of received messages stands in for the reader.
package link
