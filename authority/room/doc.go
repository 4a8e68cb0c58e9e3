// Package room is the room worker: it hosts many rooms, each a group of seats
// with one goroutine of its own, and implements the border of package authority.
//
// A room's goroutine owns everything in it: roster, world, inputs, what is
// waiting to go out. There is no mutex around any of that; the only shared thing
// is the inbox, into which gateways and operators post and which the room
// empties in one go. Each turn of the goroutine (a tick, or a batch of relayed
// messages) ends with one call to each seat's outbox.
//
// Kinds of room differ in one small behaviour (relay.go, simulation.go); roster,
// join, leave, limits and inspection are the same for all. The package knows
// nothing of links, transports or sessions.
package room
