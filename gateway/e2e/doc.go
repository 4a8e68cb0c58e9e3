// Package e2e holds the tests of the whole server: a gateway with every listener
// over a worker with the arena, in this process, and real clients of every
// transport over real sockets. There is nothing else in it.
//
//   - Cuts: sessions move between transports at random moments.
//   - Bad networks: proxies between client and server lose, delay, double and
//     reorder what passes.
//   - Witnesses: clients that share no code with the server (a browser, a C
//     program, one made of raw bytes) see what it says.
//   - The JSON dialect, as a person with a WebSocket and a keyboard uses it.
//
// The browser's tests need the build tag browser, Chromium, Node and the built
// pages.
//
// Goroutines: a house has the gateway's, a proxy two per flow; whoever opens one
// ends it and waits.
package e2e
