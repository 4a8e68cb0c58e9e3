//go:build !race

package wire_test

const raced = false
