package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/gatehouse/gatehouse/wire"
)

// failure is why a bot could not join or had to go, and what to do about it, if
// that can be said.
type failure struct{ what, next string }

// explain puts an error in the words of whoever started the bots.
func (c *botCmd) explain(err error) failure {
	var e *wire.Error
	switch {
	case errors.As(err, &e):
		return failure{e.Error(), nextStep(e.Code)}
	case c.Transport == "enet" && errors.Is(err, context.DeadlineExceeded):
		return failure{what: fmt.Sprintf("no answer from %s (UDP): is the server running?", c.address())}
	case errors.Is(err, context.DeadlineExceeded):
		return failure{what: fmt.Sprintf("no answer from %s in time: is the server running?", c.address())}
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure{what: fmt.Sprintf("%s refuses connections: is the server running?", c.address())}
	}
	return failure{what: err.Error()}
}

func nextStep(c wire.Code) string {
	switch c {
	case wire.CodeNoRoom:
		return "create it: POST /admin/v1/rooms, or set rooms.on_demand and add a rooms.templates entry"
	case wire.CodeUnauthorized:
		return "set GATEHOUSE_AUTH_SECRET or --secret-file to the server's own secret"
	case wire.CodeRoomFull:
		return "let fewer play, or raise the cap: PATCH /admin/v1/rooms/NAME"
	case wire.CodeRateLimited:
		return "let them come slower: --rate, or raise limits.connects_per_second and connects_burst"
	}
	return ""
}
