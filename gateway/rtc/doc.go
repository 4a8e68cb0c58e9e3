// Package rtc carries links over WebRTC, both ends: a [Listener] answers the
// offers of browsers and of [Dial]. It alone knows the WebRTC library.
//
// All peers share one UDP port, and one TCP port for clients whose network lets
// no UDP through. A peer has two negotiated data channels: id 0, ordered, is the
// reliable lane, id 1, unordered and never retransmitted, the unreliable one. The
// listener learns a client's addresses as its packets arrive: the candidates in
// an offer are counted and dropped, for to try them would let anybody have us
// send packets to whom he likes.
//
// What SDP looks like inside, how an offer reaches us and who may send one is not
// known here: package signaling calls [Listener.Answer].
//
// Goroutines, per peer: one that owns its life, from the answer to the end, and
// is the link's writer once both channels are open; and one reader per channel,
// which take turns. Callbacks of the library only post to the first.
// [Listener.Close] waits for all of them.
package rtc
