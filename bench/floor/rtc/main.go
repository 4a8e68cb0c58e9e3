// Command rtc is a bare relay over pion: no session, no limits, no queues, one
// send per message and receiver, on the channel it came on. It is the floor that
// Gatehouse's WebRTC path is measured against, not an example of a server.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/wire"
)

type relay struct {
	api   *webrtc.API
	mu    sync.Mutex
	rooms map[string][]*member // slices are replaced, never changed
}

type member struct {
	lanes [2]*webrtc.DataChannel
	room  string // set by the first message
}

func main() {
	udp, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		log.Fatal(err)
	}
	_ = udp.SetReadBuffer(4 << 20)
	_ = udp.SetWriteBuffer(4 << 20)
	se := webrtc.SettingEngine{}
	se.SetIncludeLoopbackCandidate(true)
	se.SetLite(true)
	se.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	se.SetICEUDPMux(webrtc.NewICEUDPMux(nil, udp))
	r := &relay{api: webrtc.NewAPI(webrtc.WithSettingEngine(se)), rooms: map[string][]*member{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ln.Addr())
	log.Fatal(http.Serve(ln, http.HandlerFunc(r.serve)))
}

func (r *relay) serve(w http.ResponseWriter, req *http.Request) {
	offer, err := io.ReadAll(io.LimitReader(req.Body, 64<<10))
	if err != nil {
		return
	}
	answer, err := r.answer(string(offer))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

func (r *relay) answer(offer string) (string, error) {
	pc, err := r.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return "", err
	}
	m := &member{}
	for lane := range m.lanes {
		if m.lanes[lane], err = pc.CreateDataChannel([]string{"reliable", "unreliable"}[lane], laneOf(lane)); err != nil {
			return "", err
		}
		m.lanes[lane].OnMessage(func(msg webrtc.DataChannelMessage) { r.receive(m, lane, msg.Data) })
	}
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	answer, err := pc.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(answer); err != nil {
		return "", err
	}
	<-gathered
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s == webrtc.PeerConnectionStateFailed {
			r.leave(m)
			_ = pc.Close()
		}
	})
	return pc.LocalDescription().SDP, nil
}

// laneOf describes the negotiated channel of a lane, as docs/protocol.md does.
func laneOf(lane int) *webrtc.DataChannelInit {
	yes, no, id, none := true, false, uint16(lane), uint16(0)
	if lane == 0 {
		return &webrtc.DataChannelInit{Negotiated: &yes, ID: &id, Ordered: &yes}
	}
	return &webrtc.DataChannelInit{Negotiated: &yes, ID: &id, Ordered: &no, MaxRetransmits: &none}
}

func (r *relay) receive(m *member, lane int, msg []byte) {
	r.mu.Lock()
	if m.room == "" {
		m.room = roomOf(msg)
		r.rooms[m.room] = append(slices.Clone(r.rooms[m.room]), m)
		r.mu.Unlock()
		_ = m.lanes[0].Send(wire.AppendFrame(nil, wire.KindWelcome, []byte(`{}`)))
		return
	}
	members := r.rooms[m.room]
	r.mu.Unlock()
	for _, other := range members {
		if other != m {
			_ = other.lanes[lane].Send(msg)
		}
	}
}

func (r *relay) leave(m *member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rooms[m.room] = slices.DeleteFunc(slices.Clone(r.rooms[m.room]), func(x *member) bool { return x == m })
}

func roomOf(msg []byte) string {
	_, body, _, err := wire.NextFrame(msg)
	var h wire.Hello
	if err != nil || json.Unmarshal(body, &h) != nil {
		return "?"
	}
	return h.Room
}
