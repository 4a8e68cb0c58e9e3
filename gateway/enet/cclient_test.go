//go:build !noenet

package enet_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/wire"
)

// buildC compiles the C client's sources with the given main file.
func buildC(t *testing.T, main string, flags ...string) string {
	t.Helper()
	const dir = "testdata/cclient"
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(main, ".c"))
	args := []string{"-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-o", out}
	args = append(args, flags...)
	for _, name := range []string{main, "client.c", "world.c", "json.c", "wire.c"} {
		args = append(args, filepath.Join(dir, name))
	}
	if b, err := exec.CommandContext(t.Context(), "cc", append(args, "-lenet")...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, b)
	}
	return out
}

// probe asks the C client's codecs, a line at a time.
type probe struct {
	t     *testing.T
	lines *bufio.Reader
	in    io.Writer
}

func startProbe(t *testing.T, binary string) *probe {
	t.Helper()
	cmd := exec.Command(binary)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the probe ended with %v", err)
		}
	})
	return &probe{t: t, lines: bufio.NewReader(out), in: in}
}

func (p *probe) ask(format string, args ...any) string {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		p.t.Fatal(err)
	}
	line, err := p.lines.ReadString('\n')
	if err != nil {
		p.t.Fatalf("no answer to %.200q: %v", fmt.Sprintf(format, args...), err)
	}
	return strings.TrimSpace(line)
}

func (p *probe) want(want, format string, args ...any) {
	p.t.Helper()
	if got := p.ask(format, args...); got != want {
		p.t.Errorf("%.200s\n got %.200s\nwant %.200s", fmt.Sprintf(format, args...), got, want)
	}
}

func readVectors[T any](t *testing.T, name string) (v []T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../wire/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The sanitizers that the probe is built with end it at the first misstep.
func TestCClientCodecs(t *testing.T) {
	t.Parallel()
	binary := buildC(t, "probe.c", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
	for name, test := range map[string]func(*testing.T, *probe){
		"bit vectors":             readsTheBitVectors,
		"frame vectors":           readsAndWritesTheFrameVectors,
		"snapshots":               appliesSnapshots,
		"snapshot vectors":        appliesTheSnapshotVectors,
		"chunks apply together":   appliesChunksTogether,
		"survives damaged bodies": survivesDamagedBodies,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, startProbe(t, binary))
		})
	}
}

func orDash(hexBytes string) string {
	if hexBytes == "" {
		return "-"
	}
	return hexBytes
}

func readsTheBitVectors(t *testing.T, p *probe) {
	for _, v := range readVectors[struct {
		Name string
		Hex  string
		Ops  []struct {
			Op   string
			V, N uint32
		}
	}](t, "bits.json") {
		command, want := "bits "+orDash(v.Hex), ""
		for _, op := range v.Ops {
			want += fmt.Sprint(op.V, " ")
			if op.Op == "bitvar" {
				command += " v"
			} else {
				command += fmt.Sprint(" ", op.N)
			}
		}
		p.want(want+"good", "%s", command)
	}
	p.want("0 failed", "bits ff 9")
	p.want("0 failed", "bits ffffffffffff v")
}

