package rtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// logFactory brings the library's log to slog. The library calls it an error
// when a client leaves in mid-sentence; here nothing that a peer can cause is
// more than a debug message, and its own debug messages are left out.
type logFactory struct{ log *slog.Logger }

// NewLogger implements [logging.LoggerFactory].
func (f logFactory) NewLogger(scope string) logging.LeveledLogger {
	return scopeLogger{log: f.log, scope: scope}
}

type scopeLogger struct {
	log   *slog.Logger
	scope string
}

func (l scopeLogger) Error(msg string) {
	l.log.Debug("webrtc", "scope", l.scope, "message", msg)
}

func (l scopeLogger) Errorf(format string, args ...any) {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		l.Error(fmt.Sprintf(format, args...))
	}
}

func (l scopeLogger) Warn(msg string)                  { l.Error(msg) }
func (l scopeLogger) Warnf(format string, args ...any) { l.Errorf(format, args...) }

func (scopeLogger) Info(string)           {}
func (scopeLogger) Infof(string, ...any)  {}
func (scopeLogger) Debug(string)          {}
func (scopeLogger) Debugf(string, ...any) {}
func (scopeLogger) Trace(string)          {}
func (scopeLogger) Tracef(string, ...any) {}
