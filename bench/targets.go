package main

import "github.com/gatehouse/gatehouse/wire"

// path is one thing to be measured.
type path struct {
	name  string // as on the command line
	title string
	lane  wire.Lane
	open  func(addr string) func(receive) carrier
	floor string // the floor's program
	// announced finds the transport's address in what Gatehouse announces.
	announced string
	rooms     int // of the first step

	// What the floor reached when the targets were set, and what Gatehouse is
	// meant to reach: deliveries per second, and CPU µs per delivery. Machines
	// differ: the ratio to the floor of the same run is what counts.
	floorRate, floorCPU   float64
	targetRate, targetCPU float64
}

const (
	httpLine = `WebSocket\s+ws://(\S+:\d+)/v1/ws`
	enetLine = `ENet\s+(\S+:\d+)`
)

func paths() []path {
	return []path{
		{"ws", "WebSocket", wire.Reliable, newWSLoad, "ws", httpLine, 24, 75_000, 11.2, 150_000, 6},
		{"rtc", "WebRTC, reliable", wire.Reliable, newRTCLoad, "rtc", httpLine, 4, 17_000, 56, 30_000, 30},
		{"rtc-fast", "WebRTC, unreliable", wire.Unreliable, newRTCLoad, "rtc", httpLine, 4, 18_000, 49, 30_000, 30},
		{"enet", "ENet, reliable", wire.Reliable, newENetLoad, "enet", enetLine, 32, 144_000, 6.8, 200_000, 5},
		{"enet-fast", "ENet, unreliable", wire.Unreliable, newENetLoad, "enet", enetLine, 32, 120_000, 7.8, 200_000, 5},
	}
}

// whyFaster is said where Gatehouse passes a floor: the floors do the least per
// message, so something must be done less often.
const whyFaster = `Where Gatehouse beats its floor: a floor writes once per message and receiver. A link of
Gatehouse sends at once when it was idle, but under load lets the frames for one
client that fall into the same few milliseconds leave together: fewer writes,
datagrams and wake-ups, which is what a delivery costs. The latency of p50 pays for it.`
