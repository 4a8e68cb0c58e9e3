package e2e

import (
	"testing"
)

// A client made of raw bytes sees the server's world.
func TestRawBytesSeeTheServersWorld(t *testing.T) {
	t.Parallel()
	h := openHouse(t)
	h.crowd(t, "bot-1", "bot-2", "bot-3")
	c := joinRaw(t, h, "raw")
	x, y, _ := c.position()
	moved := false
	await(t, "150 ticks", func() bool {
		if nx, ny, ok := c.position(); ok && (nx != x || ny != y) {
			moved = true
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.seen) >= 150
	})
	c.leave()
	wrong, fewest := 0, 1<<30
	for tick, hash := range c.seen {
		if w := h.game.world(tick); w != nil && hash != w.hash() {
			wrong++
		}
		fewest = min(fewest, c.counts[tick])
	}
	if wrong > 0 || !moved || fewest < 50 || c.world.spawned < 10 || c.world.vanished < 10 || len(c.members) != 4 {
		t.Errorf("%d of %d worlds differ; moved: %v, %d entities, %d came and %d went; members %v",
			wrong, len(c.seen), moved, fewest, c.world.spawned, c.world.vanished, c.members)
	}
}
