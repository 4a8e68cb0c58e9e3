package replica

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/wire"
)

// The golden vectors are a client's story: bodies in the order in which they
// arrive, and what is held and told after each. The clients in other languages
// are tested with the same file. -update writes it anew.
var update = flag.Bool("update", false, "write testdata/vectors.json")

const vectorsFile = "testdata/vectors.json"

type vectors struct {
	About  string       `json:"about"`
	Schema *Schema      `json:"schema"`
	Steps  []vectorStep `json:"steps"`
}

type vectorStep struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // full, snapshot
	Body string `json:"body"` // in hexadecimal
	// Error is what applying it must end in: resync or malformed; then nothing
	// has changed.
	Error string `json:"error,omitempty"`
	Done  bool   `json:"done"` // false for a chunk that waits for others
	Stale bool   `json:"stale,omitempty"`
	// Input is the last input applied, if the snapshot says.
	Input     *uint16        `json:"input,omitempty"`
	Spawned   []vectorEntity `json:"spawned"`
	Despawned []vectorEntity `json:"despawned"`
	Changed   []ID           `json:"changed"`
	// Then holds what is held afterwards.
	Then vectorWorld `json:"then"`
}

type vectorWorld struct {
	Tick     uint32         `json:"tick"`
	Missed   string         `json:"missed"` // what an input frame says, in hexadecimal
	Hash     uint32         `json:"hash"`
	Entities []vectorEntity `json:"entities"`
}

type vectorEntity struct {
	ID         ID      `json:"id"`
	Generation uint8   `json:"generation"`
	Type       int     `json:"type"`
	Reason     uint8   `json:"reason,omitempty"`
	Values     []int32 `json:"values,omitempty"`
}

// feed applies a body and notes what that did.
func feed(v *View, name, kind string, body []byte) vectorStep {
	step := vectorStep{
		Name: name, Kind: kind, Body: hex.EncodeToString(body),
		Spawned: []vectorEntity{}, Despawned: []vectorEntity{}, Changed: []ID{},
	}
	var a Applied
	var err error
	if step.Done = true; kind == "full" {
		a, step.Done, err = v.ApplyFull(body)
	} else {
		a, err = v.Apply(body)
	}
	switch {
	case errors.Is(err, ErrResync):
		step.Error, step.Done = "resync", false
	case err != nil:
		step.Error, step.Done = "malformed", false
	}
	step.Stale = a.Stale
	if a.HasInput {
		step.Input = &a.InputSeq
	}
	for _, id := range a.Spawned {
		step.Spawned = append(step.Spawned, vectorEntity{ID: id, Generation: v.Generation(id), Type: v.Type(id)})
	}
	for _, d := range a.Despawned {
		step.Despawned = append(step.Despawned, vectorEntity{ID: d.ID, Generation: d.Generation, Type: d.Type, Reason: d.Reason})
	}
	step.Changed = append(step.Changed, a.Changed...)
	tick, mask := v.Ack()
	step.Then = vectorWorld{Tick: tick, Missed: fmt.Sprintf("%016x", ^mask), Hash: v.Hash(), Entities: entitiesOf(&v.table)}
	return step
}

func entitiesOf(t *table) []vectorEntity {
	list := []vectorEntity{}
	for id := range t.All() {
		e := vectorEntity{ID: id, Generation: t.Generation(id), Type: t.Type(id)}
		for i := range t.row(id) {
			e.Values = append(e.Values, t.Get(id, i))
		}
		list = append(list, e)
	}
	return list
}

// story tells the vectors. After steps that bring the client up to date the
// store is the witness, not the view.
type story struct {
	pair
	steps []vectorStep
	input uint16
}

func (s *story) body() []byte {
	s.t.Helper()
	s.tick()
	body, stats := s.peer.Delta(nil, Meta{HasInput: true, InputSeq: s.input}, wire.MaxDatagram)
	if stats.Bytes == 0 {
		s.t.Fatal("no delta")
	}
	return body
}

func (s *story) snapshot(name string, body []byte) {
	s.steps = append(s.steps, feed(s.view, name, "snapshot", body))
}

func (s *story) fullChunks() (chunks [][]byte) {
	s.tick()
	s.peer.Full(Meta{HasInput: true, InputSeq: s.input}, MinChunkBytes, func(chunk []byte) {
		chunks = append(chunks, slices.Clone(chunk))
	})
	return chunks
}

func (s *story) full(name string, chunks [][]byte) {
	for i, chunk := range chunks {
		s.steps = append(s.steps, feed(s.view, fmt.Sprintf("%s, chunk %d of %d", name, i+1, len(chunks)), "full", chunk))
	}
}

func (s *story) fails(want string) {
	s.t.Helper()
	if got := s.steps[len(s.steps)-1].Error; got != want {
		s.t.Fatalf("%s: error %q, want %q", s.steps[len(s.steps)-1].Name, got, want)
	}
}

