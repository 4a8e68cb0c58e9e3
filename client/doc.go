// Package client is the Go client of Gatehouse: for bots, load tests and
// black-box tests, over any transport.
//
// It owns a session as a player sees it: joining, the reliable stream and its
// resume over the same or another transport, liveness, requests, relayed
// messages, the roster, inputs with redundancy and acknowledgement, and the copy
// of the world that snapshots build. [Predictor] and [Interpolator] turn that
// copy into something to look at. It refuses to know what a payload means, and
// how a link is made: a [Dialer] does that.
//
// Goroutines: each client has one, which owns the state machine and calls the
// [Handler]; links bring their own reader and writer, which only post to the
// client's bounded inbox. A dial runs in a goroutine that the client waits for.
// What other goroutines may ask for (the world, requests, relayed messages,
// inputs) is guarded by one mutex, which is never held over a callback or I/O.
package client
