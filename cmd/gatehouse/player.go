package main

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/authority/replica"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
)

// player is a client that plays by itself: in the arena as a bot, in a relay
// room by sending a small message now and then. Elsewhere it only watches.
type player struct {
	seed   uint64
	client atomic.Pointer[client.Client]
	bot    *arena.Bot // owned by the client's goroutine
	idle   bool       // likewise: the game is not one that it can play
}

// chatEvery is how often a player talks in a relay room.
const chatEvery = 100 * time.Millisecond

// joinAsPlayer joins a room and plays until the client ends.
func joinAsPlayer(ctx context.Context, o client.Options, seed uint64) (*client.Client, error) {
	p := &player{seed: seed}
	o.TickInputs = true
	o.Handler.Input = p.input
	c, err := client.Join(ctx, o)
	if err != nil {
		return nil, err
	}
	p.client.Store(c)
	return c, nil
}

// input decides for a tick.
func (p *player) input(uint16, uint32) []byte {
	c := p.client.Load()
	if c == nil || p.idle || c.State() != client.Synchronized {
		return nil
	}
	if p.bot == nil {
		w := c.Welcome()
		if p.idle = w.Room.Game != arena.Name; p.idle {
			return nil
		}
		bot, err := arena.NewBot(w.You, w.Room.Config, p.seed)
		if p.idle = err != nil; p.idle {
			return nil
		}
		p.bot = bot
	}
	var act arena.Act
	c.World(func(v *replica.View) {
		if v != nil {
			act = p.bot.Next(v)
		}
	})
	if act.Request != "" {
		// Whether it worked shows in the world; a full queue passes.
		_, _ = c.Call(act.Request, act.Payload, func([]byte, error) {})
	}
	return act.Input
}

// chat talks in a relay room until ctx or the client ends.
func chat(ctx context.Context, c *client.Client) {
	if c.Welcome().Room.Kind != authority.KindRelay {
		return
	}
	tick := time.NewTicker(chatEvery)
	defer tick.Stop()
	var message [16]byte
	for n := uint64(0); ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-c.Done():
			return
		case <-tick.C:
			binary.LittleEndian.PutUint64(message[:], n)
			_ = c.Relay(wire.Unreliable, message[:]) // lost while away, as it may be
		}
	}
}
