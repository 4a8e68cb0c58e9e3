package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"syscall"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/metrics"
)

// roomsTimeout bounds how long rooms may take to end once their members have.
const roomsTimeout = 5 * time.Second

var _ room.Observer = (*metrics.Metrics)(nil)

type serveCmd struct {
	settings
	Bots int `default:"4" help:"Bots in the room arena. With --dev."`
}

// Help implements kong.HelpProvider.
func (*serveCmd) Help() string {
	return `For example:

  gatehouse serve --dev
  gatehouse serve --dev --set http.listen=127.0.0.1:28080
  gatehouse serve --dev --netsim latency=80ms,jitter=20ms,loss=3%
  gatehouse serve --config gatehouse.yaml

"gatehouse config show" lists the keys, with --dev those of dev mode.`
}

// Run serves until SIGTERM or SIGINT, then drains. A second signal ends the
// process at once.
func (c *serveCmd) Run(p *process) error {
	cfg, err := c.load(p)
	if err != nil {
		return err
	}
	if c.Bots < 0 || c.Bots > maxDevBots {
		return usageError{fmt.Sprintf("--bots %d: accepted are 0 to %d", c.Bots, maxDevBots)}
	}
	log := newLogger(cfg, p)
	m := metrics.New()
	worker := room.NewWorker(roomOptions(cfg, m, log))
	g, err := gateway.New(gateway.Options{Config: cfg, Rooms: worker, Control: worker, Metrics: m, Logger: log})
	if err != nil {
		return errors.Join(another(err), shutdown(worker))
	}
	p.announce(cfg, g)
	if cfg.Dev && c.Bots > 0 {
		bots := startDevBots(p.ctx, g, c.Bots, log)
		defer bots.Wait() // they leave when the context ends
	}
	err = g.Run(p.ctx)
	return errors.Join(err, shutdown(worker))
}

// another adds to the error of a taken address how to choose another. The
// library of ENet does not say why it could not listen: that is the usual cause.
func another(err error) error {
	var l *gateway.ListenError
	if !errors.As(err, &l) || !errors.Is(err, syscall.EADDRINUSE) && l.Key != "enet.listen" {
		return err
	}
	return fmt.Errorf("%w\nTo listen elsewhere: --set %s=127.0.0.1:28080", err, l.Key)
}

func shutdown(w *room.Worker) error {
	ctx, cancel := context.WithTimeout(context.Background(), roomsTimeout)
	defer cancel()
	return w.Shutdown(ctx)
}

func roomOptions(cfg *configs.Config, m *metrics.Metrics, log *slog.Logger) room.Options {
	o := room.Options{
		Games:     games(),
		OnDemand:  cfg.Rooms.OnDemand,
		MaxRooms:  cfg.Rooms.MaxRooms,
		CheckName: admit.RoomName,
		Observer:  m,
		Logger:    log,
	}
	for _, t := range cfg.Rooms.Templates {
		spec := authority.RoomSpec{
			Kind: t.Kind, Game: t.Game, Cap: either(t.Cap, cfg.Rooms.Cap),
			EmptyTimeout: either(t.EmptyTimeout, cfg.Rooms.EmptyTimeout).D(),
		}
		if t.Kind == authority.KindAuthority {
			spec.TickRate = either(t.TickRate, cfg.Rooms.TickRate)
		}
		o.Templates = append(o.Templates, room.Template{Pattern: t.Match, Spec: spec})
	}
	return o
}

// either returns what a template says, else what holds for all rooms.
func either[T comparable](own, all T) T {
	var zero T
	if own != zero {
		return own
	}
	return all
}
