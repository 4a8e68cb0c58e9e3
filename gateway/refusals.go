package gateway

import (
	"log/slog"
	"net/http"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/wire"
)

// refusals counts who is turned away before there is a link, and logs some of
// them. Safe for concurrent use.
type refusals struct {
	// immutable
	metrics *metrics.Metrics
	proxies *admit.Proxies
	logs    map[metrics.Place]*admit.Sampled
}

func newRefusals(log *slog.Logger, m *metrics.Metrics, p *admit.Proxies) *refusals {
	return &refusals{metrics: m, proxies: p, logs: map[metrics.Place]*admit.Sampled{
		metrics.AtSignaling: admit.NewSampled(log), metrics.AtUpgrade: admit.NewSampled(log),
	}}
}

// at returns what is told of the refusals at one place.
func (f *refusals) at(place metrics.Place) func(*http.Request, *wire.Error) {
	return func(r *http.Request, e *wire.Error) { f.refused(place, r, e) }
}

func (f *refusals) refused(place metrics.Place, r *http.Request, e *wire.Error) {
	f.metrics.RefusedAt(place, e.Code)
	f.logs[place].Info("refused", slog.String("where", place.String()), slog.String("code", e.Code.Name()),
		slog.String("reason", e.Reason), slog.String("address", f.proxies.Address(r).String()))
}
