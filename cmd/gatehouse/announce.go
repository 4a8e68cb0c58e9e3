package main

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway"
)

// announce prints where the server can be reached.
func (p *process) announce(cfg *configs.Config, g *gateway.Gateway) {
	a := g.Addresses()
	var b strings.Builder
	line := func(what, where, note string) {
		fmt.Fprintf(&b, "  %-10s %s", what, where)
		if note != "" {
			fmt.Fprintf(&b, "   %s", note)
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nGatehouse is running")
	if cfg.Dev {
		b.WriteString(" in dev mode: open to everyone on this machine, to nobody else")
	}
	b.WriteString("\n\n")
	http := reachable(a.HTTP)
	if g.Pages() {
		line("Play", "http://"+http+"/", "open this in a browser")
	}
	line("WebSocket", "ws://"+http+"/v1/ws", "")
	if a.RTCUDP.IsValid() {
		media := "media: udp " + a.RTCUDP.String()
		if a.RTCTCP.IsValid() {
			media += ", tcp " + a.RTCTCP.String()
		}
		line("WebRTC", "http://"+http+"/v1/rtc", media)
	}
	if a.ENet.IsValid() {
		line("ENet", reachable(a.ENet), "udp")
	}
	line("Rooms", "http://"+http+"/v1/rooms", "")
	if a.Admin.IsValid() {
		line("Admin", "http://"+reachable(a.Admin)+"/admin/v1/rooms", "")
		line("Metrics", "http://"+reachable(a.Admin)+"/metrics", "")
	}
	if cfg.Netsim != "" {
		line("Netsim", cfg.Netsim, "every link is made this bad, in each direction")
	}
	b.WriteByte('\n')
	if !g.Pages() {
		b.WriteString("There are no pages to play on: run make web, or set web.dir to where they were built.\n\n")
	}
	fmt.Fprint(p.out, b.String())
}

// reachable replaces "every address" by one that a person can open.
func reachable(a netip.AddrPort) string {
	if a.Addr().IsUnspecified() {
		return fmt.Sprintf("localhost:%d", a.Port())
	}
	return a.String()
}
