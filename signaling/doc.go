// Package signaling is how clients and the WebRTC listener exchange SDP: HTTP
// handlers with the manners of WHIP (RFC 9725). One POST with the offer answers
// with the answer; nothing trickles, for the listener needs none of a client's
// candidates.
//
// It judges who may ask and how a request looks, and knows nothing of SDP, ICE or
// links: the [Answerer] does. It starts no goroutines and keeps no state.
package signaling
