// Package input owns what a room does with the inputs of one seat between their
// arrival and the tick that applies them: see [Buffer].
//
// It is pure: no I/O, no goroutine, no clock. What an input means is the game's
// business; what acknowledges snapshots in an input frame is authority/replica's.
package input
