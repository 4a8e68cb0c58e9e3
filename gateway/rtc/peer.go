package rtc

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

var (
	errGone      = errors.New("rtc: the connection has gone")
	errNotOpened = errors.New("rtc: the channels did not open in time")
	errFailed    = errors.New("rtc: nothing was heard from the peer")
	errLeft      = errors.New("rtc: the peer closed the connection")
	errNoGoodbye = errors.New("rtc: the peer did not acknowledge the close in time")
	errEnded     = errors.New("rtc: ended through signaling")
)

// peer is one connection, of either end.
type peer struct {
	// immutable
	pc       *webrtc.PeerConnection
	channels [2]*channel // by lane
	info     link.Info
	patience time.Duration

	opened chan error    // one per channel
	wake   chan struct{} // has a token when the link has something to send
	quit   chan struct{} // closed when the writer shall flush and end
	gone   chan struct{} // closed when nothing can be sent any more
	stop   func()        // closes quit, once
	leave  func()        // closes gone, once

	farewell atomic.Pointer[wire.Error] // why we closed
	cause    atomic.Pointer[error]      // why the connection has gone

	ready chan struct{} // closed when link is set
	ended chan struct{} // closed when all is over
	link  *link.Link

	reading sync.Mutex // held by the reader whose turn it is
}

var _ link.Conn = (*peer)(nil)

// newPeer prepares a connection with its two channels; run or free must follow.
func newPeer(api *webrtc.API, config webrtc.Configuration, info link.Info, patience time.Duration) (*peer, error) {
	pc, err := api.NewPeerConnection(config)
	if err != nil {
		return nil, fmt.Errorf("rtc: %w", err)
	}
	p := &peer{
		pc:       pc,
		info:     info,
		patience: patience,
		opened:   make(chan error, 2),
		wake:     make(chan struct{}, 1),
		quit:     make(chan struct{}),
		gone:     make(chan struct{}),
		ready:    make(chan struct{}),
		ended:    make(chan struct{}),
	}
	p.stop = sync.OnceFunc(func() { close(p.quit) })
	p.leave = sync.OnceFunc(func() { close(p.gone) })
	for lane := range p.channels {
		c, err := newChannel(pc, wire.Lane(lane))
		if err != nil {
			p.free()
			return nil, err
		}
		c.dc.OnOpen(func() { p.opened <- c.open() })
		p.channels[lane] = c
	}
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateFailed:
			p.fail(errFailed)
		case webrtc.PeerConnectionStateClosed:
			p.fail(errLeft)
		}
	})
	// A channel of the peer's own making would have no reader, and what comes on
	// it would fill the buffer that all channels share.
	pc.OnDataChannel(func(*webrtc.DataChannel) {
		p.refuse(wire.Errorf(wire.CodeProtocol, "a data channel besides the two negotiated ones"))
	})
	return p, nil
}

// free ends the connection and waits for the library's goroutines.
func (p *peer) free() { _ = p.pc.GracefulClose() }

// Info implements [link.Conn].
func (p *peer) Info() link.Info { return p.info }

// Wake implements [link.Conn].
func (p *peer) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close implements [link.Conn]. The close frame is the goodbye: the connection
// ends when the peer has acknowledged it.
func (p *peer) Close(code wire.Code, reason string) {
	p.farewell.Store(&wire.Error{Code: code, Reason: reason})
	time.AfterFunc(link.CloseGrace, func() { p.fail(errNoGoodbye) })
	p.stop()
}

// fail ends the connection, or the attempt at one, from any goroutine. The first
// cause is the one that is told.
func (p *peer) fail(why error) {
	p.cause.CompareAndSwap(nil, &why)
	p.leave()
	p.stop()
}

// refuse ends the connection and tells the peer why, if it can be told.
func (p *peer) refuse(e *wire.Error) {
	select {
	case <-p.ready:
		p.link.Close(e)
	default:
		p.fail(e)
	}
}

// run owns the connection until it is over. settled is called when the channels
// have opened, or will not.
func (p *peer) run(h link.Handler, o link.Options, openTimeout time.Duration, settled func()) {
	defer close(p.ended)
	err := p.awaitOpen(openTimeout)
	settled()
	if err != nil {
		p.fail(err)
		p.free()
		return
	}
	p.link = link.New(p, h, o)
	close(p.ready)
	var readers sync.WaitGroup
	for _, c := range p.channels {
		readers.Go(func() { p.read(c) })
	}
	err = p.link.WriteLoop(p.wake, p.quit, p.write)
	if err == nil {
		err = p.channels[wire.Reliable].flush(p.patience, p.gone)
	}
	if err != nil {
		p.fail(err)
	}
	p.free() // ends the readers
	readers.Wait()
	p.link.Ended(p.why())
}

func (p *peer) awaitOpen(timeout time.Duration) error {
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	for range p.channels {
		select {
		case err := <-p.opened:
			if err != nil {
				return err
			}
		case <-p.gone:
			return errGone
		case <-deadline.C:
			return errNotOpened
		}
	}
	return nil
}

func (p *peer) read(c *channel) {
	limit := wire.MaxMessage
	if c.lane == wire.Unreliable {
		limit = wire.MaxDatagram
	}
	err := c.read(limit, func(msg []byte, text bool) bool {
		p.reading.Lock()
		defer p.reading.Unlock()
		if text {
			p.link.Close(wire.Errorf(wire.CodeProtocol, "a text message on the %s channel", c.lane))
			return false
		}
		return p.link.Receive(c.lane, msg)
	})
	if err != nil {
		p.fail(fmt.Errorf("%w: %w", errLeft, err))
	}
}

// write hands one link message to its channel.
func (p *peer) write(lane wire.Lane, msg []byte) error {
	select {
	case <-p.gone:
		return errGone
	default:
	}
	c := p.channels[lane]
	if lane == wire.Unreliable {
		if c.full() {
			p.link.Drop(link.DropTransport)
			return nil
		}
	} else if err := c.await(mostReliable, p.patience, p.gone); err != nil {
		return err
	}
	_, err := c.raw.Write(msg)
	return err
}

// why returns what the handler is told of the end.
func (p *peer) why() error {
	if e := p.farewell.Load(); e != nil {
		return e
	}
	if cause := p.cause.Load(); cause != nil {
		return *cause
	}
	return errLeft
}
