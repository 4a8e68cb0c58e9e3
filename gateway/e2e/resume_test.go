package e2e

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/wire"
)

// Bounds of the pause before another attempt. A client puts links off that do not
// last, and none does here.
const retryMin, retryMax = 20 * time.Millisecond, 100 * time.Millisecond

// Members of two rooms lose their links at random moments, in every way there is
// to lose one, and come back over any transport. In the relay room every message
// arrives once and in order; in the arena the world stays the server's, nothing
// is spawned twice, no request is done twice, inputs go on where they were; and
// nobody ever sees a member twice or leaving.
func TestSessionsOutliveTheirLinks(t *testing.T) {
	const wanted, members = 200, 4 // cuts in all; members of each room that suffer them
	h := openHouse(t, "sessions.ping_interval=200ms", "sessions.ping_timeout=2s", "sessions.outbox=2MiB", "sessions.messages_per_second=400")

	chatter, watcher := joinHall(t, h, "chatter"), joinArena(t, "watcher", (&lines{t: t, house: h}).over("ws"))
	talkers, players := []*talker{chatter}, []*player{watcher}
	cuts := &campaign{wanted: wanted, done: map[manner]int{}}
	var victims []*victim
	for i := range members {
		ls := &lines{t: t, house: h}
		talk := joinHall(t, h, fmt.Sprint("talker-", i), ls.over(transports[i%3]))
		talkers = append(talkers, talk)
		victims = append(victims, &victim{t: t, Client: talk.Client, lines: ls, campaign: cuts})
		ls = &lines{t: t, house: h}
		play := joinArena(t, fmt.Sprint("player-", i), ls.over(transports[(i+1)%3]))
		players = append(players, play)
		victims = append(victims, &victim{t: t, Client: play.Client, lines: ls, campaign: cuts})
	}
	everyone := len(talkers) + len(players)
	await(t, "all are told of all", func() bool {
		for i := range talkers {
			if len(talkers[i].Peers()) != len(talkers) || len(players[i].Peers()) != len(players) {
				return false
			}
		}
		return true
	})

	var watching, suffering sync.WaitGroup
	over := make(chan struct{})
	watching.Go(func() { watchForGhosts(t, h, everyone, over) })
	for _, k := range talkers {
		watching.Go(func() { k.talk(over) })
	}
	for _, v := range victims {
		suffering.Go(v.suffer)
	}
	suffering.Wait()
	close(over)
	watching.Wait()
	cuts.check(t)

	for _, k := range talkers {
		for _, other := range talkers {
			if k != other && !eventually(func() bool { return k.heard(other.You()) == other.said.Load() }) {
				t.Fatalf("%s (%v over %s) has heard %d of the %d messages of %s (%v over %s)", k.name, k.State(), k.Transport(),
					k.heard(other.You()), other.said.Load(), other.name, other.State(), other.Transport())
			}
		}
	}
	for _, v := range victims {
		if err := v.Ready(within(t, patience)); err != nil {
			t.Error(err)
		}
	}
	resumes := 0
	sessions, err := h.listed()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sessions {
		resumes += s.Resumes
	}
	if resumes < wanted {
		t.Errorf("the server counts %d resumes, of %d cuts", resumes, wanted)
	}
	for i := range talkers {
		players[i].keepsMoving(t)
		checkRoster(t, talkers[i].Client, len(talkers))
		checkRoster(t, players[i].Client, len(players))
		talkers[i].Close()
		players[i].Close()
		players[i].check(t, h.game, 60)
		if gone := players[i].departed; len(gone) > 0 {
			t.Errorf("a player was told that peers %d left", gone)
		}
	}
	t.Logf("%d resumes; %s said %d messages", resumes, chatter.name, chatter.said.Load())
}

// campaign counts the cuts of all members.
type campaign struct {
	wanted int

	mu   sync.Mutex
	sum  int
	done map[manner]int
}

// manner is how a link was lost, and what it was.
type manner struct {
	how  string
	from string
	to   string
}

func (c *campaign) another(m manner) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sum == c.wanted {
		return false
	}
	c.sum++
	c.done[m]++
	return true
}

// check asserts that each way to lose a link happened to each transport, and
// each transport was left for each.
func (c *campaign) check(t *testing.T) {
	t.Helper()
	for _, from := range transports {
		for _, how := range hows {
			n := 0
			for _, to := range transports {
				n += c.done[manner{how, from, to}]
			}
			if n == 0 {
				t.Errorf("no %s link was lost by %s", from, how)
			}
		}
		for _, to := range transports {
			n := 0
			for _, how := range hows {
				n += c.done[manner{how, from, to}]
			}
			if n == 0 {
				t.Errorf("nobody went from %s to %s", from, to)
			}
		}
	}
}

const (
	byCut    = "cut"    // beneath the transport: both ends have to notice
	byFlight = "flight" // the same, and the client moves before anyone has noticed
	byClose  = "close"  // the transport is closed properly
	bySwitch = "switch" // a link that works is left for another
)

var hows = []string{byCut, byFlight, byClose, bySwitch}

// victim is a member whose links are cut.
type victim struct {
	*client.Client
	t        *testing.T
	lines    *lines
	campaign *campaign
}

