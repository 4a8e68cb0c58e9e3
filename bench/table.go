package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// row is the outcome of one path.
type row struct {
	path        path
	floor, ours *side
}

func printTable(out io.Writer, rows []row) {
	fmt.Fprintf(out, "\nMost deliveries per second with p99 at most %v, and the server's CPU time per delivery there.\n", latencyLimit)
	fmt.Fprint(out, "\"target\" and \"floor then\" are figures of another machine: compare the ratios.\n\n")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "path\tserver\tper second\tratio\tp50 ms\tp99 ms\tCPU µs\tratio\tdelivered\tMB\tKB/conn\tclient\ttarget\tCPU\t")
	faster := false
	for _, r := range rows {
		if r.floor == nil || r.ours == nil {
			continue
		}
		f, o := &r.floor.best, &r.ours.best
		line(w, r.path.title, r.floor, 1, 1, fmt.Sprintf("floor then %.0f\t%.1f", r.path.floorRate, r.path.floorCPU))
		line(w, "", r.ours, o.perSecond()/max(f.perSecond(), 1), o.perDelivery()/max(f.perDelivery(), 0.001),
			fmt.Sprintf("target %.0f\t%.1f", r.path.targetRate, r.path.targetCPU))
		faster = faster || o.perSecond() > 1.05*f.perSecond() && f.kept
	}
	_ = w.Flush() // to a terminal or a file, where an error would show anyway
	if faster {
		fmt.Fprintf(out, "\n%s\n", whyFaster)
	}
	fmt.Fprintln(out)
}

func line(w io.Writer, title string, s *side, rate, cpu float64, then string) {
	r := &s.best
	sent := max(r.tally.sent*(roomSize-1), 1)
	fmt.Fprintf(w, "%s\t%s\t%.0f\t%.2f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f %%\t%.1f\t%.0f\t%.0f %%\t%s\t\n",
		title, s.srv.name, r.perSecond(), rate, ms(r.p50), ms(r.p99), r.perDelivery(), cpu,
		100*float64(r.tally.delivered)/float64(sent), float64(r.tally.bytes)/1e6, s.perConn, 100*r.clientBusy, then)
}
