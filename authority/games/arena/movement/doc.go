// Package movement is the arena's rule of motion: one pure function from a body's
// state, an input and a grid to the body's next state. The server's world and
// every client that predicts its own player run the same rule.
//
// It computes in integers only (every intermediate value fits 32 bits), so that
// it is exactly equal on every processor, and to its TypeScript twin in
// web/demo/src/arena/movement.ts: testdata/vectors.json holds both to it.
package movement
