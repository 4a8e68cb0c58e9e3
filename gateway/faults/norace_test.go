//go:build !race

package faults_test

// slowdown is how much longer everything may take.
const slowdown = 1
