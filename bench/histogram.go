package main

import (
	"math/bits"
	"time"

	"golang.org/x/sys/unix"
)

// histogram counts durations in buckets of about 3 % width.
type histogram struct {
	counts [64 * 32]uint32
	total  uint64
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0))/1000)]++
	h.total++
}

// bucket is exact below 32 µs and has 32 steps per power of two above.
func bucket(us uint64) int {
	if us < 32 {
		return int(us)
	}
	shift := bits.Len64(us) - 6
	return (shift+1)*32 + int(us>>shift) - 32
}

// quantile returns the duration that the fraction q of all does not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	left := uint64(q * float64(h.total))
	for i, n := range h.counts {
		if uint64(n) > left {
			if i < 32 {
				return time.Duration(i) * time.Microsecond
			}
			shift := i/32 - 1
			return time.Duration(uint64(i%32+33)<<shift) * time.Microsecond
		}
		left -= uint64(n)
	}
	return 0
}

// now is the monotonic clock in ns.
func now() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // can not fail for this clock
	return ts.Nano()
}