// suffer loses one link after the other until the campaign is over.
func (v *victim) suffer() {
	for {
		if err := v.Ready(within(v.t, patience)); err != nil {
			v.t.Errorf("not back: %v", err)
			return
		}
		l := v.lines.newest()
		m := manner{hows[rand.IntN(len(hows))], l.transport, transports[rand.IntN(len(transports))]}
		if !v.campaign.another(m) {
			return
		}
		v.lose(l, m)
		v.live(time.Duration(rand.IntN(500)) * time.Millisecond)
	}
}

// lose loses a link and waits for the resume.
func (v *victim) lose(l *line, m manner) {
	before := v.Stats().Resumes
	next := v.lines.over(m.to)
	v.Prefer(next)
	switch m.how {
	case byCut:
		l.cut()
	case byClose:
		l.link.Close(wire.Errorf(wire.CodeTimeout, "a whim of the network"))
	case byFlight, bySwitch:
		if m.how == byFlight {
			l.cut()
		}
		// It may be refused: the link has just been found dead, or the last resume
		// had a second try under way. Then the client comes back by itself.
		if err := v.Switch(within(v.t, patience), next); err != nil && v.Stats().Resumes == before && v.Transport() != "" {
			v.t.Logf("%s from %s to %s: %v", m.how, m.from, m.to, err)
			l.cut()
		}
	}
	await(v.t, "a resume", func() bool { return v.Stats().Resumes > before })
}

// live lets the session do something between two cuts.
func (v *victim) live(d time.Duration) {
	select {
	case <-time.After(d):
	case <-v.Done():
	}
}

// watchForGhosts asserts, until over is closed, that operators see each member
// once.
func watchForGhosts(t *testing.T, h *house, members int, over <-chan struct{}) {
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-over:
			return
		case <-look.C:
		}
		sessions, err := h.listed()
		if err != nil {
			t.Errorf("sessions: %v", err)
			return
		}
		seen := map[string]int{}
		for _, s := range sessions {
			seen[s.Identity]++
		}
		if len(sessions) != members || len(seen) != members {
			t.Errorf("%d sessions of %d identities, there are %d members", len(sessions), len(seen), members)
			return
		}
		for _, name := range []string{"hall", "arena"} {
			var room struct{ Roster []struct{ Identity string } }
			if err := h.ask("rooms/"+name, &room); err != nil {
				t.Errorf("room: %v", err)
				return
			}
			for _, m := range room.Roster {
				if seen[m.Identity]--; seen[m.Identity] != 0 {
					t.Errorf("%s is %d times in the rosters too many", m.Identity, -seen[m.Identity])
					return
				}
			}
		}
	}
}

func checkRoster(t *testing.T, c *client.Client, want int) {
	t.Helper()
	names := map[string]bool{}
	for _, p := range c.Peers() {
		if names[p.Name] {
			t.Errorf("%s is in the roster twice", p.Name)
		}
		names[p.Name] = true
	}
	if len(names) != want {
		t.Errorf("the roster is %v, want %d members", names, want)
	}
	if st := c.Stats(); st.Gaps+st.Malformed > 0 {
		t.Errorf("stats are %+v", st)
	}
}

// talker is a member of the relay room who says numbers.
type talker struct {
	*client.Client
	t    *testing.T
	name string
	said atomic.Uint32

	mu   sync.Mutex
	last map[uint32]uint32 // the last number, by sender
}

func joinHall(t *testing.T, h *house, name string, dialers ...client.Dialer) *talker {
	t.Helper()
	if len(dialers) == 0 {
		dialers = append(dialers, (&lines{t: t, house: h}).over("ws"))
	}
	k := &talker{t: t, name: name, last: map[uint32]uint32{}}
	c, err := client.Join(within(t, patience), client.Options{
		Dialers: dialers, Room: "hall", Identity: name, Name: name,
		AttemptTimeout: patience / 2, RetryMin: retryMin, RetryMax: retryMax, RingBytes: 2 << 20,
		Handler: client.Handler{Relayed: k.hear, Peer: func(n wire.PeerNotice) {
			if n.Event == wire.PeerLeft {
				t.Errorf("%s was told that peer %d left: %s", name, n.ID, n.Reason)
			}
		}},
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	k.Client = c
	t.Cleanup(c.Close)
	return k
}

// hear asserts that the numbers of each sender come in order, none twice, none
// left out.
func (k *talker) hear(_ wire.Lane, m wire.Relayed) {
	n := binary.LittleEndian.Uint32(m.Payload)
	k.mu.Lock()
	defer k.mu.Unlock()
	if want := k.last[m.Sender] + 1; n != want {
		k.t.Errorf("%s heard %d of peer %d, want %d", k.name, n, m.Sender, want)
	}
	k.last[m.Sender] = n
}

func (k *talker) heard(sender uint32) uint32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last[sender]
}

// talk says the next number every few milliseconds, to all others, with some
// ballast; what the lane does not take is said later.
func (k *talker) talk(over <-chan struct{}) {
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	ballast := make([]byte, 4+400)
	for {
		select {
		case <-over:
			return
		case <-next.C:
		}
		message := ballast[:4+rand.IntN(400)]
		binary.LittleEndian.PutUint32(message, k.said.Load()+1)
		switch err := k.Relay(wire.Reliable, message); {
		case err == nil:
			k.said.Add(1)
		case codeOf(err) != wire.CodeRateLimited:
			k.t.Errorf("%s could not speak: %v", k.name, err)
			return
		}
	}
}

func codeOf(err error) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return wire.CodeNone
}
