package replica_test

import (
	"fmt"

	"github.com/gatehouse/gatehouse/authority/replica"
)

// A world of one kind of entity, a client that joins, and a tick in which
// something moves. Between the peer and the view the bytes would cross a link.
func Example() {
	schema := replica.MustSchema(replica.Type{Name: "ball", Fields: []replica.Field{
		{Name: "x", Min: -1000, Max: 1000, Unit: 0.01},
		{Name: "y", Min: -1000, Max: 1000, Unit: 0.01},
	}})

	// The game's side: spawn, set, commit once per tick.
	store := replica.NewStore(schema)
	ball := store.Spawn(0)
	store.Set(ball, 0, 250)
	store.Commit(1)

	// A client begins with everything, and acknowledges it.
	peer, view := replica.NewPeer(store), replica.NewView(schema)
	peer.Full(replica.Meta{}, replica.MaxChunkBytes, func(chunk []byte) {
		if _, _, err := view.ApplyFull(chunk); err != nil {
			panic(err)
		}
	})
	if err := peer.Ack(view.Ack()); err != nil {
		panic(err)
	}

	// From then on it gets what has changed.
	store.Set(ball, 1, -30)
	store.Commit(2)
	body, stats := peer.Delta(nil, replica.Meta{}, 1148)
	applied, err := view.Apply(body)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(body), "bytes,", stats.Entities, "entity, changed:", applied.Changed)
	fmt.Println("x", view.Get(ball, 0), "y", view.Get(ball, 1), "same world:", view.Hash() == store.Hash())
	entities, _ := store.AppendJSON(nil, 1<<10)
	fmt.Println(string(entities))
	// Output:
	// 7 bytes, 1 entity, changed: [1]
	// x 250 y -30 same world: true
	// [{"id":1,"type":"ball","x":2.5,"y":-0.3}]
}
