package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/wire"
)

// refusalsPerSecond bounds the log lines that strangers can make us write, at
// each place.
const refusalsPerSecond = 10

// refusals counts who is turned away before there is a link, and logs some of
// them. Safe for concurrent use.
type refusals struct {
	// immutable
	log     *slog.Logger
	metrics *metrics.Metrics
	proxies *admit.Proxies

	mu     sync.Mutex // guards the rest
	sample map[metrics.Place]*sample
}

// sample lets the first lines of every second through.
type sample struct {
	since  time.Time // of the present second
	lines  int       // in it
	silent int       // not written since the last that was
}

func newRefusals(log *slog.Logger, m *metrics.Metrics, p *admit.Proxies) *refusals {
	return &refusals{log: log, metrics: m, proxies: p, sample: map[metrics.Place]*sample{
		metrics.AtSignaling: {}, metrics.AtUpgrade: {},
	}}
}

// at returns what is told of the refusals at one place.
func (f *refusals) at(place metrics.Place) func(*http.Request, *wire.Error) {
	return func(r *http.Request, e *wire.Error) { f.refused(place, r, e) }
}

func (f *refusals) refused(place metrics.Place, r *http.Request, e *wire.Error) {
	f.metrics.RefusedAt(place, e.Code)
	f.mu.Lock()
	written, silent := f.sample[place].take(time.Now())
	f.mu.Unlock()
	if !written {
		return
	}
	attrs := []slog.Attr{
		slog.String("where", place.String()), slog.String("code", e.Code.Name()), slog.String("reason", e.Reason),
		slog.String("address", f.proxies.Address(r).String()),
	}
	if silent > 0 {
		attrs = append(attrs, slog.Int("more_not_logged", silent))
	}
	f.log.LogAttrs(context.Background(), slog.LevelInfo, "refused", attrs...)
}

// take reports whether one more may be written, and how many were not before it.
func (s *sample) take(now time.Time) (written bool, silent int) {
	if now.Sub(s.since) >= time.Second {
		s.since, s.lines = now, 0
	}
	if s.lines++; s.lines > refusalsPerSecond {
		s.silent++
		return false, 0
	}
	silent, s.silent = s.silent, 0
	return true, silent
}
