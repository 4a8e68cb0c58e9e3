// Package admin is the operators' HTTP API, on a listener of its own: rooms are
// created, listed, inspected, changed and closed, sessions listed, inspected and
// kicked. /metrics is here too, and /healthz and /readyz, which ask for no token.
//
// It sees rooms and sessions through [authority.Control] and [Sessions] only. It
// starts no goroutines; its requests may wait for a room, at most the request
// timeout. docs/operating.md tells of each route.
package admin
