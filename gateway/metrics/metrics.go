package metrics

import (
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

const (
	namespace = "gatehouse"
	// other is the label of what is not in a table: a client must not be able to
	// make series.
	other = "other"
)

// transports that links may have; their index is that of the counters.
var transports = [...]string{"ws", "rtc", "enet", "memory", other}

// Place is where somebody may be refused.
type Place int

// Places, in the order in which one comes by them.
const (
	AtSignaling Place = iota // a request for WebRTC signaling
	AtUpgrade                // the request for a WebSocket
	AtHello                  // the first message on a link
)

var places = [...]string{"signaling", "upgrade", "hello"}

func (p Place) String() string { return places[p] }

// Metrics implements the observers of links, sessions and rooms. Safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	sources  atomic.Pointer[Sources]

	// of links
	links    [len(transports)]prometheus.Gauge
	messages [len(transports)][2][2]traffic // by direction and lane
	dropped  *prometheus.CounterVec

	// of sessions
	sessions prometheus.Gauge
	refused  [len(places)]codeCounter
	versions *prometheus.CounterVec
	resumed  *prometheus.CounterVec
	ended    codeCounter
	invalid  codeCounter
	givenUp  codeCounter
	limited  kindCounter

	// of rooms
	rooms         *prometheus.GaugeVec
	members       *prometheus.GaugeVec
	tick, lag     prometheus.Histogram
	skipped       prometheus.Counter
	resyncs       prometheus.Counter
	fullBytes     prometheus.Observer
	deltaBytes    prometheus.Observer
	inputsDropped *prometheus.CounterVec
	ignored       kindCounter
}

var (
	_ link.Observer    = (*Metrics)(nil)
	_ session.Observer = (*Metrics)(nil)
)

// traffic counts link messages one way on one lane.
type traffic struct{ messages, bytes prometheus.Counter }

// New returns metrics in a registry of their own.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		scrape{&m.sources},
	)
	m.ofLinks()
	m.ofSessions()
	m.ofRooms()
	return m
}

// Handler serves the metrics in the text format.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: 4,
		Timeout:             10 * time.Second,
	})
}

func (m *Metrics) ofLinks() {
	links := m.gauges("links", "Open links, by transport.", "transport")
	messages := m.counters("link_messages_total", "Link messages, by transport, direction (in is from clients) and lane.", "transport", "direction", "lane")
	bytes := m.counters("link_message_bytes_total", "Bytes of link messages, without the headers of the transport.", "transport", "direction", "lane")
	for i, t := range transports {
		m.links[i] = links.WithLabelValues(t)
		for d, direction := range []string{"out", "in"} {
			for _, lane := range []wire.Lane{wire.Reliable, wire.Unreliable} {
				m.messages[i][d][lane] = traffic{
					messages.WithLabelValues(t, direction, lane.String()),
					bytes.WithLabelValues(t, direction, lane.String()),
				}
			}
		}
	}
	m.dropped = m.counters("frames_dropped_total", "Frames that were not sent, by transport and reason.", "transport", "reason")
}

func (m *Metrics) ofSessions() {
	m.sessions = m.gauges("sessions", "Sessions, those away included.").WithLabelValues()
	refused := m.counters("refused_total", "Who was not let in, by where (a request for signaling, a WebSocket's upgrade, a hello) and code.", "where", "code")
	for p := range m.refused {
		m.refused[p] = byCode(refused.MustCurryWith(prometheus.Labels{"where": places[p]}))
	}
	m.versions = m.counters("hello_versions_total", "Hellos by the best protocol version they offered: 1, or other for those not spoken here, and whether it was accepted.", "version", "accepted")
	m.resumed = m.counters("resumes_total", "Sessions resumed, by transport and whether messages were lost (gap).", "transport", "gap")
	m.ended = byCode(m.counters("sessions_ended_total", "Sessions that have ended, by code.", "code"))
	m.givenUp = byCode(m.counters("links_given_up_total", "Links closed because they read too slowly or said nothing, by code.", "code"))
	m.invalid = byCode(m.counters("links_invalid_total", "Links closed for what their client sent, by code; one that left is none.", "code"))
	m.limited = m.byKind("frames_limited_total", "Frames above the rate limit, by kind.")
}

func (m *Metrics) ofRooms() {
	m.rooms = m.gauges("rooms", "Rooms, by kind.", "kind")
	m.members = m.gauges("members", "Members of rooms, those away included, by the kind of room.", "kind")
	m.tick = m.histogram("tick_seconds", "How long a tick of a room took, snapshots and sending included.",
		.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .02, .033, .066, .25, 1)
	m.lag = m.histogram("tick_lag_seconds", "How late a tick began.",
		.0001, .00025, .0005, .001, .0025, .005, .01, .02, .033, .066, .25, 1)
	m.skipped = m.counters("ticks_skipped_total", "Ticks that were given up after a pause of the process.").WithLabelValues()
	m.resyncs = m.counters("resyncs_total", "Full snapshots that clients asked for.").WithLabelValues()
	snapshots := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "snapshot_bytes",
		Help:    "Size of encoded snapshots, full ones by the chunk.",
		Buckets: []float64{16, 32, 64, 128, 256, 384, 512, 768, 1024, 1150, 4096, 16384},
	}, []string{"type"})
	m.registry.MustRegister(snapshots)
	m.fullBytes, m.deltaBytes = snapshots.WithLabelValues("full"), snapshots.WithLabelValues("delta")
	m.inputsDropped = m.counters("inputs_dropped_total", "Inputs that were not applied, by reason.", "reason")
	m.ignored = m.byKind("frames_ignored_total", "Frames of kinds that mean nothing in their room.")
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets ...float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

// codeCounter counts by code, all of the table and other.
type codeCounter struct {
	known map[wire.Code]prometheus.Counter
	other prometheus.Counter
}

// byCode makes the counters of a vector whose one free label is the code.
func byCode(v *prometheus.CounterVec) codeCounter {
	c := codeCounter{map[wire.Code]prometheus.Counter{}, v.WithLabelValues(other)}
	for _, code := range wire.Codes() {
		c.known[code] = v.WithLabelValues(code.Name())
	}
	return c
}

func (c codeCounter) inc(code wire.Code) {
	if k, ok := c.known[code]; ok {
		k.Inc()
		return
	}
	c.other.Inc()
}

// kindCounter counts by the kind of frame.
type kindCounter [256]prometheus.Counter

func (m *Metrics) byKind(name, help string) (c kindCounter) {
	v := m.counters(name, help, "kind")
	for k := range c {
		c[k] = v.WithLabelValues(wire.Kind(k).String())
	}
	return c
}

func transportIndex(name string) int {
	for i, t := range transports {
		if t == name {
			return i
		}
	}
	return len(transports) - 1
}

// versionLabel names the versions that this server speaks, and no others.
func versionLabel(v int) string {
	for _, spoken := range wire.Versions() {
		if v == spoken {
			return strconv.Itoa(v)
		}
	}
	return other
}