func readsAndWritesTheFrameVectors(t *testing.T, p *probe) {
	for _, v := range readVectors[struct {
		Name, Kind, Lane, Frame string
		Body                    json.RawMessage
	}](t, "vectors.json") {
		kind := wire.KindNamed(v.Kind)
		frame, err := hex.DecodeString(v.Frame)
		if err != nil {
			t.Fatal(err)
		}
		head := 4 // hex digits
		if binary.LittleEndian.Uint16(frame)>>5 == 2047 {
			head = 8
		}
		body := orDash(v.Frame[head:])
		p.want(fmt.Sprintf("%d:%s good", kind, body), "frames %s", v.Frame)
		p.want(v.Frame, "frame %d %s", kind, body)
		if v.Kind != "input" {
			continue
		}
		var in struct {
			Seq        uint16
			ClientTick uint32 `json:"client_tick"`
			Acked      uint32
			Mask       string
			Inputs     []string
		}
		if err := json.Unmarshal(v.Body, &in); err != nil {
			t.Fatal(err)
		}
		mask, err := strconv.ParseUint(in.Mask, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		payload := ""
		for _, one := range in.Inputs {
			if payload = one; one != in.Inputs[0] {
				payload = "differ"
				break
			}
		}
		if payload == "differ" {
			continue // the client repeats one input
		}
		p.want(v.Frame[head:], "input %d %d %d %d %d %s", in.Seq, in.ClientTick, in.Acked, ^mask, len(in.Inputs), orDash(payload))
	}
	p.want("failed", "frames 01")
	p.want("failed", "frames 2100")
	p.want("failed", "frames e1ff")
	p.want("failed", "frames 0000")
}

// bitString builds bodies as section 6 of the protocol says, bit by bit.
type bitString struct{ bits []byte }

func (b *bitString) add(v uint32, n int) *bitString {
	for i := range n {
		b.bits = append(b.bits, byte(v>>i&1))
	}
	return b
}

func (b *bitString) bitvar(v uint32) *bitString {
	for ; v > 15; v >>= 4 {
		b.add(v&15|16, 5)
	}
	return b.add(v, 5)
}

func (b *bitString) bytes() []byte {
	out := make([]byte, (len(b.bits)+7)/8)
	for i, bit := range b.bits {
		out[i/8] |= bit << (i % 8)
	}
	return out
}

const worldSchema = `{"types":[{"name":"player","fields":[{"name":"x","min":0,"max":100,"step":1},{"name":"y","min":-10,"max":10,"step":5}]},{"name":"door","fields":[{"name":"open","min":0,"max":1,"step":1,"unit":0.5}]}]}`

// entityHash is the hash of section 6, again from the page.
func entityHash(words ...uint32) uint32 {
	h := uint32(2166136261)
	for _, w := range words {
		h = (h ^ w) * 16777619
		h ^= h >> 15
	}
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}

// bodyOf appends bits to the bytes before them.
func bodyOf(head string, b *bitString) string {
	return head + hex.EncodeToString(b.bytes())
}

// fullBody has two players, 1 (generation 7, x 50, y 5) and 40 (generation 255,
// x 100, y -10), and door 41, which is open.
func fullBody(tick byte) string {
	b := new(bitString).bitvar(3)
	b.bitvar(0).add(7, 8).add(0, 1).add(50, 7).add(3, 3)
	b.bitvar(38).add(255, 8).add(0, 1).add(100, 7).add(0, 3)
	b.bitvar(0).add(1, 8).add(1, 1).add(1, 1)
	return bodyOf(fmt.Sprintf("00%02x0001", tick), b)
}

func appliesSnapshots(t *testing.T, p *probe) {
	p.want("good", "schema %s", worldSchema)
	hash := entityHash(1, 7, 0, 50, 3) + entityHash(40, 255, 0, 100, 0) + entityHash(41, 1, 1, 1)
	p.want(fmt.Sprintf("applied 100 ffffffffffffffff 3 %08x", hash), "full %s", fullBody(100))
	p.want("7 player 50 5", "entity 1")
	p.want("255 player 100 -10", "entity 40")
	p.want("1 door 1", "entity 41")

	// Tick 103 on 100: player 1 moves in y, door 41 goes, player 2 comes; input 513
	// is applied. By hand: flags 01, tick 67, back 03, input 0102.
	change := new(bitString)
	change.bitvar(1).bitvar(40).add(1, 8).add(2, 4)
	change.bitvar(2).bitvar(0).add(0, 1).add(0, 1).add(1, 1).add(4, 3)
	change.bitvar(0).add(1, 1).add(9, 8).add(0, 1).add(1, 7).add(2, 3)
	delta := bodyOf("0167030102", change)
	hash = entityHash(1, 7, 0, 50, 4) + entityHash(40, 255, 0, 100, 0) + entityHash(2, 9, 0, 1, 2)
	after := fmt.Sprintf("103 fffffffffffffffb 3 %08x", hash)
	p.want("applied "+after, "delta %s", delta)
	p.want("7 player 50 10", "entity 1")
	p.want("none", "entity 41")
	p.want("stale "+after, "delta %s", delta)

	// A despawn of another generation is skipped, a full record of another
	// generation replaces.
	change = new(bitString)
	change.bitvar(1).bitvar(39).add(1, 8).add(0, 4)
	change.bitvar(1).bitvar(1).add(1, 1).add(10, 8).add(1, 1).add(0, 1)
	hash = entityHash(1, 7, 0, 50, 4) + entityHash(40, 255, 0, 100, 0) + entityHash(2, 10, 1, 0)
	after = fmt.Sprintf("104 fffffffffffffff6 3 %08x", hash)
	p.want("applied "+after, "delta %s", bodyOf("006801", change))

	empty := new(bitString).bitvar(0).bitvar(0)
	p.want("resync "+after, "delta %s", bodyOf("006a04", empty)) // on 102, which never came
	p.want("resync "+after, "delta %s", bodyOf("006a02", new(bitString).bitvar(0).bitvar(1).bitvar(8).add(0, 1)))
	p.want("malformed "+after, "delta %s", bodyOf("006a02", new(bitString).bitvar(0).bitvar(2).bitvar(8).add(1, 1)))
	p.want("malformed "+after, "delta 00")
	p.want(strings.Replace("applied "+after, "104 fffffffffffffff6", "168 7fffffffffffffff", 1), "delta %s", bodyOf("00a80140", empty))
}

func appliesTheSnapshotVectors(t *testing.T, p *probe) {
	b, err := os.ReadFile("../../authority/replica/testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var story struct {
		Schema struct {
			Types []struct {
				Name   string           `json:"name"`
				Fields []map[string]any `json:"fields"`
			} `json:"types"`
		} `json:"schema"`
		Steps []struct {
			Name, Kind, Body, Error string
			Done                    bool
			Then                    struct {
				Tick, Hash uint32
				Missed     string
				Entities   []struct {
					ID         uint32
					Generation uint8
					Type       int
					Values     []int64
				}
			}
		}
	}
	if err := json.Unmarshal(b, &story); err != nil {
		t.Fatal(err)
	}
	schema, err := json.Marshal(story.Schema)
	if err != nil {
		t.Fatal(err)
	}
	p.want("good", "schema %s", schema)
	for _, step := range story.Steps {
		outcome, command := "applied", "delta"
		if step.Kind == "full" {
			command = "full"
		}
		switch {
		case step.Error != "":
			outcome = step.Error
		case !step.Done && step.Kind == "full":
			outcome = "waiting"
		case strings.Contains(step.Name, "comes late"):
			outcome = "stale"
		}
		then := step.Then
		got := p.ask("%s %s", command, step.Body)
		if want := fmt.Sprintf("%s %d %s %d %08x", outcome, then.Tick, then.Missed, len(then.Entities), then.Hash); got != want {
			t.Errorf("%s:\n got %s\nwant %s", step.Name, got, want)
		}
		for _, e := range then.Entities {
			want := fmt.Sprint(e.Generation, " ", story.Schema.Types[e.Type].Name)
			for _, v := range e.Values {
				want += fmt.Sprint(" ", v)
			}
			p.want(want, "entity %d", e.ID)
		}
	}
}

func appliesChunksTogether(t *testing.T, p *probe) {
	p.want("good", "schema %s", worldSchema)
	first := new(bitString).bitvar(1).bitvar(2).add(1, 8).add(1, 1).add(0, 1)
	second := new(bitString).bitvar(1).bitvar(3).add(1, 8).add(1, 1).add(1, 1)
	p.want("waiting 0 ffffffffffffffff 0 00000000", "full %s", bodyOf("00050002", first))
	hash := entityHash(3, 1, 1, 0) + entityHash(4, 1, 1, 1)
	p.want(fmt.Sprintf("applied 5 ffffffffffffffff 2 %08x", hash), "full %s", bodyOf("00050102", second))
	// Chunk 0 of another one discards what waits; its rest is out of turn.
	p.want(fmt.Sprintf("waiting 5 ffffffffffffffff 2 %08x", hash), "full %s", bodyOf("00060002", first))
	p.want(fmt.Sprintf("applied 7 ffffffffffffffff 1 %08x", entityHash(3, 1, 1, 0)), "full %s", bodyOf("00070001", first))
	p.want(fmt.Sprintf("resync 7 ffffffffffffffff 1 %08x", entityHash(3, 1, 1, 0)), "full %s", bodyOf("00060102", second))
}

func survivesDamagedBodies(t *testing.T, p *probe) {
	r := rand.New(rand.NewPCG(1, 2))
	specimen, err := hex.DecodeString(fullBody(100))
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		body := append([]byte(nil), specimen[:1+r.IntN(len(specimen))]...)
		for range 1 + r.IntN(3) {
			body[r.IntN(len(body))] ^= byte(1 << r.IntN(8))
		}
		for _, command := range []string{"full", "delta", "frames"} {
			p.ask("%s %x", command, body)
		}
		p.want("good", "schema %s", worldSchema)
	}
}

