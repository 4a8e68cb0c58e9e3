package gateway

import (
	"context"

	"github.com/gatehouse/gatehouse/gateway/metrics"
)

// sources are what a scrape of the metrics asks for.
func (g *Gateway) sources() metrics.Sources {
	s := metrics.Sources{RoomSizes: g.roomSizes, Queues: g.queues}
	if g.rtc != nil {
		stats := g.rtc.Stats
		s.Counters = append(s.Counters,
			metrics.Counter{Name: "rtc_pending", Help: "WebRTC offers that were answered and have no open channels yet.", Gauge: true,
				Value: func() float64 { return float64(stats().Pending) }},
			metrics.Counter{Name: "rtc_stray_datagrams_total", Help: "Datagrams on the WebRTC port that belong to no peer.",
				Value: func() float64 { return float64(stats().Stray) }})
	}
	if g.enet != nil {
		counts := g.enet.Counts
		s.Counters = append(s.Counters,
			metrics.Counter{Name: "enet_connects_shed_total", Help: "ENet connection attempts beyond the limits.",
				Value: func() float64 { return float64(counts().ConnectsShed) }},
			metrics.Counter{Name: "enet_datagrams_refused_total", Help: "Datagrams on the ENet port that make no sense or ask for too much.",
				Value: func() float64 { return float64(counts().DatagramsRefused) }},
			metrics.Counter{Name: "enet_sends_failed_total", Help: "Messages that ENet did not take.",
				Value: func() float64 { return float64(counts().SendsFailed) }})
	}
	return s
}

func (g *Gateway) roomSizes() []int {
	ctx, cancel := context.WithTimeout(context.Background(), listTimeout)
	defer cancel()
	rooms, err := g.opts.Control.List(ctx)
	if err != nil {
		g.log.Warn("the rooms did not answer a scrape of the metrics", "error", err)
	}
	sizes := make([]int, len(rooms))
	for i, r := range rooms {
		sizes[i] = r.Members
	}
	return sizes
}

func (g *Gateway) queues() []metrics.Queue {
	all := g.sessions.Sessions()
	queues := make([]metrics.Queue, len(all))
	for i, s := range all {
		queues[i] = metrics.Queue{Reliable: s.QueuedReliable, Unreliable: s.QueuedUnreliable, KeptBytes: s.KeptBytes}
	}
	return queues
}
