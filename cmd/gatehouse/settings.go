package main

import (
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/games/arena"
	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway/link"
)

// settings are the flags of every subcommand that reads the configuration.
type settings struct {
	Config string   `placeholder:"FILE" help:"Configuration file (YAML); GATEHOUSE_CONFIG if not given." type:"path"`
	Dev    bool     `help:"For developers: nobody is asked for a token, everything listens on this machine only, rooms are made on demand."`
	Netsim string   `placeholder:"SETTINGS" help:"Make every link worse, as in latency=80ms,jitter=20ms,loss=3%, in each direction. With --dev."`
	Set    []string `placeholder:"KEY=VALUE" sep:"none" help:"Override one key, as in http.listen=127.0.0.1:28080. May be repeated."`
}

// load reads the configuration.
func (s settings) load(p *process) (*configs.Config, error) {
	src := configs.Sources{File: s.Config, Environ: p.environ, Known: configs.Known{
		Games:  slices.Sorted(maps.Keys(games())),
		Netsim: func(text string) error { _, err := link.ParseNetsim(text); return err },
	}}
	if s.Dev {
		src.Set = append(src.Set, configs.Override{Flag: "--dev", Path: "dev", Value: "true"})
	}
	if s.Netsim != "" {
		src.Set = append(src.Set, configs.Override{Flag: "--netsim", Path: "netsim", Value: s.Netsim})
	}
	for _, pair := range s.Set {
		path, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, usageError{"--set " + pair + ": want KEY=VALUE"}
		}
		src.Set = append(src.Set, configs.Override{Flag: "--set", Path: path, Value: value})
	}
	return configs.Load(src)
}

// newLogger returns a logger as the configuration asks for. Each part adds the
// attribute domain: transport, session, sync, simulation or admin.
func newLogger(c *configs.Config, p *process) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Log.Level)); err != nil {
		panic(err) // the configuration was checked
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Log.Format == "json" {
		return slog.New(slog.NewJSONHandler(p.err, o))
	}
	return slog.New(slog.NewTextHandler(p.err, o))
}

// games are those that rooms of this program may run, by name.
func games() map[string]authority.Game {
	a := arena.New()
	return map[string]authority.Game{a.Name(): a}
}
