//go:build !race

package faults_test

// slowdown is how much longer everything may take.
const slowdown = 1

// leastRate is what passes for 30 Hz on a machine that has other work too. A room
// that waits for a client stands still.
const leastRate = 15
