// Package authority is the border of the room worker: what a gateway may ask of
// rooms ([Rooms], [Seat]), what rooms hand back ([Outbox]), what operators may
// do ([Control]), and what a game must provide ([Game], [World]).
//
// It holds contracts only. The worker in this process (authority/room)
// implements them; across machines a cluster does, and a gateway can not tell.
// It knows nothing of links, sessions or transports.
package authority
