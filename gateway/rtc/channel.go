package rtc

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
	"unsafe"

	"github.com/pion/datachannel"
	"github.com/pion/sctp"
	"github.com/pion/webrtc/v4"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// mostReliable and lowReliable say when a write on the reliable lane waits
	// for the peer, and until when, in bytes that it has not acknowledged.
	mostReliable = 128 << 10
	lowReliable  = 64 << 10
	// mostUnreliable is above how many such bytes the unreliable lane drops.
	mostUnreliable = 16 << 10

	// A reader's first buffer per lane, and the most it keeps after a larger
	// message.
	firstBuffer = 2 << 10
	keptBuffer  = 16 << 10
)

var errStuck = errors.New("rtc: the peer acknowledges nothing")

// channel is one lane's data channel.
type channel struct {
	// immutable
	lane wire.Lane
	dc   *webrtc.DataChannel

	// set before the peer is told that it opened
	raw *datachannel.DataChannel
	low chan struct{} // a token when the unacknowledged bytes fell to the threshold

	// owned by the writer
	timer *time.Timer
}

// newChannel declares the lane's channel on both ends alike, so that nothing
// needs to be negotiated in-band.
func newChannel(pc *webrtc.PeerConnection, lane wire.Lane) (*channel, error) {
	negotiated, ordered, id := true, lane == wire.Reliable, uint16(lane)
	init := &webrtc.DataChannelInit{Negotiated: &negotiated, Ordered: &ordered, ID: &id}
	if lane == wire.Unreliable {
		var never uint16
		init.MaxRetransmits = &never
	}
	dc, err := pc.CreateDataChannel(lane.String(), init)
	if err != nil {
		return nil, fmt.Errorf("rtc: %s channel: %w", lane, err)
	}
	c := &channel{lane: lane, dc: dc, low: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	c.timer.Stop()
	return c, nil
}

// open takes the channel over from the library.
func (c *channel) open() error {
	detached, err := c.dc.Detach()
	if err != nil {
		return fmt.Errorf("rtc: %s channel: %w", c.lane, err)
	}
	raw, ok := detached.(*datachannel.DataChannel)
	if !ok {
		return fmt.Errorf("rtc: %s channel is a %T", c.lane, detached)
	}
	c.raw = raw
	raw.SetBufferedAmountLowThreshold(lowReliable)
	raw.OnBufferedAmountLow(func() {
		select {
		case c.low <- struct{}{}:
		default:
		}
	})
	if c.lane == wire.Unreliable {
		return makeUnreliable(raw)
	}
	return nil
}

// makeUnreliable tells SCTP what the channel was created with. The library does
// that when a channel is opened in-band, on either end, and forgets it for
// negotiated ones, which are then ordered and retransmitted: a lost snapshot
// would hold up all that follow. There is no public way to the stream.
func makeUnreliable(raw *datachannel.DataChannel) error {
	field := reflect.ValueOf(raw).Elem().FieldByName("stream")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*sctp.Stream]() {
		return errors.New("rtc: this version of pion/datachannel keeps its stream elsewhere")
	}
	stream := *(**sctp.Stream)(unsafe.Pointer(field.UnsafeAddr()))
	stream.SetReliabilityParams(true, sctp.ReliabilityTypeRexmit, 0)
	return nil
}

// read calls receive with every message until that returns false, which gives
// nil, or the channel ends. A message longer than the limit is handed over cut
// at one byte more.
func (c *channel) read(limit int, receive func(msg []byte, text bool) bool) error {
	buf := make([]byte, min(firstBuffer, limit+1))
	for {
		n, text, err := c.raw.ReadDataChannel(buf)
		switch {
		case errors.Is(err, io.ErrShortBuffer) && len(buf) <= limit:
			buf = make([]byte, min(2*len(buf), limit+1)) // the message is still there
			continue
		case errors.Is(err, io.ErrShortBuffer):
			n = len(buf)
		case err != nil:
			return err
		}
		if !receive(buf[:n], text) {
			return nil
		}
		if len(buf) > keptBuffer {
			buf = make([]byte, firstBuffer)
		}
	}
}

// full reports whether the unreliable lane shall drop rather than queue: what
// waits in SCTP is as stale as what waits anywhere.
func (c *channel) full() bool { return c.raw.BufferedAmount() > mostUnreliable }

// await waits until at most so many bytes are unacknowledged. It fails if none
// were acknowledged for the patience, or when gone is closed.
func (c *channel) await(most uint64, patience time.Duration, gone <-chan struct{}) error {
	if c.raw.BufferedAmount() <= most {
		return nil
	}
	defer c.timer.Stop()
	before := c.raw.BufferedAmount()
	for before > most {
		c.timer.Reset(patience)
		stuck := false
		select {
		case <-c.low:
		case <-gone:
			return errGone
		case <-c.timer.C:
			stuck = true
		}
		now := c.raw.BufferedAmount()
		if stuck && now >= before {
			return errStuck
		}
		before = now
	}
	return nil
}

// flush waits until everything is acknowledged.
func (c *channel) flush(patience time.Duration, gone <-chan struct{}) error {
	c.raw.SetBufferedAmountLowThreshold(0)
	return c.await(0, patience, gone)
}
