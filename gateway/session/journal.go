package session

import (
	"context"
	"log/slog"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// journal is what operators read to learn why somebody is not in, or no more.
// Comings and goings are told at debug level, what the server or an operator
// did to a session at info. It knows no secret.
type journal struct {
	log     *slog.Logger
	limited *admit.Sampled // for what strangers cause
}

func newJournal(log *slog.Logger) journal { return journal{log, admit.NewSampled(log)} }

func (j *journal) refused(l *link.Link, e *wire.Error) {
	j.limited.Info("refused", append(origin(l), slog.String("code", e.Code.Name()), slog.String("reason", e.Reason))...)
}

// origin is where a link comes from; in memory it has no address.
func origin(l *link.Link) []slog.Attr {
	attrs := []slog.Attr{slog.String("transport", l.Info().Transport)}
	if remote := l.Info().Remote; remote.IsValid() {
		attrs = append(attrs, slog.String("address", remote.String()))
	}
	return attrs
}

func (j *journal) joined(s *Session, l *link.Link) {
	j.debug(s, "joined", origin(l)...)
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
		j.limited.Info("ended", attrs...)
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
