package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// span is a duration as people type it: with units up to days.
type span time.Duration

const day = 24 * time.Hour

func (s span) String() string { return time.Duration(s).String() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *span) UnmarshalText(text []byte) error {
	rest := string(text)
	var whole time.Duration
	if days, after, ok := strings.Cut(rest, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err != nil {
			return errNoSpan(text)
		}
		whole = time.Duration(n) * day
		if rest = after; rest == "" {
			rest = "0s"
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 && whole > 0 || d > math.MaxInt64-whole {
		return errNoSpan(text)
	}
	*s = span(whole + d)
	return nil
}

func errNoSpan(text []byte) error {
	return fmt.Errorf("%q is no duration (accepted: numbers with units, as in 30s, 90m, 12h or 7d)", text)
}
