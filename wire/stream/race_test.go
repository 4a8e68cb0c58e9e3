//go:build race

package stream_test

// raced: the race detector makes pools forget on purpose, so nothing can be said
// about allocations.
const raced = true
