package admin

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

func (a *api) listSessions(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]any{"sessions": a.Sessions.Sessions()})
}

func (a *api) inspectSession(c echo.Context) error {
	state, ok := a.Sessions.Inspect(c.Param("id"))
	if !ok {
		return noSession()
	}
	return c.JSON(http.StatusOK, state)
}

// kicked answers a kick, and says what a kick is not.
type kicked struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// Banned is always false: the session is over and can not be resumed, but
	// who holds a good token may join again.
	Banned bool   `json:"banned"`
	Note   string `json:"note"`
}

func (a *api) kickSession(c echo.Context) error {
	reason, err := reasonOf(c)
	if err != nil {
		return err
	}
	id := c.Param("id")
	if !a.Sessions.Kick(id, reason) {
		return noSession()
	}
	a.changed(c, "session kicked", "session", id, "reason", reason)
	return c.JSON(http.StatusOK, kicked{ID: id, Reason: reason,
		Note: "the session is over; a token that is still good admits its holder again"})
}

func noSession() error { return echo.NewHTTPError(http.StatusNotFound, "there is no such session") }
