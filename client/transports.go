package client

import (
	"context"

	"github.com/gatehouse/gatehouse/gateway/enet"
	"github.com/gatehouse/gatehouse/gateway/link"
	"github.com/gatehouse/gatehouse/gateway/rtc"
	"github.com/gatehouse/gatehouse/gateway/ws"
)

// WS dials a WebSocket endpoint: ws://host:8080/v1/ws, or wss. The options may
// be the zero value, but must not ask for the JSON dialect.
func WS(url string, o ws.DialOptions) Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		return ws.Dial(ctx, url, h, o)
	}
}

// RTC connects over WebRTC to the server whose HTTP listener is at base
// (https://host). The options may be the zero value.
func RTC(base string, o rtc.DialOptions) Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		return rtc.Dial(ctx, base, h, o)
	}
}

// ENet connects to an ENet listener at addr (host:7777). The options may be the
// zero value.
func ENet(addr string, o enet.DialOptions) Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		return enet.Dial(ctx, addr, h, o)
	}
}

// Memory joins the client to a handler in the same process over an in-memory
// pair with two lanes, conditioned by each side's options.
func Memory(server link.Handler, client, serverSide link.Options) Dialer {
	return memory(link.Pair, server, client, serverSide)
}

// MemoryOneStream is [Memory] with one stream for both lanes, as a WebSocket has.
func MemoryOneStream(server link.Handler, client, serverSide link.Options) Dialer {
	return memory(link.PairOneStream, server, client, serverSide)
}

type pair func(a, b link.Handler, oa, ob link.Options) (*link.Link, *link.Link)

func memory(join pair, server link.Handler, client, serverSide link.Options) Dialer {
	return func(ctx context.Context, h link.Handler) (*link.Link, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, _ := join(h, server, client, serverSide)
		return l, nil
	}
}
