package admit

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// LinesPerSecond bounds the log lines that strangers can make one [Sampled] write.
const LinesPerSecond = 10

// Sampled writes what strangers cause to a log, at info level: the first lines of
// every second, and how many were left out since. Safe for concurrent use.
type Sampled struct {
	log *slog.Logger

	mu     sync.Mutex // guards the rest
	since  time.Time  // of the present second
	lines  int        // in it
	silent int        // left out since the last that was written
}

// NewSampled returns one that writes to log.
func NewSampled(log *slog.Logger) *Sampled { return &Sampled{log: log} }

// Info writes a line, if it is one of the first in its second.
func (s *Sampled) Info(what string, attrs ...slog.Attr) {
	written, silent := s.take(time.Now())
	if !written {
		return
	}
	if silent > 0 {
		attrs = append(attrs, slog.Int("more_not_logged", silent))
	}
	s.log.LogAttrs(context.Background(), slog.LevelInfo, what, attrs...)
}

func (s *Sampled) take(now time.Time) (written bool, silent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= time.Second {
		s.since, s.lines = now, 0
	}
	if s.lines++; s.lines > LinesPerSecond {
		s.silent++
		return false, 0
	}
	silent, s.silent = s.silent, 0
	return true, silent
}
