//go:build race

package faults_test

// slowdown is how much longer everything may take: the race detector makes both
// the server and its clients slower.
const slowdown = 2
