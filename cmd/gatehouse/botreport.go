package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/gatehouse/gatehouse/client"
)

// totals of a fleet at one moment.
type totals struct {
	at       time.Time
	joined   int
	failed   int
	playing  int // synchronized
	away     int
	over     int
	stats    client.Stats // sums, but for RTT and Tick
	rtts     []time.Duration
	joins    []time.Duration
	failures map[string]int
}

// sum adds up the bots.
func (f *fleet) sum() totals {
	f.mu.Lock()
	bots := slices.Clone(f.playing)
	t := totals{at: time.Now(), joined: len(bots), joins: slices.Clone(f.joins), failures: maps.Clone(f.failed)}
	f.mu.Unlock()
	for _, n := range t.failures {
		t.failed += n
	}
	if t.failures == nil {
		t.failures = map[string]int{}
	}
	for _, c := range bots {
		switch c.State() {
		case client.Synchronized:
			t.playing++
		case client.Away:
			t.away++
		case client.Closed:
			t.over++
			t.failures["ended: "+reasonOf(c)]++
		}
		s := c.Stats()
		t.stats.MessagesIn += s.MessagesIn
		t.stats.BytesIn += s.BytesIn
		t.stats.FramesOut += s.FramesOut
		t.stats.BytesOut += s.BytesOut
		t.stats.Snapshots += s.Snapshots
		t.stats.Fulls += s.Fulls
		t.stats.Stale += s.Stale
		t.stats.Malformed += s.Malformed
		t.stats.Resyncs += s.Resyncs
		t.stats.Resumes += s.Resumes
		t.stats.Gaps += s.Gaps
		if s.RTT > 0 {
			t.rtts = append(t.rtts, s.RTT)
		}
	}
	return t
}

func reasonOf(c *client.Client) string {
	if err := c.Err(); err != nil {
		return err.Error()
	}
	return "left"
}

// report prints a line each second until ctx ends.
func (f *fleet) report(ctx context.Context, out io.Writer) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before := totals{at: f.began}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := f.sum()
		seconds := now.at.Sub(before.at).Seconds()
		per := func(now, before uint64) float64 { return float64(now-min(now, before)) / seconds }
		fmt.Fprintf(out, "%4.0fs  %d/%d playing, %d away, %d failed   in %6.0f msg/s %8.1f KiB/s   out %6.0f frames/s %7.1f KiB/s   rtt %s\n",
			now.at.Sub(f.began).Seconds(), now.playing, f.cmd.Count, now.away, now.failed+now.over,
			per(now.stats.MessagesIn, before.stats.MessagesIn), per(now.stats.BytesIn, before.stats.BytesIn)/1024,
			per(now.stats.FramesOut, before.stats.FramesOut), per(now.stats.BytesOut, before.stats.BytesOut)/1024,
			percentile(now.rtts, 50))
		before = now
	}
}

// summary prints what happened, and returns an error if not all went well.
func (f *fleet) summary(out io.Writer, t totals) error {
	fmt.Fprintf(out, "\n%d bots over %s in room %s, %s\n\n", f.cmd.Count, f.cmd.Transport, f.cmd.Room, t.at.Sub(f.began).Round(time.Millisecond))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("joined", "%d of %d, in %s (p50) to %s (p99)", t.joined, f.cmd.Count, percentile(t.joins, 50), percentile(t.joins, 99))
	row("at the end", "%d playing, %d away, %d ended early", t.playing, t.away, t.over)
	row("round trip", "%s (p50), %s (p99)", percentile(t.rtts, 50), percentile(t.rtts, 99))
	row("received", "%d messages, %.1f MiB", t.stats.MessagesIn, float64(t.stats.BytesIn)/(1<<20))
	row("sent", "%d frames, %.1f MiB", t.stats.FramesOut, float64(t.stats.BytesOut)/(1<<20))
	row("snapshots", "%d deltas, %d full, %d stale, %d malformed", t.stats.Snapshots, t.stats.Fulls, t.stats.Stale, t.stats.Malformed)
	row("repairs", "%d resyncs, %d resumes, %d gaps", t.stats.Resyncs, t.stats.Resumes, t.stats.Gaps)
	for _, name := range slices.Sorted(maps.Keys(t.failures)) {
		row("failed", "%d × %s", t.failures[name], name)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad := t.failed + t.over; bad > 0 {
		return fmt.Errorf("%d of %d bots failed", bad, f.cmd.Count)
	}
	return nil
}

// percentile returns the value below which p percent are, rounded for reading.
func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(all), cmp.Compare[time.Duration])
	return sorted[(len(sorted)*p+99)/100-1].Round(10 * time.Microsecond)
}
