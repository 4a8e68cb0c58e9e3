//go:build race

package link

// raced: the race detector makes pools forget on purpose, so nothing can be said
// about allocations.
const raced = true