func tell(t *testing.T) []vectorStep {
	store := haste()
	s := &story{pair: *newPair(t, store), input: 65534}
	player, soon := store.Spawn(0), store.Spawn(0)
	store.growStore(40) // so that ids are far apart
	store.Spawn(0)
	store.growStore(4711)
	other := store.Spawn(0)
	store.Commit(1<<20 - 1)
	store.Set(player, 0, 12345)
	store.Set(player, 4, 30)

	early := s.body0()
	s.snapshot("a delta before any full snapshot", early)
	s.fails("resync")
	s.full("the first full snapshot", s.fullChunks())
	s.same()
	s.ack()
	s.snapshot("nothing changed", s.body())
	s.ack()

	store.Set(player, 0, 102400)
	store.Set(player, 3, -10)
	store.Set(other, 2, 255)
	s.input++
	s.snapshot("fields changed", s.body())
	s.same()
	s.ack()
	s.snapshot("the input is known to be known", s.body())

	shard, mark, door := store.Spawn(3), store.Spawn(2), store.Spawn(1)
	store.Set(shard, 0, -1<<31)
	store.Set(door, 0, 1)
	s.input++
	s.snapshot("three spawned", s.body())
	s.same()
	stale := s.body()
	store.Set(shard, 0, 1<<31-1)
	store.Set(shard, 1, 7)
	s.snapshot("the spawns repeated, one refreshed; a snapshot before was lost", s.body())
	s.same()
	s.snapshot("the lost one comes late", stale)
	s.ack()
	s.snapshot("nothing to repeat", s.body())
	s.ack()

	store.Despawn(mark, 9)
	store.Despawn(soon, 15)
	s.snapshot("two despawned", s.body())
	s.same()
	s.snapshot("the despawns repeated", s.body())
	s.ack()
	reused := store.Spawn(1)
	if store.Spawn(3); reused != mark {
		t.Fatalf("got id %d, want %d again", reused, mark)
	}
	s.snapshot("ids used again", s.body())
	s.same()
	s.ack()

	store.Despawn(reused, 1)
	store.Commit(store.Tick() + 1)
	if again := store.Spawn(0); again != reused {
		t.Fatalf("got id %d, want %d again", again, reused)
	}
	store.Set(reused, 0, 99)
	store.Set(player, 1, 1)
	s.peer.state[reused] = absent // as a server may that sends no despawn
	s.snapshot("a full record with another generation", s.body())
	s.same()
	s.ack()

	store.Commit(store.Tick() + 70)
	store.Set(player, 1, 2)
	s.snapshot("after a silence longer than the mask", s.body())
	s.same()

	store.Set(player, 1, 3)
	lost := s.body()
	if err := s.peer.Ack(store.Tick(), 0); err != nil {
		t.Fatal(err)
	}
	store.Set(player, 1, 4)
	s.snapshot("built on a snapshot that was lost", s.body())
	s.fails("resync")
	s.snapshot("cut off", lost[:len(lost)-1])
	s.fails("malformed")
	s.snapshot("the lost one, in time after all", lost)

	for i := range 40 {
		id := store.Spawn(0)
		store.Set(id, 0, int32(2560*i))
		store.Set(id, 1, int32(102400-1000*i))
		store.Set(id, 3, int32(i))
	}
	store.Despawn(door, 2)
	s.peer.Resync()
	torn := s.fullChunks()
	store.Set(player, 2, 128)
	s.peer.Resync()
	whole := s.fullChunks()
	s.full("a full snapshot that is torn", torn[:1])
	s.full("the one after", whole)
	s.same()
	s.full("out of turn", whole[1:2])
	s.fails("resync")
	s.ack()
	store.Set(player, 2, 0)
	s.snapshot("deltas again", s.body())
	s.same()
	return s.steps
}

// body0 is a delta for a client that has acknowledged what it never had.
func (s *story) body0() []byte {
	s.fullChunks()
	if err := s.peer.Ack(s.store.Tick(), 0); err != nil {
		s.t.Fatal(err)
	}
	body := s.body()
	s.peer.Resync()
	return body
}

func (v *vectors) encode(t *testing.T) []byte {
	var out bytes.Buffer
	line := func(format string, value any) {
		b, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, format, b)
	}
	line("{\n\"about\": %s,\n", v.About)
	line("\"schema\": %s,\n\"steps\": [\n", v.Schema)
	for i := range v.Steps {
		line("%s", v.Steps[i])
		if i < len(v.Steps)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]\n}\n")
	return out.Bytes()
}

func TestVectorsAreWhatTheServerSends(t *testing.T) {
	want := vectors{
		About:  "A client's story, in order: docs/protocol.md, Snapshots. Values are those of the fields in order, not in units.",
		Schema: testSchema(), Steps: tell(t),
	}
	encoded := want.encode(t)
	if *update {
		if err := os.WriteFile(vectorsFile, encoded, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, encoded) {
		t.Error("testdata/vectors.json is not what is sent now: the protocol has changed, or run with -update")
	}
}

func TestVectorsApply(t *testing.T) {
	b, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Schema json.RawMessage
		Steps  []vectorStep
	}
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	schema, err := ParseSchema(file.Schema)
	if err != nil {
		t.Fatal(err)
	}
	v := NewView(schema)
	for _, want := range file.Steps {
		body, err := hex.DecodeString(want.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := feed(v, want.Name, want.Kind, body); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\ngot  %+v\nwant %+v", want.Name, got, want)
		}
	}
}
