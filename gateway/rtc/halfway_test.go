package rtc_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pion/ice/v4"

	"github.com/gatehouse/gatehouse/gateway/rtc"
)

// field returns the value of an attribute of an SDP.
func field(sdp, name string) string {
	for line := range strings.Lines(sdp) {
		if value, ok := strings.CutPrefix(line, "a="+name+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// TestClientThatStopsAfterICE proves its address, and then never speaks DTLS.
func TestClientThatStopsAfterICE(t *testing.T) {
	t.Parallel()
	const openTimeout = 2 * time.Second
	l, server := listen(t, rtc.Options{OpenTimeout: openTimeout})
	offer := newClient(t).offer(t)
	_, answer, err := l.Answer(context.Background(), offer, someone)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := ice.NewAgentWithOptions(
		ice.WithNetworkTypes([]ice.NetworkType{ice.NetworkTypeUDP4}),
		ice.WithMulticastDNSMode(ice.MulticastDNSModeDisabled),
		ice.WithIncludeLoopback(),
		ice.WithLocalCredentials(field(offer, "ice-ufrag"), field(offer, "ice-pwd")),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()
	if err := agent.OnCandidate(func(ice.Candidate) {}); err != nil {
		t.Fatal(err)
	}
	if err := agent.GatherCandidates(); err != nil {
		t.Fatal(err)
	}
	c, err := ice.UnmarshalCandidate(field(answer, "candidate"))
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.AddRemoteCandidate(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	conn, err := agent.Dial(ctx, field(answer, "ice-ufrag"), field(answer, "ice-pwd"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	connected := time.Now()
	until(t, "the half-open peer is forgotten", func() bool { return l.Stats().Peers == 0 })
	if took := time.Since(connected); took > 5*openTimeout {
		t.Errorf("it was kept for %v, the bound is %v", took, openTimeout)
	}
	if len(server.opened) > 0 {
		t.Error("the handler was told of it")
	}
}

// TestListenerClosesWhileAClientIsHalfway closes in the middle of a handshake.
func TestListenerClosesWhileAClientIsHalfway(t *testing.T) {
	t.Parallel()
	l, _ := listen(t, rtc.Options{OpenTimeout: time.Hour})
	if _, _, err := l.Answer(context.Background(), newClient(t).offer(t), someone); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	if err := l.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestSilentTCPConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	const most = 3
	l, server := listen(t, rtc.Options{TCP: "127.0.0.1:0", MaxTCPConns: most})
	var silent []net.Conn
	for range most {
		c, err := net.Dial("tcp", l.TCP().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		silent = append(silent, c)
	}
	over, err := net.Dial("tcp", l.TCP().String())
	if err != nil {
		t.Fatal(err)
	}
	defer over.Close()
	if err := over.SetReadDeadline(time.Now().Add(patient)); err != nil {
		t.Fatal(err)
	}
	if n, err := over.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("one too many got %d bytes, %v, want to be closed", n, err)
	}
	// The silent ones are given up, and the places are free again.
	for _, c := range silent {
		if err := c.SetReadDeadline(time.Now().Add(patient)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("a silent one got %d bytes, %v, want to be closed", n, err)
		}
	}
	dial(t, signal(t, l, nil), newRecorder(), rtc.DialOptions{TCPOnly: true})
	await(t, "link", server.opened)
}
