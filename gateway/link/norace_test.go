//go:build !race

package link

const raced = false
