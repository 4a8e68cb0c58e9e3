package replica

import "testing"

func TestDeltaAckAndApplyAllocateNothing(t *testing.T) {
	c := newCrowd(1000, 84, 1)
	for _, budget := range []int{1140, 200} {
		p := &pair{t: t, store: c.store, peer: NewPeer(c.store), view: NewView(c.store.Schema())}
		p.full()
		p.ack()
		dst := make([]byte, 0, 2048)
		var corpse ID
		turn := func() {
			c.store.Despawn(corpse, 1)
			corpse = c.store.Spawn(0)
			c.step()
			body, _ := p.peer.Delta(dst, Meta{HasInput: true, InputSeq: uint16(c.tick)}, budget)
			if _, err := p.view.Apply(body); err != nil {
				t.Fatal(err)
			}
			if err := p.peer.Ack(p.view.Ack()); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 * window {
			turn()
		}
		if n := testing.AllocsPerRun(200, turn); n != 0 {
			t.Errorf("budget %d: %v allocations per tick", budget, n)
		}
	}
}
