// Package wire owns what crosses a link: frames, their layout, lanes, kinds,
// codes and the bodies that a session itself has to understand.
//
// It is pure: no I/O, no goroutine, no clock, the standard library only.
// docs/protocol.md says every byte in prose; the golden vectors in testdata
// hold this package and the TypeScript SDK to it.
//
// A link message is one or more frames, each a header and a body:
//
//	header   uint16 little-endian: kind (low 5 bits), body length (high 11 bits)
//	         a length of 2047 is an escape: a uint16 with the real length follows
//	body     that many bytes
//
// The kind alone decides the lane and whether the frame is numbered, so that a
// link with one stream (WebSocket) needs no lane on the wire:
//
//	 1..7    link control: reliable lane, not numbered, dies with its link
//	 8..19   reliable lane, numbered implicitly: the n-th such frame since the
//	         welcome is number n
//	20..31   unreliable lane, never numbered
//
// A receiver skips kinds it does not know (but counts those in 8..19).
//
// The same frames have a second spelling as JSON text, for debugging and small
// games: [AppendJSONText] and [ParseJSONText].
package wire
