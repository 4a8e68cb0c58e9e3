package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/wire"
)

// rtcLoad speaks through pion, detached. It costs about as much as the server
// does: of the three load clients it is the one that may be the limit.
type rtcLoad struct {
	addr  string
	got   receive
	api   *webrtc.API
	conns []*rtcConn

	mu     sync.Mutex
	failed error
}

type rtcConn struct {
	pc    *webrtc.PeerConnection
	lanes [2]io.ReadWriteCloser
}

func newRTCLoad(addr string) func(receive) carrier {
	return func(got receive) carrier {
		se := webrtc.SettingEngine{}
		se.SetIncludeLoopbackCandidate(true)
		se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
		// A socket each, on the loopback only: the servers have one for all, and
		// tell players apart by their addresses.
		se.SetIPFilter(net.IP.IsLoopback)
		se.DetachDataChannels()
		return &rtcLoad{addr: addr, got: got, api: webrtc.NewAPI(webrtc.WithSettingEngine(se))}
	}
}

// Join connects several players at a time: a handshake is mostly waiting.
func (r *rtcLoad) Join(rooms []string) error {
	first := len(r.conns)
	r.conns = append(r.conns, make([]*rtcConn, len(rooms))...)
	errs := make(chan error, len(rooms))
	tickets := make(chan struct{}, 8)
	for i, room := range rooms {
		tickets <- struct{}{}
		go func() {
			defer func() { <-tickets }()
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			err := r.join(ctx, first+i, room)
			if err != nil {
				err = fmt.Errorf("player %d: %w", first+i, err)
			}
			errs <- err
		}()
	}
	for range rooms {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func (r *rtcLoad) join(ctx context.Context, player int, room string) error {
	pc, err := r.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	c := &rtcConn{pc: pc}
	r.conns[player] = c
	opened := make(chan error, 2)
	for lane := range c.lanes {
		dc, err := pc.CreateDataChannel([]string{"reliable", "unreliable"}[lane], laneOf(lane))
		if err != nil {
			return err
		}
		dc.OnOpen(func() {
			raw, err := dc.Detach()
			c.lanes[lane] = raw
			opened <- err
		})
	}
	if err := r.signal(ctx, pc); err != nil {
		return err
	}
	for range c.lanes {
		select {
		case err := <-opened:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("the channels did not open: %w", ctx.Err())
		}
	}
	if _, err := c.lanes[0].Write(helloMessage(room)); err != nil {
		return err
	}
	welcomed := make(chan error, 1)
	go r.read(player, wire.Reliable, welcomed)
	go r.read(player, wire.Unreliable, nil)
	select {
	case err := <-welcomed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("no welcome: %w", ctx.Err())
	}
}

// signal posts the offer, with the candidates that a bare server needs.
func (r *rtcLoad) signal(ctx context.Context, pc *webrtc.PeerConnection) error {
	offer, err := pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.addr+"/v1/rtc", strings.NewReader(pc.LocalDescription().SDP))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/sdp")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("offer: %s: %s", resp.Status, answer)
	}
	return pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(answer)})
}

// laneOf describes the negotiated channel of a lane, as docs/protocol.md does.
func laneOf(lane int) *webrtc.DataChannelInit {
	yes, no, id, none := true, false, uint16(lane), uint16(0)
	if lane == 0 {
		return &webrtc.DataChannelInit{Negotiated: &yes, ID: &id, Ordered: &yes}
	}
	return &webrtc.DataChannelInit{Negotiated: &yes, ID: &id, Ordered: &no, MaxRetransmits: &none}
}

func (r *rtcLoad) read(player int, lane wire.Lane, welcomed chan<- error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.conns[player].lanes[lane].Read(buf)
		msg := buf[:n]
		if err == nil && welcomed != nil {
			msg, err = afterWelcome(msg)
			welcomed <- err
			welcomed = nil
		}
		if err == nil {
			err = r.got(player, lane, msg)
		}
		if err != nil {
			r.mu.Lock()
			if r.failed == nil {
				r.failed = fmt.Errorf("player %d: %w", player, err)
			}
			r.mu.Unlock()
			return
		}
	}
}

func (r *rtcLoad) Send(player int, lane wire.Lane, msg []byte) error {
	_, err := r.conns[player].lanes[lane].Write(msg)
	return err
}

func (r *rtcLoad) Poll(wait time.Duration) error {
	time.Sleep(wait)
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *rtcLoad) Close() {
	for _, c := range r.conns {
		if c != nil {
			_ = c.pc.Close()
		}
	}
}
