// Package gateway is the edge of a Gatehouse server, put together: it turns a
// configuration and a worker's rooms into listeners, links and sessions, and ends
// all of them in order.
//
//	client ⇄ link ⇄ session ⇄ room
//
// Each part below is a package of its own that does not know the others; only
// here do they meet. What happens inside rooms is none of its business, nor what
// a game is.
//
// # Ownership
//
// A room's goroutine owns all of the room's state; a link has one reader and one
// writer, and the writer alone touches the socket; one goroutine owns the ENet
// host and every call into C; callbacks of the WebRTC library only post, they
// never call up. A lock is never held over I/O, a channel operation or a
// callback. Every goroutine has an owner that ends it and waits for it.
//
// # Life
//
//  1. [New] binds every address and makes every part. An error leaves nothing
//     behind.
//  2. [Gateway.Run] serves until its context ends or a listener fails.
//  3. Then it drains: /readyz answers 503, new joins are refused with a code that
//     invites to go elsewhere, sessions are told the deadline and go on.
//  4. When all have left, or at the deadline, sessions end with going_away, then
//     links, then listeners. Run returns when every goroutine of the gateway has
//     ended.
package gateway
