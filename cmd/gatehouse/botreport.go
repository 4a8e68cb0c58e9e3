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
	failures map[failure]int
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
		t.failures = map[failure]int{}
	}
	for _, c := range bots {
		switch c.State() {
		case client.Synchronized:
			t.playing++
		case client.Away:
			t.away++
		case client.Closed:
			t.over++
			t.failures[f.cmd.ended(c)]++
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

// ended says why a bot has gone before its time.
func (c *botCmd) ended(bot *client.Client) failure {
	why := failure{what: "left"}
	if err := bot.Err(); err != nil {
		why = c.explain(err)
	}
	why.what = "ended: " + why.what
	return why
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
		if now.joined == 0 {
			fmt.Fprintf(out, "%4.0fs  joining, %d failed\n", now.at.Sub(f.began).Seconds(), now.failed)
			continue
		}
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
	fmt.Fprintf(out, "\n%s over %s in room %s, %s\n\n", countBots(f.cmd.Count), f.cmd.Transport, f.cmd.Room, t.at.Sub(f.began).Round(time.Millisecond))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	if t.joined > 0 {
		f.played(row, t)
	}
	for _, why := range slices.SortedFunc(maps.Keys(t.failures), func(a, b failure) int { return cmp.Compare(a.what, b.what) }) {
		row("failed", "%d × %s", t.failures[why], why.what)
		if why.next != "" {
			row("", "→ %s", why.next)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if bad := t.failed + t.over; bad > 0 {
		return fmt.Errorf("%d of %s failed", bad, countBots(f.cmd.Count))
	}
	return nil
}

// played tells what those saw that have joined.
func (f *fleet) played(row func(name, format string, args ...any), t totals) {
	row("joined", "%d of %d, in %s (p50) to %s (p99)", t.joined, f.cmd.Count, percentile(t.joins, 50), percentile(t.joins, 99))
	row("at the end", "%d playing, %d away, %d ended early", t.playing, t.away, t.over)
	row("round trip", "%s (p50), %s (p99)", percentile(t.rtts, 50), percentile(t.rtts, 99))
	row("received", "%d messages, %s", t.stats.MessagesIn, volume(t.stats.BytesIn))
	row("sent", "%d frames, %s", t.stats.FramesOut, volume(t.stats.BytesOut))
	row("snapshots", "%d deltas, %d full, %d stale, %d malformed", t.stats.Snapshots, t.stats.Fulls, t.stats.Stale, t.stats.Malformed)
	row("repairs", "%d resyncs, %d resumes, %d gaps", t.stats.Resyncs, t.stats.Resumes, t.stats.Gaps)
}

func countBots(n int) string {
	if n == 1 {
		return "1 bot"
	}
	return fmt.Sprintf("%d bots", n)
}

func volume(bytes uint64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
}

// percentile returns the value below which p percent are, rounded for reading.
func percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(all), cmp.Compare[time.Duration])
	return sorted[(len(sorted)*p+99)/100-1].Round(10 * time.Microsecond)
}