// hall is a server made of literal bytes, for the C client to join.
type hall struct {
	*ends
	inputs chan wire.Input
}

func (h *hall) receive(l *link.Link, lane wire.Lane, msg []byte) *wire.Error {
	for len(msg) > 0 {
		kind, body, rest, err := wire.NextFrame(msg)
		if err != nil {
			return wire.Errorf(wire.CodeProtocol, "%v", err)
		}
		msg = rest
		switch kind {
		case wire.KindHello:
			l.Send(wire.CopyFrame(wire.KindWelcome, []byte(`{"version":1,"session":"s","you":3,"tick":99,"tick_rate":30,`+
				`"room":{"name":"hall","instance":"i1","kind":"authority"},"peers":[{"id":3,"name":"Ann"}],`+
				`"limits":{"ping_ms":1000,"timeout_ms":5000},"schema":`+worldSchema+`}`)))
			full, _ := hex.DecodeString(fullBody(100))
			l.Send(wire.CopyFrame(wire.KindFull, full))
			l.Send(wire.CopyFrame(wire.KindPing, []byte{1, 2}))
			l.Send(wire.CopyFrame(wire.KindEvent, []byte("\x65\x04boom\xff\x00"))) // of tick 101
		case wire.KindInput:
			var in wire.Input
			if err := wire.ParseInput(body, &in); err != nil {
				return wire.Errorf(wire.CodeProtocol, "%v", err)
			}
			for i := range in.Inputs {
				in.Inputs[i] = append([]byte(nil), in.Inputs[i]...)
			}
			in.Inputs = append([][]byte(nil), in.Inputs...)
			select {
			case h.inputs <- in:
			default:
			}
		case wire.KindLeave:
			return wire.Errorf(wire.CodeLeft, "goodbye")
		}
		h.ends.change(func() { h.received[l] = append(h.received[l], received{lane, append([]byte{byte(kind)}, body...)}) })
	}
	return nil
}

