package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// Sources are asked at each scrape. Nil functions are left out. They are called
// from any goroutine.
type Sources struct {
	// RoomSizes returns the members of each room.
	RoomSizes func() []int
	// Queues returns what waits in each session.
	Queues func() []Queue
	// Counters are read from elsewhere.
	Counters []Counter
}

// Queue is what waits in one session.
type Queue struct {
	// Reliable and Unreliable are frames not yet written.
	Reliable, Unreliable int
	// KeptBytes are not yet written or not yet acknowledged.
	KeptBytes int
}

// Counter is a number that somebody else counts.
type Counter struct {
	// Name without the prefix, and Help.
	Name, Help string
	// Gauge: it may also go down.
	Gauge bool
	Value func() float64
}

// Watch sets what later scrapes ask.
func (m *Metrics) Watch(s Sources) { m.sources.Store(&s) }

// scrape is the collector of the sources.
type scrape struct {
	sources *atomic.Pointer[Sources]
}

// Describe sends nothing: what there is depends on the sources.
func (scrape) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (s scrape) Collect(out chan<- prometheus.Metric) {
	sources := s.sources.Load()
	if sources == nil {
		return
	}
	if sources.RoomSizes != nil {
		out <- histogramOf("room_members", "Members per room, those away included.",
			[]float64{0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096}, sources.RoomSizes())
	}
	if sources.Queues != nil {
		queues(out, sources.Queues())
	}
	for _, c := range sources.Counters {
		kind := prometheus.CounterValue
		if c.Gauge {
			kind = prometheus.GaugeValue
		}
		out <- prometheus.MustNewConstMetric(describe(c.Name, c.Help), kind, c.Value())
	}
}

func queues(out chan<- prometheus.Metric, all []Queue) {
	reliable, unreliable, kept := 0, 0, make([]int, len(all))
	for i, q := range all {
		reliable += q.Reliable
		unreliable += q.Unreliable
		kept[i] = q.KeptBytes
	}
	queued := describe("queued_frames", "Frames that wait to be written, by lane.", "lane")
	out <- prometheus.MustNewConstMetric(queued, prometheus.GaugeValue, float64(reliable), "reliable")
	out <- prometheus.MustNewConstMetric(queued, prometheus.GaugeValue, float64(unreliable), "unreliable")
	out <- histogramOf("session_kept_bytes", "Bytes per session that are not yet written or not yet acknowledged.",
		[]float64{0, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20, 4 << 20}, kept)
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// histogramOf is the distribution of values at this moment.
func histogramOf(name, help string, bounds []float64, values []int) prometheus.Metric {
	buckets, sum := make(map[float64]uint64, len(bounds)), 0.0
	for _, b := range bounds {
		buckets[b] = 0
	}
	for _, v := range values {
		sum += float64(v)
		for _, b := range bounds {
			if float64(v) <= b {
				buckets[b]++
			}
		}
	}
	return prometheus.MustNewConstHistogram(describe(name, help), uint64(len(values)), sum, buckets)
}
