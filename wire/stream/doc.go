// Package stream keeps the numbering of a session's reliable lane: what was
// sent and not acknowledged yet (Ring), and what was received (Counter). Server
// and client use the same code, so that the arithmetic of resume lives once.
//
// Frames are numbered implicitly from 1 in the order they are pushed. A ring
// belongs to a session and outlives its links; a link only holds a cursor.
package stream
