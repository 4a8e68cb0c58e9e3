package metrics_test

import (
	"bufio"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/metrics"
	"github.com/gatehouse/gatehouse/wire"
)

var _ room.Observer = (*metrics.Metrics)(nil)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape returns the page.
func scrape(t testing.TB, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	body, err := io.ReadAll(w.Result().Body)
	if err != nil || w.Code != 200 {
		t.Fatalf("status %d, %v: %s", w.Code, err, body)
	}
	return string(body)
}

func has(t *testing.T, page, line string) {
	t.Helper()
	for s := range strings.SplitSeq(page, "\n") {
		if s == line {
			return
		}
	}
	t.Errorf("no line %q", line)
}

// observeAll calls every method of every observer, with things that clients can
// not be trusted with where there are some.
func observeAll(m *metrics.Metrics) {
	m.Message("ws", true, wire.Reliable, 100)
	m.Message("rtc", false, wire.Unreliable, 50)
	m.Dropped("enet", link.DropSuperseded)
	m.Links("ws", 2)
	m.Links("ws", -1)
	m.Links("carrier pigeon", 1)
	m.Sessions(3)
	m.Hello(1, true)
	m.Hello(77, false)
	m.Refused(wire.CodeRoomFull)
	m.Refused(wire.Code(31337))
	m.RefusedAt(metrics.AtSignaling, wire.CodeUnauthorized)
	m.Resumed("enet", true)
	m.Ended(wire.CodeLeft)
	m.Invalid(wire.CodeProtocol)
	m.Limited(wire.KindRelay)
	m.Limited(wire.Kind(200))
	m.Tick(2 * time.Millisecond)
	m.Lag(time.Millisecond)
	m.Skipped(4)
	m.Resync()
	m.Rooms("relay", 1)
	m.Members("relay", 5)
	m.Snapshot(true, 9000)
	m.Snapshot(false, 300)
	m.Input("malformed")
	m.Ignored(wire.KindInput)
	m.Watch(metrics.Sources{
		RoomSizes: func() []int { return []int{0, 3, 8} },
		Queues:    func() []metrics.Queue { return []metrics.Queue{{1, 2, 300}, {4, 5, 70_000}} },
		Counters: []metrics.Counter{
			{Name: "test_total", Help: "A counter of the test.", Value: func() float64 { return 7 }},
			{Name: "test_pending", Help: "A gauge of the test.", Gauge: true, Value: func() float64 { return 8 }},
		},
	})
}

func TestScrapeShowsWhatWasObserved(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	observeAll(m)
	page := scrape(t, m)
	for _, line := range []string{
		`gatehouse_link_messages_total{direction="in",lane="reliable",transport="ws"} 1`,
		`gatehouse_link_message_bytes_total{direction="in",lane="reliable",transport="ws"} 100`,
		`gatehouse_link_message_bytes_total{direction="out",lane="unreliable",transport="rtc"} 50`,
		`gatehouse_frames_dropped_total{reason="superseded",transport="enet"} 1`,
		`gatehouse_links{transport="ws"} 1`,
		`gatehouse_links{transport="other"} 1`,
		`gatehouse_sessions 3`,
		`gatehouse_hello_versions_total{accepted="true",version="1"} 1`,
		`gatehouse_hello_versions_total{accepted="false",version="other"} 1`,
		`gatehouse_refused_total{code="room_full",where="hello"} 1`,
		`gatehouse_refused_total{code="other",where="hello"} 1`,
		`gatehouse_refused_total{code="unauthorized",where="signaling"} 1`,
		`gatehouse_refused_total{code="unauthorized",where="hello"} 0`,
		`gatehouse_refused_total{code="forbidden",where="upgrade"} 0`,
		`gatehouse_resumes_total{gap="true",transport="enet"} 1`,
		`gatehouse_sessions_ended_total{code="left"} 1`,
		`gatehouse_links_invalid_total{code="protocol"} 1`,
		`gatehouse_frames_limited_total{kind="relay"} 1`,
		`gatehouse_frames_limited_total{kind="unknown"} 1`,
		`gatehouse_tick_seconds_count 1`,
		`gatehouse_tick_seconds_bucket{le="0.0025"} 1`,
		`gatehouse_tick_lag_seconds_count 1`,
		`gatehouse_ticks_skipped_total 4`,
		`gatehouse_resyncs_total 1`,
		`gatehouse_rooms{kind="relay"} 1`,
		`gatehouse_members{kind="relay"} 5`,
		`gatehouse_snapshot_bytes_bucket{type="delta",le="384"} 1`,
		`gatehouse_snapshot_bytes_sum{type="full"} 9000`,
		`gatehouse_inputs_dropped_total{reason="malformed"} 1`,
		`gatehouse_frames_ignored_total{kind="input"} 1`,
		`gatehouse_room_members_bucket{le="0"} 1`,
		`gatehouse_room_members_bucket{le="4"} 2`,
		`gatehouse_room_members_bucket{le="8"} 3`,
		`gatehouse_room_members_sum 11`,
		`gatehouse_queued_frames{lane="reliable"} 5`,
		`gatehouse_queued_frames{lane="unreliable"} 7`,
		`gatehouse_session_kept_bytes_bucket{le="1024"} 1`,
		`gatehouse_test_total 7`,
		`gatehouse_test_pending 8`,
	} {
		has(t, page, line)
	}
}

