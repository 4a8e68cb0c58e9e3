package session

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// linesPerSecond bounds the log lines that strangers can make us write at info
// level.
const linesPerSecond = 10

// journal is what operators read to learn why somebody is not in, or no more.
// Comings and goings are told at debug level, what the server or an operator
// did to a session at info. It knows no secret.
type journal struct {
	log *slog.Logger

	mu     sync.Mutex // guards the rest
	since  time.Time  // of the present second
	lines  int        // in it
	silent int        // lines that were not written since the last that was
}

func (j *journal) refused(l *link.Link, e *wire.Error) {
	j.limited("refused", slog.String("code", e.Code.Name()), slog.String("reason", e.Reason),
		slog.String("transport", l.Info().Transport), slog.String("address", l.Info().Remote.String()))
}

// limited writes at info level what strangers cause, as far as the limit allows.
func (j *journal) limited(what string, attrs ...slog.Attr) {
	j.mu.Lock()
	now := time.Now()
	if now.Sub(j.since) >= time.Second {
		j.since, j.lines = now, 0
	}
	j.lines++
	silent := j.silent
	if j.lines > linesPerSecond {
		j.silent++
		j.mu.Unlock()
		return
	}
	j.silent = 0
	j.mu.Unlock()
	if silent > 0 {
		attrs = append(attrs, slog.Int("more_not_logged", silent))
	}
	j.log.LogAttrs(context.Background(), slog.LevelInfo, what, attrs...)
}

func (j *journal) joined(s *Session, l *link.Link) {
	j.debug(s, "joined", slog.String("transport", l.Info().Transport), slog.String("address", l.Info().Remote.String()))
}

func (j *journal) resumed(s *Session, l *link.Link, gap bool) {
	j.debug(s, "resumed", slog.String("transport", l.Info().Transport), slog.Bool("gap", gap))
}

func (j *journal) away(s *Session) { j.debug(s, "away") }

func (j *journal) ended(s *Session, e *wire.Error) {
	attrs := append(s.names(), slog.String("code", e.Code.Name()), slog.String("reason", e.Reason))
	switch e.Code {
	case wire.CodeLeft, wire.CodeSessionExpired, wire.CodeGoingAway, wire.CodeTimeout:
		j.log.LogAttrs(context.Background(), slog.LevelDebug, "ended", attrs...)
	case wire.CodeKicked:
		j.log.LogAttrs(context.Background(), slog.LevelInfo, "ended", attrs...)
	default:
		j.limited("ended", attrs...)
	}
}

func (j *journal) debug(s *Session, what string, attrs ...slog.Attr) {
	if j.log.Enabled(context.Background(), slog.LevelDebug) {
		j.log.LogAttrs(context.Background(), slog.LevelDebug, what, append(s.names(), attrs...)...)
	}
}

// names are what a session is known by in the log.
func (s *Session) names() []slog.Attr {
	return []slog.Attr{slog.String("session", s.id), slog.String("room", s.joining), slog.String("identity", s.identity)}
}
