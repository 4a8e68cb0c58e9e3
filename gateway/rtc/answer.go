package rtc

import (
	"context"
	"crypto/rand"
	"net/netip"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// Answer answers a client's offer (SDP, at most [MaxOffer] bytes, one
// m=application section) and returns an unguessable id by which [Listener.End]
// ends the connection, and the answer. The link is made, and the handler told,
// once both channels are open; if they are not within Options.OpenTimeout
// everything is freed and nobody told. remote is the client's address as the
// offer's bearer knows it: it is the link's Remote, and what pending offers are
// counted by.
//
// ctx bounds the work here, which waits for nothing outside this machine. An
// error is a [*wire.Error] and safe to show to the client.
func (l *Listener) Answer(ctx context.Context, offerSDP string, remote netip.AddrPort) (id, answerSDP string, err error) {
	o, e := checkOffer(offerSDP)
	if e != nil {
		return "", "", e
	}
	if e := l.reserve(remote.Addr()); e != nil {
		return "", "", e
	}
	p, answerSDP, e := l.negotiate(ctx, o, remote)
	if e != nil {
		l.release(remote.Addr())
		return "", "", e
	}
	id = rand.Text()
	if e := l.start(id, p); e != nil {
		return "", "", e
	}
	return id, answerSDP, nil
}

// reserve counts an offer as pending and keeps Close from returning.
func (l *Listener) reserve(from netip.Addr) *wire.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return wire.Errorf(wire.CodeGoingAway, "the server is stopping")
	}
	if len(l.peers) >= l.opts.MaxPeers {
		return wire.Errorf(wire.CodeOverloaded, "all %d connections are taken", l.opts.MaxPeers)
	}
	if e := l.pending.add(from); e != nil {
		return e
	}
	l.runs.Add(1)
	return nil
}

func (l *Listener) release(from netip.Addr) {
	l.mu.Lock()
	l.pending.remove(from)
	l.mu.Unlock()
	l.runs.Done()
}

// negotiate makes a peer and its answer. What the library says of an offer that
// it does not like echoes the offer, and goes to the log only.
func (l *Listener) negotiate(ctx context.Context, o offer, remote netip.AddrPort) (*peer, string, *wire.Error) {
	p, err := newPeer(l.api, l.config, link.Info{Transport: "rtc", Remote: unmap(remote)}, l.opts.Patience)
	if err != nil {
		l.opts.Log.Error("webrtc: no peer connection", "error", err)
		return nil, "", wire.Errorf(wire.CodeInternal, "no connection could be made")
	}
	refuse := func(step string, err error) (*peer, string, *wire.Error) {
		p.free()
		l.opts.Log.Debug("webrtc: offer refused", "step", step, "error", err)
		return nil, "", wire.Errorf(wire.CodeProtocol, "the offer was not understood (%s)", step)
	}
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: o.sdp}); err != nil {
		return refuse("offer", err)
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return refuse("answer", err)
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return refuse("description", err)
	}
	select {
	case <-gathered:
	case <-ctx.Done():
		p.free()
		return nil, "", wire.Errorf(wire.CodeOverloaded, "the answer took too long")
	}
	return p, p.pc.LocalDescription().SDP, nil
}

// start gives the peer its goroutine.
func (l *Listener) start(id string, p *peer) *wire.Error {
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.peers[id] = p
	}
	l.mu.Unlock()
	from := p.info.Remote.Addr()
	if closed {
		p.free()
		l.release(from)
		return wire.Errorf(wire.CodeGoingAway, "the server is stopping")
	}
	go func() {
		defer l.runs.Done()
		p.run(l.handler, l.opts.Link, l.opts.OpenTimeout, func() {
			l.mu.Lock()
			l.pending.remove(from)
			l.mu.Unlock()
		})
		l.mu.Lock()
		delete(l.peers, id)
		l.mu.Unlock()
	}()
	return nil
}
