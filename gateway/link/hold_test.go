package link

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/wire"
)

type heldConn struct{}

func (heldConn) Info() Info              { return Info{Transport: "test"} }
func (heldConn) Wake()                   {}
func (heldConn) Close(wire.Code, string) {}

type heldHandler struct{}

func (heldHandler) Opened(*Link)                                 {}
func (heldHandler) Receive(*Link, wire.Lane, []byte) *wire.Error { return nil }
func (heldHandler) Ended(*Link, error)                           {}

func TestHoldIsForBusyLinksWithoutControlFrames(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(heldConn{}, heldHandler{}, Options{})
		// send flushes each frame, and returns what the last flush was told.
		send := func(perSecond int) (hold time.Duration) {
			for range 2 * perSecond {
				time.Sleep(time.Second / time.Duration(perSecond))
				l.Send(wire.CopyFrame(wire.KindEvent, []byte("event")))
				hold = l.Hold(time.Now())
			}
			return hold
		}
		if d := send(30); d > 0 {
			t.Errorf("a calm link is held for %s", d)
		}
		if d := send(1000); d != defaultFlushWindow {
			t.Errorf("a busy link is held for %s, not %s", d, defaultFlushWindow)
		}
		if l.Urgent() {
			t.Error("urgent without a control frame")
		}
		l.Send(wire.CopyFrame(wire.KindPong, nil))
		if !l.Urgent() {
			t.Error("a control frame is not urgent")
		}
		if d := l.Hold(time.Now()); d > 0 {
			t.Errorf("a control frame is held for %s", d)
		}
		if l.Urgent() {
			t.Error("still urgent once it was served")
		}
		l.Ended(nil)
	})
}
