package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/gateway/ws"
)

type botCmd struct {
	Transport string      `enum:"ws,rtc,enet" default:"ws" help:"ws, rtc or enet."`
	URL       string      `name:"url" placeholder:"URL" help:"The server: http://127.0.0.1:8080 if not given; for enet host:port, 127.0.0.1:7777 if not given."`
	Room      string      `default:"arena" help:"Room to join."`
	Name      string      `default:"Bot" help:"What their names begin with; what tells runs and bots apart follows."`
	Count     int         `default:"1" help:"How many bots."`
	Duration  span        `default:"10s" help:"How long they play once all have tried to join."`
	Rate      int         `default:"100" help:"How many join per second at most."`
	Secret    tokenSecret `embed:""`
}

const (
	maxBots     = 10_000
	joinTimeout = 10 * time.Second
)

// Run lets bots play, with a line of progress each second and a summary at the
// end. It fails if one of them could not join or was thrown out.
func (c *botCmd) Run(p *process) error {
	dial, err := c.check()
	if err != nil {
		return err
	}
	tokens, err := c.tokens(p)
	if err != nil {
		return err
	}
	f := &fleet{cmd: c, dial: dial, tokens: tokens, run: strings.ToLower(rand.Text()[:8]), began: time.Now()}
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	var reporter sync.WaitGroup
	reporter.Go(func() { f.report(ctx, p.out) })

	f.joinAll(ctx)
	if f.sum().joined > 0 {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(c.Duration)):
		}
	}
	final := f.sum()
	stop()
	reporter.Wait()
	f.leaveAll()
	return f.summary(p.out, final)
}

func (c *botCmd) check() (func(token string) client.Dialer, error) {
	var faults []string
	for _, f := range []struct {
		flag    string
		value   int
		highest int
	}{{"--count", c.Count, maxBots}, {"--rate", c.Rate, 100_000}} {
		if f.value < 1 || f.value > f.highest {
			faults = append(faults, fmt.Sprintf("%s %d: accepted are 1 to %d", f.flag, f.value, f.highest))
		}
	}
	if c.Duration <= 0 || c.Duration > span(24*time.Hour) {
		faults = append(faults, fmt.Sprintf("--duration %s: accepted are more than 0s, to 24h", c.Duration))
	}
	if err := admit.RoomName(c.Room); err != nil {
		faults = append(faults, fmt.Sprintf("--room %q: %v", c.Room, err))
	}
	if err := admit.DisplayName(c.nameOf("abcdefgh", maxBots-1)); err != nil {
		faults = append(faults, fmt.Sprintf("--name %q: %v", c.Name, err))
	}
	dial, err := c.dialer()
	if err != nil {
		faults = append(faults, err.Error())
	}
	if len(faults) > 0 {
		return nil, usageError{strings.Join(faults, "; ")}
	}
	return dial, nil
}

// dialer returns how to reach the server with a token.
func (c *botCmd) dialer() (func(token string) client.Dialer, error) {
	if c.Transport == "enet" {
		at := c.address()
		if _, _, err := net.SplitHostPort(at); err != nil {
			return nil, fmt.Errorf("--url %s: enet wants host:port", at)
		}
		return func(string) client.Dialer { return client.ENet(at, enet.DialOptions{}) }, nil
	}
	base := c.address()
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" {
		return nil, fmt.Errorf("--url %s: want http://host:port or https://host:port", base)
	}
	if c.Transport == "rtc" {
		return func(token string) client.Dialer { return client.RTC(base, rtc.DialOptions{Token: token}) }, nil
	}
	return func(string) client.Dialer { return client.WS(base+"/v1/ws", ws.DialOptions{}) }, nil
}

// address is where the server is looked for.
func (c *botCmd) address() string {
	switch {
	case c.URL != "":
		return strings.TrimSuffix(c.URL, "/")
	case c.Transport == "enet":
		return "127.0.0.1:7777"
	}
	return "http://127.0.0.1:8080"
}

// nameOf is what bot i of a run is called.
func (c *botCmd) nameOf(run string, i int) string {
	return fmt.Sprintf("%s-%s %s %d", c.Name, run[:3], c.Transport, i+1)
}

// tokens returns what mints the bots' tokens: nil if no secret is given, for a
// server that asks for none. Each bot has an identity of its own, so that one
// token would not do.
func (c *botCmd) tokens(p *process) (*admit.Tokens, error) {
	given := c.Secret.SecretFile != ""
	for _, pair := range p.environ {
		given = given || strings.HasPrefix(pair, "GATEHOUSE_AUTH_SECRET")
	}
	if !given {
		return nil, nil
	}
	return c.Secret.tokens(p)
}

// fleet is all bots of a run.
type fleet struct {
	cmd    *botCmd
	dial   func(token string) client.Dialer
	tokens *admit.Tokens
	run    string // tells this run's identities from another's, which would end them
	began  time.Time

	mu      sync.Mutex // guards the rest
	playing []*client.Client
	joins   []time.Duration
	failed  map[failure]int
	talking sync.WaitGroup
}

// joinAll lets the bots join, at the rate asked for, and waits until each has
// tried.
func (f *fleet) joinAll(ctx context.Context) {
	pause := time.NewTicker(time.Second / time.Duration(f.cmd.Rate))
	defer pause.Stop()
	var joining sync.WaitGroup
	defer joining.Wait()
	for i := range f.cmd.Count {
		joining.Go(func() { f.join(ctx, i) })
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

func (f *fleet) join(ctx context.Context, i int) {
	o := client.Options{Room: f.cmd.Room, Identity: fmt.Sprintf("bot-%s-%s-%d", f.run, f.cmd.Transport, i+1), Name: f.cmd.nameOf(f.run, i)}
	err := f.authorize(&o)
	var c *client.Client
	start := time.Now()
	if err == nil {
		o.Dialers = []client.Dialer{f.dial(o.Token)}
		joining, cancel := context.WithTimeout(ctx, joinTimeout)
		defer cancel()
		c, err = joinAsPlayer(joining, o, uint64(i)+1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.note(err)
		return
	}
	f.playing = append(f.playing, c)
	f.joins = append(f.joins, time.Since(start))
	f.talking.Go(func() { chat(ctx, c) })
}

// authorize gives the bot a token that lasts as long as it plays.
func (f *fleet) authorize(o *client.Options) (err error) {
	if f.tokens == nil {
		return nil
	}
	o.Token, err = f.tokens.Mint(admit.Grant{Identity: o.Identity, Room: o.Room, Name: o.Name, Expires: time.Now().Add(time.Duration(f.cmd.Duration) + time.Hour)})
	return err
}

// note counts a failure. The caller holds f.mu.
func (f *fleet) note(err error) {
	if f.failed == nil {
		f.failed = map[failure]int{}
	}
	f.failed[f.cmd.explain(err)]++
}

// leaveAll ends the bots properly.
func (f *fleet) leaveAll() {
	f.talking.Wait()
	var leaving sync.WaitGroup
	for _, c := range f.playing {
		leaving.Go(func() {
			bye, cancel := context.WithTimeout(context.Background(), botGoodbye)
			defer cancel()
			_ = c.Leave(bye) // how it went while it played was summed up before
		})
	}
	leaving.Wait()
}
