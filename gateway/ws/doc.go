// Package ws carries links over WebSocket, both ends: [Server] accepts them,
// [Dial] opens them. It alone knows the WebSocket library.
//
// A WebSocket is one ordered stream, so both lanes share it (link.Info.OneStream)
// and what the unreliable lane may lose is lost in the link's queue, before it is
// written. To keep that promise megabytes must not hide in the kernel: sockets
// are set to hold back what was not sent yet (TCP_NOTSENT_LOWAT).
//
// The subprotocol gatehouse.v1 is binary messages; gatehouse.json is text, one
// frame each, translated here at the edge, so that nothing above knows. Whether
// an origin is admitted, and what a refusal looks like, are told by [Options].
//
// Goroutines, per connection: a reader, which owns the connection's life and
// waits for the others, a writer, which alone writes messages, and for JSON a
// prober. [Server.Close] waits for all of them.
package ws
