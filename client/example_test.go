package client_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/authority/room"
	"github.com/gatehouse/gatehouse/client"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/session"
	"github.com/gatehouse/gatehouse/wire"
)

// Two members of a relay room. Here the server is in the same process; with
// client.WS("ws://localhost:8080/v1/ws", ws.DialOptions{}) for a dialer it is
// anywhere.
func ExampleJoin() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rooms := room.NewWorker(room.Options{
		OnDemand:  true,
		Templates: []room.Template{{Pattern: "*", Spec: authority.RoomSpec{Kind: authority.KindRelay}}},
	})
	defer rooms.Shutdown(ctx)
	sessions := session.NewManager(session.Options{Rooms: rooms, Admit: anyone{}})
	defer sessions.Close(ctx)
	dial := client.Memory(sessions, link.Options{}, link.Options{})

	heard := make(chan string)
	bob, err := client.Join(ctx, client.Options{
		Dialers: []client.Dialer{dial}, Room: "lobby", Identity: "bob",
		Handler: client.Handler{
			Relayed: func(_ wire.Lane, m wire.Relayed) { heard <- string(m.Payload) },
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ann, err := client.Join(ctx, client.Options{Dialers: []client.Dialer{dial}, Room: "lobby", Identity: "ann"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := ann.Relay(wire.Reliable, []byte("hello"), bob.You()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(<-heard)
	fmt.Println(ann.Leave(ctx), bob.Leave(ctx))
	// Output:
	// hello
	// <nil> <nil>
}