// families returns the help texts of our own metrics by name.
func families(page string) map[string]string {
	all := map[string]string{}
	for line := range strings.SplitSeq(page, "\n") {
		if rest, ok := strings.CutPrefix(line, "# HELP gatehouse_"); ok {
			name, help, _ := strings.Cut(rest, " ")
			all["gatehouse_"+name] = help
		}
	}
	return all
}

func TestEveryMetricIsExplainedAndDocumented(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	observeAll(m)
	documented := documentedNames(t)
	for name, help := range families(scrape(t, m)) {
		if help == "" {
			t.Errorf("%s has no help text", name)
		}
		if !documented[name] && !strings.HasPrefix(name, "gatehouse_test_") {
			t.Errorf("%s is not in docs/metrics.md", name)
		}
	}
}

func TestEveryDocumentedMetricExists(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	observeAll(m)
	all := families(scrape(t, m))
	for name := range documentedNames(t) {
		// Those of single transports come from the gateway, which tests them.
		if all[name] == "" && !strings.HasPrefix(name, "gatehouse_rtc_") && !strings.HasPrefix(name, "gatehouse_enet_") {
			t.Errorf("%s is in docs/metrics.md only", name)
		}
	}
}

// documentedNames are the names in the tables of docs/metrics.md.
func documentedNames(t *testing.T) map[string]bool {
	t.Helper()
	f, err := os.Open("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	row := regexp.MustCompile("^\\| `(gatehouse_[a-z_]+)` \\|")
	names := map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if match := row.FindStringSubmatch(s.Text()); match != nil {
			names[match[1]] = true
		}
	}
	if len(names) == 0 {
		t.Fatal("docs/metrics.md has no table of metrics")
	}
	return names
}

func TestClientsCanNotMakeSeries(t *testing.T) {
	t.Parallel()
	m := metrics.New()
	observeAll(m)
	before := strings.Count(scrape(t, m), "\n")
	for i := range 2000 {
		m.Refused(wire.Code(i))
		m.RefusedAt(metrics.AtUpgrade, wire.Code(i))
		m.Ended(wire.Code(i))
		m.Invalid(wire.Code(i))
		m.Hello(i, false)
		m.Limited(wire.Kind(i))
		m.Ignored(wire.Kind(i))
	}
	if after := strings.Count(scrape(t, m), "\n"); after != before+1 { // version 1, refused
		t.Errorf("%d lines have become %d", before, after)
	}
}

func TestObservingAllocatesNothing(t *testing.T) {
	m := metrics.New()
	for name, observe := range map[string]func(){
		"message":  func() { m.Message("rtc", true, wire.Unreliable, 10) },
		"dropped":  func() { m.Dropped("ws", link.DropSuperseded) },
		"tick":     func() { m.Tick(time.Millisecond) },
		"lag":      func() { m.Lag(time.Millisecond) },
		"snapshot": func() { m.Snapshot(false, 100) },
		"input":    func() { m.Input("repeated") },
		"limited":  func() { m.Limited(wire.KindRelay) },
		"ignored":  func() { m.Ignored(wire.KindRelay) },
	} {
		observe()
		if n := testing.AllocsPerRun(200, observe); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
