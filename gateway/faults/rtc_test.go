package faults_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/datachannel"
	"github.com/pion/ice/v4"
	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/wire"
)

// rtcLine is a WebRTC connection with the two negotiated channels, through a
// proxy.
type rtcLine struct {
	proxy *udpProxy
	pc    *webrtc.PeerConnection
	raw   [2]*datachannel.DataChannel
	over  func() // frees everything, once

	mu      sync.Mutex
	stalled bool
	changed chan struct{}
	closed  bool
}

func dialRTC(h *house, d dialing, in *inbox) (transport, error) {
	proxy, err := newUDPProxy(h.at.RTCUDP)
	if err != nil {
		return nil, err
	}
	l := &rtcLine{proxy: proxy, changed: make(chan struct{})}
	l.pc, err = newRTCPeer(d)
	if err != nil {
		proxy.close()
		return nil, err
	}
	var freed sync.WaitGroup
	freed.Add(1)
	var once sync.Once
	l.over = func() {
		once.Do(func() {
			defer freed.Done()
			l.set(func() { l.closed = true })
			_ = l.pc.GracefulClose()
			l.proxy.close()
		})
		freed.Wait()
	}
	if err := l.open(h, in); err != nil {
		l.over()
		return nil, err
	}
	return l, nil
}

// newRTCPeer makes a peer that uses no address of this machine but loopback.
func newRTCPeer(d dialing) (*webrtc.PeerConnection, error) {
	var se webrtc.SettingEngine
	se.DetachDataChannels()
	se.SetIncludeLoopbackCandidate(true)
	se.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	if d.tight {
		se.SetSCTPMaxReceiveBufferSize(64 << 10)
	}
	return webrtc.NewAPI(webrtc.WithSettingEngine(se)).NewPeerConnection(webrtc.Configuration{})
}

func (l *rtcLine) open(h *house, in *inbox) error {
	opened := make(chan error, 2)
	for lane := range l.raw {
		dc, err := negotiatedChannel(l.pc, lane)
		if err != nil {
			return err
		}
		dc.OnOpen(func() {
			raw, err := dc.Detach()
			if err == nil {
				l.raw[lane] = raw.(*datachannel.DataChannel)
			}
			opened <- err
		})
	}
	gone := make(chan struct{})
	var once sync.Once
	l.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateFailed || s == webrtc.PeerConnectionStateClosed {
			once.Do(func() { close(gone) })
		}
	})
	if err := l.signal(h); err != nil {
		return err
	}
	for range l.raw {
		select {
		case err := <-opened:
			if err != nil {
				return err
			}
		case <-time.After(patience):
			return errors.New("the channels did not open")
		}
	}
	var readers sync.WaitGroup
	for lane := range l.raw {
		readers.Go(func() { l.read(wire.Lane(lane), in) })
	}
	go func() {
		done := waited(&readers)
		select {
		case <-gone: // what has arrived before is read all the same
			select {
			case <-done:
			case <-time.After(lastReads):
			}
		case <-done:
		}
		in.end(0)
		l.over()
	}()
	return nil
}

// lastReads is how long the readers may take with what came before the end.
const lastReads = 250 * time.Millisecond

func waited(g *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() { g.Wait(); close(done) }()
	return done
}

func negotiatedChannel(pc *webrtc.PeerConnection, lane int) (*webrtc.DataChannel, error) {
	yes, ordered, id, never := true, lane == 0, uint16(lane), uint16(0)
	init := &webrtc.DataChannelInit{Negotiated: &yes, Ordered: &ordered, ID: &id}
	if lane == 1 {
		init.MaxRetransmits = &never
	}
	return pc.CreateDataChannel([]string{"reliable", "unreliable"}[lane], init)
}

var (
	candidateLine = regexp.MustCompile(`(?m)^a=candidate:(\S+ \d+ (\S+) \d+ \S+) (\d+) typ host.*$`)
	sizeLine      = regexp.MustCompile(`(?m)^a=max-message-size:\d+`)
)

// signal exchanges descriptions, and puts the proxy in place of the server. The
// server's word on the size of messages is not taken: this client sends more.
func (l *rtcLine) signal(h *house) error {
	offer, err := l.pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	if err := l.pc.SetLocalDescription(offer); err != nil {
		return err
	}
	status, answer, err := postOffer(h, offer.SDP)
	if err != nil {
		return err
	}
	if status != http.StatusCreated {
		return fmt.Errorf("status %d: %s", status, answer)
	}
	sdp := candidateLine.ReplaceAllStringFunc(answer, func(line string) string {
		part := candidateLine.FindStringSubmatch(line)
		if !strings.EqualFold(part[2], "udp") {
			return "a=x-left-out"
		}
		return "a=candidate:" + part[1] + " " + strconv.Itoa(int(l.proxy.port())) + " typ host"
	})
	sdp = sizeLine.ReplaceAllString(sdp, "a=max-message-size:8388608")
	return l.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: sdp})
}

func postOffer(h *house, sdp string) (status int, answer string, err error) {
	resp, err := h.web.Post("http://"+h.at.HTTP.String()+"/v1/rtc", "application/sdp", strings.NewReader(sdp))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func (l *rtcLine) read(lane wire.Lane, in *inbox) {
	buf := make([]byte, 64<<10)
	for {
		l.mu.Lock()
		wait, changed := l.stalled && !l.closed, l.changed
		l.mu.Unlock()
		if wait {
			<-changed
			continue
		}
		n, err := l.raw[lane].Read(buf)
		if err != nil {
			return
		}
		in.put(lane, append([]byte(nil), buf[:n]...))
	}
}

func (l *rtcLine) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *rtcLine) send(lane wire.Lane, msg []byte) error {
	_, err := l.raw[lane].Write(msg)
	return err
}

func (l *rtcLine) state(s state) {
	l.proxy.set(s)
	l.set(func() { l.stalled = s.stalled })
}

func (l *rtcLine) cut() {
	l.proxy.set(state{silent: true})
	l.over()
}

func (l *rtcLine) close() { l.over() }
