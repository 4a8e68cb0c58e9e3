package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/link"
)

const (
	devRoom     = "arena"
	maxDevBots  = 64
	botPatience = 10 * time.Second
	botGoodbye  = 2 * time.Second
)

var botNames = [...]string{"Ada", "Bo", "Cleo", "Dov", "Eva", "Finn", "Gus", "Hana", "Ivo", "Juno", "Kim", "Lars", "Mia", "Nils", "Oda", "Pia"}

// startDevBots lets bots play in this process, so that whoever opens the page is
// not alone. They leave when ctx ends.
func startDevBots(ctx context.Context, g *gateway.Gateway, count int, log *slog.Logger) *sync.WaitGroup {
	var bots sync.WaitGroup
	for i := range count {
		name := "Bot " + botNames[i%len(botNames)]
		if round := i / len(botNames); round > 0 {
			name = fmt.Sprintf("%s %d", name, round+1)
		}
		bots.Go(func() {
			if err := devBot(ctx, g, name, uint64(i+1)); err != nil && ctx.Err() == nil {
				log.Warn("a bot has stopped", "domain", "session", "bot", name, "error", err)
			}
		})
	}
	return &bots
}

func devBot(ctx context.Context, g *gateway.Gateway, name string, seed uint64) error {
	server, options := g.Local()
	joining, cancel := context.WithTimeout(ctx, botPatience)
	defer cancel()
	c, err := joinAsPlayer(joining, client.Options{
		Dialers:  []client.Dialer{client.Memory(server, link.Options{}, options)},
		Room:     devRoom,
		Identity: fmt.Sprintf("bot-%d", seed),
		Name:     name,
	}, seed)
	if err != nil {
		return err
	}
	select {
	case <-c.Done():
		return c.Err()
	case <-ctx.Done():
		bye, cancel := context.WithTimeout(context.Background(), botGoodbye)
		defer cancel()
		return c.Leave(bye)
	}
}
