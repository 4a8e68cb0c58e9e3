//go:build !noenet

package enet

import (
	"strings"
	"testing"

	goenet "github.com/codecat/go-enet"
)

func TestPointersAreThoseOfGoENet(t *testing.T) {
	t.Parallel()
	goenet.Initialize()
	host, err := goenet.NewHost(goenet.NewAddress("127.0.0.1", 0), 3, channels, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer host.Destroy()
	h, err := hostPointer(host)
	if err != nil {
		t.Fatal(err)
	}
	if h.peerCount != 3 || h.channelLimit != channels {
		t.Errorf("the host has %d peers and %d channels", h.peerCount, h.channelLimit)
	}
	for i := range 3 {
		peer, err := host.Connect(goenet.NewAddress("127.0.0.1", 9), channels, 0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := peerPointer(peer)
		if err != nil {
			t.Fatal(err)
		}
		if p.host != h || int(p.incomingPeerID) != i || uint(p.connectID) != peer.GetConnectId() {
			t.Errorf("peer %d is not the one that go-enet holds", i)
		}
	}
}

func TestOtherThingsHaveNoPointer(t *testing.T) {
	t.Parallel()
	type holdsInt struct{ p *int }
	type holdsTwo struct{ p, q *int }
	for _, v := range []any{nil, 7, "peer", holdsInt{new(int)}, &holdsInt{}, holdsTwo{}} {
		if p, err := cPointer(v, "_Ctype_struct__ENetPeer", 456); err == nil || p != nil {
			t.Errorf("%#v: %v, %v", v, p, err)
		}
	}
	var none goenet.Peer
	if _, err := peerPointer(none); err == nil || !strings.Contains(err.Error(), "does not hold") {
		t.Errorf("no peer: %v", err)
	}
}
