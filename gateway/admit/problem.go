package admit

import (
	"encoding/json"
	"net/http"

	"github.com/gatehouse/gatehouse/wire"
)

// ProblemType is the media type of an HTTP problem (RFC 9457).
const ProblemType = "application/problem+json"

// Problem is the body of every HTTP error.
type Problem struct {
	// Type is "urn:gatehouse:problem:NAME" with the code's name, or about:blank
	// for what HTTP itself says already.
	Type string `json:"type"`
	// Title is the same for all problems of a type.
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail is about this one.
	Detail string `json:"detail,omitempty"`
	// Code of the table that closes links too; absent with about:blank.
	Code wire.Code `json:"code,omitempty"`
}

// ProblemOf returns the problem that tells of e.
func ProblemOf(e *wire.Error) Problem {
	return Problem{
		Type:   "urn:gatehouse:problem:" + e.Code.Name(),
		Title:  e.Code.Text(),
		Status: Status(e.Code),
		Detail: e.Reason,
		Code:   e.Code,
	}
}

// Blank returns the problem for a plain HTTP status.
func Blank(status int, detail string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

// Write sends the problem as the response.
func (p Problem) Write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", ProblemType)
	h.Set("Cache-Control", "no-store")
	switch p.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="gatehouse"`)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		h.Set("Retry-After", "1")
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client has gone, if it fails
}

// WriteProblem sends e as the response.
func WriteProblem(w http.ResponseWriter, e *wire.Error) { ProblemOf(e).Write(w) }

// Status returns the HTTP status that goes with a code.
func Status(c wire.Code) int {
	switch c {
	case wire.CodeUnauthorized, wire.CodeExpired:
		return http.StatusUnauthorized
	case wire.CodeForbidden, wire.CodeKicked:
		return http.StatusForbidden
	case wire.CodeNoRoom:
		return http.StatusNotFound
	case wire.CodeDuplicate, wire.CodeRoomFull:
		return http.StatusConflict
	case wire.CodeRoomClosed, wire.CodeSessionExpired, wire.CodeLeft, wire.CodeReplaced:
		return http.StatusGone
	case wire.CodeTooBig:
		return http.StatusRequestEntityTooLarge
	case wire.CodeRateLimited, wire.CodeResyncTooOften:
		return http.StatusTooManyRequests
	case wire.CodeTimeout, wire.CodeJoinTimeout:
		return http.StatusRequestTimeout
	case wire.CodeGoingAway, wire.CodeOverloaded, wire.CodeSlowConsumer:
		return http.StatusServiceUnavailable
	case wire.CodeInternal, wire.CodeRoomFailed, wire.CodeNone:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}
