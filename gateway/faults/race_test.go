//go:build race

package faults_test

// slowdown is how much longer everything may take: the race detector makes both
// the server and its clients slower.
const slowdown = 3

// leastRate is what passes for 30 Hz: only that a room goes on can be told here.
const leastRate = 4
