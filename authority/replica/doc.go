// Package replica is the replicated part of a world and its way to clients:
// entities with typed, quantized fields ([Store]), what each client holds and is
// sent ([Peer]), and the client's copy ([View]).
//
// It is pure: no I/O, no goroutine, no clock. docs/protocol.md, Snapshots, says
// every bit; nothing here knows rooms, sessions or links.
//
// A Store commits once per tick: fields that a game has set are stamped with the
// tick at which they changed, and every client's delta is read from those
// stamps. A Peer remembers which entities each of the last 64 snapshots carried;
// an acknowledged snapshot becomes the baseline of the entities in it. A delta
// carries, for each entity, the fields that changed after its baseline, as
// absolute values; so it is right on top of any state at or after the baseline.
// What does not fit the budget waits and grows more urgent.
//
// Work follows activity. A commit leaves the set of ids it touched, a Peer adds
// those sets to its own of what its client may not hold, and an acknowledgement
// takes away what was delivered: what does not change is not looked at.
package replica
