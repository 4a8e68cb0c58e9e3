package wire

import "fmt"

// Code says why a link or a session ended, or why a request was refused. One
// table serves every transport: it is the WebSocket close code, the ENet
// disconnect data, the code of a close frame and the "code" of an HTTP problem.
//
// 4000 to 4399 invite the client to come back (with back-off); 4400 to 4999 are
// terminal: the same attempt would fail again.
type Code uint16

// Codes. The comment is what a person should know.
const (
	// CodeNone: no code; a response with it is a success.
	CodeNone Code = 0

	CodeGoingAway    Code = 4000 // the server restarts or drains; come back elsewhere
	CodeSlowConsumer Code = 4001 // the client read too slowly and its queue overflowed
	CodeTimeout      Code = 4002 // nothing was heard within the ping timeout
	CodeJoinTimeout  Code = 4003 // no hello within the join timeout
	CodeOverloaded   Code = 4004 // no capacity just now
	CodeInternal     Code = 4005 // a fault of the server
	CodeRoomFailed   Code = 4006 // the room crashed and was ended

	CodeLeft             Code = 4400 // the client left of its own will
	CodeKicked           Code = 4401 // an operator removed the session
	CodeDuplicate        Code = 4402 // the same identity joined from elsewhere
	CodeRoomClosed       Code = 4403 // the room was closed
	CodeRoomFull         Code = 4404 // the room is at its cap
	CodeNoRoom           Code = 4405 // no such room, and none may be made
	CodeUnauthorized     Code = 4406 // the token is missing, wrong or for another room
	CodeExpired          Code = 4407 // the token has expired
	CodeSessionExpired   Code = 4408 // the resume came too late or its secret is wrong: join afresh
	CodeVersion          Code = 4409 // no protocol version in common
	CodeProtocol         Code = 4410 // the client broke the protocol
	CodeTooBig           Code = 4411 // a message was larger than the announced limit
	CodeRateLimited      Code = 4412 // the client sent too much
	CodeBadName          Code = 4413 // a name breaks the naming rule
	CodeForbidden        Code = 4414 // the origin or address is not admitted
	CodeReplaced         Code = 4415 // the session went on over another link
	CodeUnknownRequest   Code = 4420 // the game knows no such request
	CodeRequestRefused   Code = 4421 // the game refused the request
	CodeGap              Code = 4422 // the request was lost with the state of its session
	CodeResyncTooOften   Code = 4423 // at most one resync a second
	CodeDuplicateRequest Code = 4424 // a spent request id whose response is no longer kept
)

type codeInfo struct{ name, text string }

var codes = map[Code]codeInfo{
	CodeNone:             {"ok", "success"},
	CodeGoingAway:        {"going_away", "the server is going away; reconnect elsewhere"},
	CodeSlowConsumer:     {"slow_consumer", "messages were read too slowly"},
	CodeTimeout:          {"timeout", "nothing was heard for too long"},
	CodeJoinTimeout:      {"join_timeout", "no hello came in time"},
	CodeOverloaded:       {"overloaded", "the server has no capacity just now"},
	CodeInternal:         {"internal", "the server failed"},
	CodeReplaced:         {"replaced", "the session went on over another connection"},
	CodeRoomFailed:       {"room_failed", "the room failed and was ended"},
	CodeLeft:             {"left", "the client left"},
	CodeKicked:           {"kicked", "an operator removed the session"},
	CodeDuplicate:        {"duplicate_identity", "the same identity joined from elsewhere"},
	CodeRoomClosed:       {"room_closed", "the room was closed"},
	CodeRoomFull:         {"room_full", "the room is full"},
	CodeNoRoom:           {"no_room", "there is no such room"},
	CodeUnauthorized:     {"unauthorized", "the token does not admit to this room"},
	CodeExpired:          {"token_expired", "the token has expired"},
	CodeSessionExpired:   {"session_expired", "the session can not be resumed; join afresh"},
	CodeVersion:          {"version", "no protocol version in common"},
	CodeProtocol:         {"protocol", "the protocol was broken"},
	CodeTooBig:           {"too_big", "a message was larger than the limit"},
	CodeRateLimited:      {"rate_limited", "too many messages"},
	CodeBadName:          {"bad_name", "a name breaks the naming rule"},
	CodeForbidden:        {"forbidden", "not admitted from here"},
	CodeUnknownRequest:   {"unknown_request", "the game knows no such request"},
	CodeRequestRefused:   {"refused", "the game refused the request"},
	CodeGap:              {"gap", "lost with the state of the session"},
	CodeResyncTooOften:   {"resync_too_often", "at most one resync a second"},
	CodeDuplicateRequest: {"duplicate_request", "the response of this request id is no longer kept"},
}

// Codes returns every code of the table, for documentation and for the SDK's
// own test against it.
func Codes() []Code {
	all := make([]Code, 0, len(codes))
	for c := range codes {
		all = append(all, c)
	}
	return all
}

// Retry reports whether a client may try again by itself.
func (c Code) Retry() bool { return c >= 4000 && c < 4400 }

// Name returns the code's name on the wire and in metrics, or "code_N".
func (c Code) Name() string {
	if i, ok := codes[c]; ok {
		return i.name
	}
	return fmt.Sprintf("code_%d", uint16(c))
}

// Text returns a sentence for a person.
func (c Code) Text() string {
	if i, ok := codes[c]; ok {
		return i.text
	}
	return "unknown code"
}

// Error is a code with a reason: the error that everything which closes a link
// or refuses a join returns.
type Error struct {
	Code Code
	// Reason says what exactly was wrong; it may be shown to the client.
	Reason string
}

// Errorf returns an [*Error].
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Reason: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string {
	if e.Reason == "" {
		return e.Code.Name() + ": " + e.Code.Text()
	}
	return e.Code.Name() + ": " + e.Reason
}

// Is makes errors.Is(err, &Error{Code: c}) true for equal codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}
