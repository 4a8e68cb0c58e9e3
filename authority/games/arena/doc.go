// Package arena is a top-down action game: players run, dash, shoot and strike
// their way through a walled arena full of creatures, pick things up, open doors,
// and the best score of a round wins it. It shows what a game of Gatehouse looks
// like, and its messages are the contract of every client of it.
//
// It owns its rules and its world. It knows nothing of rooms, sessions, links or
// clocks: a world is a pure function of its setup and its commands, in integers,
// and starts no goroutine.
//
// # Units
//
// Positions are in 1/256 tile, x to the right and y downwards. Angles ("aim") are
// in 1/256 turn: 0 looks along +x, 64 along +y. Velocities are in 1/256 tile per
// tick. JSON that people may write by hand (inputs and requests) has angles in
// degrees instead, which are rounded to the nearest 1/256 turn.
//
// # What a client receives
//
// Its entities: [Schema], with a type per entity and the fields' indices as
// constants, in schema.go; the reasons of despawns there too. The map and the
// constants of movement come once, as the room's config: [Config]. The door tiles
// of the map are open or closed as the door entities say.
//
// Events, in JSON (messages.go):
//
//	damage           {"target":ID, "amount":N, "source":ID}     to those concerned
//	interact_result  {"request":N, "success":B, "result":"…"}   to who asked
//	game_event       {"type":"…", "payload":{…}}                to everyone
//
// # What a client sends
//
// One input per tick: 4 bytes, or JSON (the payload starts with '{'):
//
//	uint8  buttons: 1 attack (held: fires when it may), 2 dash; other bits are 0
//	int8   move x, -127 to 127 (full speed)
//	int8   move y
//	uint8  aim
//
//	{"move":[1,0], "aim":90, "attack":true, "dash":false}
//
// In JSON move is -1 to 1 and aim in degrees; absent fields are 0. A move vector
// longer than full speed is scaled down to it. The world applies each input for
// one tick of movement, at most two in a tick, and over any time no more than
// ticks have passed, save for the few of the last second that it had no input
// for: more are refused and counted.
//
// Requests, in JSON, each answered with {"request":N, "success":B, "result":"…"},
// and code refused if success is false:
//
//	interact  {"target":ID}            opens or closes a door within reach
//	attack    {"target":ID,"aim":DEG}  strikes an enemy or player within reach and sight; target 0 shoots along aim
//	respawn   {}                       returns from death, once the wait is over
//
// The profile of a join may be {"color":0-15, "skin":0-3}; anything else takes
// the defaults.
//
// # Members and bodies
//
// A member's player entity lives from its join to its leave. The body of a member
// who is away stays, idle, and is shielded: nobody can farm it, and after 10 s it
// is taken off the field (dead, until its member returns and respawns).
package arena
