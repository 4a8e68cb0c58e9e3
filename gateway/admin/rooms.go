package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/gatehouse/gatehouse/authority"
	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/wire"
)

// maxBody bounds the body of a request, in bytes.
const maxBody = 16 << 10

func (a *api) listRooms(c echo.Context) error {
	rooms, err := a.Rooms.List(c.Request().Context())
	if err != nil {
		return problem(err)
	}
	return c.JSON(http.StatusOK, map[string]any{"rooms": rooms})
}

// newRoom is the body of POST rooms: a [authority.RoomSpec] with its duration as
// people write it.
type newRoom struct {
	authority.RoomSpec
	// EmptyTimeout as "30s", or "never".
	EmptyTimeout string `json:"empty_timeout"`
}

func (a *api) createRoom(c echo.Context) error {
	var body newRoom
	if err := decode(c, &body); err != nil {
		return err
	}
	if err := admit.RoomName(body.Name); err != nil {
		return wire.Errorf(wire.CodeBadName, "name: %v", err)
	}
	switch d, err := time.ParseDuration(body.EmptyTimeout); {
	case body.EmptyTimeout == "":
	case body.EmptyTimeout == "never":
		body.RoomSpec.EmptyTimeout = -1
	case err != nil || d <= 0:
		return wire.Errorf(wire.CodeProtocol, `empty_timeout: %.40q; accepted: a duration with its unit, as in 30s, or never`, body.EmptyTimeout)
	default:
		body.RoomSpec.EmptyTimeout = d
	}
	if !a.Ready() {
		return wire.Errorf(wire.CodeGoingAway, "the server takes no new rooms")
	}
	room, err := a.Rooms.Create(c.Request().Context(), body.RoomSpec)
	if err != nil {
		return problem(err)
	}
	a.changed(c, "room made", "room", room.Name, "kind", room.Kind, "game", room.Game)
	c.Response().Header().Set(echo.HeaderLocation, "/admin/v1/rooms/"+url.PathEscape(room.Name))
	return c.JSON(http.StatusCreated, room)
}

func (a *api) inspectRoom(c echo.Context) error {
	name, err := roomName(c)
	if err != nil {
		return err
	}
	room, failed := a.Rooms.Inspect(c.Request().Context(), name)
	if failed != nil {
		return problem(failed)
	}
	return c.JSON(http.StatusOK, room)
}

func (a *api) updateRoom(c echo.Context) error {
	name, err := roomName(c)
	if err != nil {
		return err
	}
	var update authority.RoomUpdate
	if err := decode(c, &update); err != nil {
		return err
	}
	room, failed := a.Rooms.Update(c.Request().Context(), name, update)
	if failed != nil {
		return problem(failed)
	}
	a.changed(c, "room changed", "room", name, "cap", room.Cap)
	return c.JSON(http.StatusOK, room)
}

func (a *api) closeRoom(c echo.Context) error {
	name, err := roomName(c)
	if err != nil {
		return err
	}
	reason, err := reasonOf(c)
	if err != nil {
		return err
	}
	if err := a.Rooms.Close(c.Request().Context(), name, reason); err != nil {
		return problem(err)
	}
	a.changed(c, "room closed", "room", name, "reason", reason)
	return c.NoContent(http.StatusNoContent)
}

// roomName returns the name in the path, decoded once.
func roomName(c echo.Context) (string, error) {
	name := c.Param("*")
	if c.Request().URL.RawPath != "" { // then the router has not decoded it
		decoded, err := url.PathUnescape(name)
		if err != nil {
			return "", wire.Errorf(wire.CodeBadName, "the room's name is not encoded as a URL asks for")
		}
		name = decoded
	}
	if err := admit.RoomName(name); err != nil {
		return "", wire.Errorf(wire.CodeBadName, "the room's name %v", err)
	}
	return name, nil
}

// reasonOf returns the query parameter reason: text that members are shown.
func reasonOf(c echo.Context) (string, error) {
	reason := c.QueryParam("reason")
	if len(reason) > maxReason {
		return "", wire.Errorf(wire.CodeTooBig, "reason: %d bytes; accepted: at most %d", len(reason), maxReason)
	}
	if reason == "" {
		return "", nil
	}
	if err := admit.Text(reason); err != nil {
		return "", wire.Errorf(wire.CodeProtocol, "reason: %v", err)
	}
	return reason, nil
}

// maxReason bounds a reason so that it fits a WebSocket close frame
// (RFC 6455 §5.5), in bytes.
const maxReason = 120

// decode reads a JSON body into v. A field that is not known is refused: it was
// meant to do something.
func decode(c echo.Context, v any) error {
	d := json.NewDecoder(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	var (
		tooBig *http.MaxBytesError
		typed  *json.UnmarshalTypeError
	)
	switch {
	case errors.As(err, &tooBig):
		return wire.Errorf(wire.CodeTooBig, "the body has more than %d bytes", maxBody)
	case errors.As(err, &typed) && typed.Field != "":
		field := typed.Field[strings.LastIndexByte(typed.Field, '.')+1:] // without the struct it is embedded in
		return wire.Errorf(wire.CodeProtocol, "%s: can not be a %s; accepted fields: %s", field, typed.Value, fieldsOf(v))
	case errors.As(err, &typed):
		return wire.Errorf(wire.CodeProtocol, "the body is a JSON %s; accepted: an object with the fields %s", typed.Value, fieldsOf(v))
	case err == io.EOF:
		return wire.Errorf(wire.CodeProtocol, "the body is empty; accepted: a JSON object with the fields %s", fieldsOf(v))
	case err != nil: // a syntax error, or a field by its name
		return wire.Errorf(wire.CodeProtocol, "the body: %s; accepted: a JSON object with the fields %s", strings.TrimPrefix(err.Error(), "json: "), fieldsOf(v))
	}
	if _, err := d.Token(); err != io.EOF {
		return wire.Errorf(wire.CodeProtocol, "the body has something after its JSON value")
	}
	return nil
}

// fieldsOf names the fields that v, a pointer to a struct, takes from JSON.
func fieldsOf(v any) string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// problem finds the code of an error of the worker, whose plain errors are about
// what was asked for.
func problem(err error) error {
	var coded *wire.Error
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.Is(err, context.DeadlineExceeded):
		return wire.Errorf(wire.CodeOverloaded, "the room did not answer within %s", timeout)
	case errors.Is(err, authority.ErrExists):
		return echo.NewHTTPError(http.StatusConflict, err.Error())
	}
	return echo.NewHTTPError(http.StatusBadRequest, err.Error())
}