func (h *hall) heard(l *link.Link, kind wire.Kind) (bodies [][]byte) {
	for _, r := range h.received[l] {
		if r.msg[0] == byte(kind) {
			bodies = append(bodies, r.msg[1:])
		}
	}
	return bodies
}

func TestCClientPlaysInARoom(t *testing.T) {
	t.Parallel()
	h := &hall{ends: newEnds(), inputs: make(chan wire.Input, 1000)}
	h.onReceive = h.receive
	l := listen(t, enet.Options{}, h)
	cmd := exec.CommandContext(t.Context(), buildC(t, "main.c", "-O2"), "--port", fmt.Sprint(l.Addr().Port()),
		"--room", "hall", "--name", `A"nn`, "--input", "0a0b", "--request", "wave", "hi", "--duration", "1.2")
	out := new(strings.Builder)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	at := h.link(t, 0)
	for in := range h.inputs {
		if in.Acked == 100 && in.Mask == 0 && len(in.Inputs) == 3 && string(in.Inputs[2]) == "\x0a\x0b" {
			break
		}
		if in.Acked > 100 || len(in.Inputs) > 3 {
			t.Fatalf("input frame %+v", in)
		}
	}
	body := new(bitString).bitvar(0).bitvar(1).bitvar(0).add(0, 1).add(1, 1).add(0, 1).add(51, 7)
	delta, _ := hex.DecodeString(bodyOf("016501"+"0200", body)) // tick 101 on 100, input 2
	at.Send(wire.CopyFrame(wire.KindSnapshot, delta))
	for in := range h.inputs {
		if in.Acked == 101 {
			if in.Mask != 1 || int(in.Seq)-len(in.Inputs) != 2 {
				t.Errorf("after input 2 was applied: %+v", in)
			}
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the client ended with %v", err)
	}
	if err := h.awaitEnd(t, at); code(err) != wire.CodeLeft {
		t.Errorf("its link ended with %v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	hello := string(h.heard(at, wire.KindHello)[0])
	var parsed wire.Hello
	if err := json.Unmarshal([]byte(hello), &parsed); err != nil || parsed.Name != `A"nn` || parsed.Room != "hall" {
		t.Errorf("hello %s: %v", hello, err)
	}
	if pongs := h.heard(at, wire.KindPong); len(pongs) != 1 || string(pongs[0]) != "\x01\x02" {
		t.Errorf("pongs %x", pongs)
	}
	if requests := h.heard(at, wire.KindRequest); len(requests) != 1 || string(requests[0]) != "\x01\x04wavehi" {
		t.Errorf("requests %q", requests)
	}
	if acks := h.heard(at, wire.KindAck); len(acks) != 1 || string(acks[0]) != "\x02" {
		t.Errorf("acks %x, two numbered frames were sent", acks)
	}
	hash := entityHash(1, 7, 0, 51, 3) + entityHash(40, 255, 0, 100, 0) + entityHash(41, 1, 1, 1)
	for _, want := range []string{
		"welcome you 3 kind authority instance i1 tick 99 rate 30\n",
		`member {"id":3,"name":"Ann"}` + "\n",
		fmt.Sprintf("tick 101 entities 3 hash %08x\n", hash),
		"event 101 boom ff00\n",
		"close 4400 left goodbye\n",
		"end 0\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no line %q in its output:\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "error") {
		t.Errorf("it complained:\n%s", out)
	}
}

func TestCClientTellsHowItEnded(t *testing.T) {
	t.Parallel()
	server := newEnds()
	server.onReceive = func(*link.Link, wire.Lane, []byte) *wire.Error {
		return wire.Errorf(wire.CodeRoomFull, "eight are in")
	}
	l := listen(t, enet.Options{}, server)
	binary := buildC(t, "main.c", "-O2")
	out, err := exec.CommandContext(t.Context(), binary, "--port", fmt.Sprint(l.Addr().Port())).Output()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 3 {
		t.Errorf("ended with %v", err)
	}
	if want := "close 4404 room_full eight are in\ndisconnected 4404\n"; !strings.Contains(string(out), want) {
		t.Errorf("printed %q, want %q", out, want)
	}
	if err := exec.CommandContext(t.Context(), binary, "--colour", "red").Run(); err == nil {
		t.Error("an unknown flag was taken")
	}
}
