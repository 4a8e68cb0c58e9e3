package admit

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

func TestRateBurstThenRefill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, a, b := NewRate(10, 5), netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
		taken := func(a netip.Addr) (n int) {
			for range 100 {
				if r.Allow(a) {
					n++
				}
			}
			return n
		}
		if n := taken(a); n != 5 {
			t.Errorf("burst of %d, want 5", n)
		}
		if n := taken(b); n != 5 {
			t.Errorf("another address got %d, want 5", n)
		}
		time.Sleep(200 * time.Millisecond)
		if n := taken(a); n != 2 {
			t.Errorf("%d after 200 ms at 10/s, want 2", n)
		}
		time.Sleep(time.Hour)
		if n := taken(a); n != 5 {
			t.Errorf("%d after an hour, want the burst of 5", n)
		}
	})
}

func TestRateCountsSubscribers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		one, other string
		same       bool
	}{
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"2001:db8::1", "2001:db8::ffff:1", true},
		{"2001:db8::1", "2001:db8:0:1::1", false},
	} {
		r := NewRate(0.001, 1)
		r.Allow(netip.MustParseAddr(c.one))
		if got := !r.Allow(netip.MustParseAddr(c.other)); got != c.same {
			t.Errorf("%s and %s counted as one: %v, want %v", c.one, c.other, got, c.same)
		}
	}
}

func TestRateForgetsTheOldestWhenFull(t *testing.T) {
	t.Parallel()
	r := NewRate(0.001, 1)
	r.most = 3
	addr := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, i}) }
	for i := range byte(4) {
		r.Allow(addr(i))
	}
	if len(r.byAddr) != 3 || r.recent.Len() != 3 {
		t.Errorf("remembers %d and %d, want 3", len(r.byAddr), r.recent.Len())
	}
	if r.Allow(addr(3)) {
		t.Error("the latest was forgotten")
	}
	if !r.Allow(addr(0)) {
		t.Error("the oldest was remembered")
	}
}

func TestRateAllocatesNothingForKnownAddresses(t *testing.T) {
	r, a := NewRate(1, 1), netip.MustParseAddr("192.0.2.1")
	r.Allow(a)
	if n := testing.AllocsPerRun(100, func() { r.Allow(a) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
