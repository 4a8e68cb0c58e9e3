package admit

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/gatehouse/gatehouse/wire"
)

// NewRouter returns an empty HTTP router whose every error is a problem, and
// which knows clients by the same address as everybody else here.
func NewRouter(p Proxies) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = handleError
	e.IPExtractor = func(r *http.Request) string { return p.Address(r).Addr().String() }
	return e
}

// handleError writes what a handler returned. What is not meant for clients is
// not shown to them.
func handleError(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var (
		coded *wire.Error
		plain *echo.HTTPError
	)
	switch {
	case errors.As(err, &coded):
		WriteProblem(c.Response(), coded)
	case errors.As(err, &plain):
		Blank(plain.Code, detailOf(plain, c)).Write(c.Response())
	default:
		WriteProblem(c.Response(), wire.Errorf(wire.CodeInternal, ""))
	}
}

func detailOf(e *echo.HTTPError, c echo.Context) string {
	switch {
	case e == echo.ErrNotFound:
		return "there is nothing here"
	case e.Code == http.StatusMethodNotAllowed:
		return fmt.Sprintf("%s is not among: %s", c.Request().Method, c.Response().Header().Get(echo.HeaderAllow))
	}
	return fmt.Sprint(e.Message)
}
