//go:build !race

package stream_test

const raced = false
