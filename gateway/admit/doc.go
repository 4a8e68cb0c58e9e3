// Package admit decides who comes in: join tokens, request origins, the real
// address behind proxies, rates per address, and the rules for names. It also
// writes the HTTP problems that everyone else is refused with.
//
// It knows nothing of sessions, rooms or transports: it answers questions about
// bytes and headers that came from outside. It starts no goroutines; everything
// here is safe for concurrent use.
package admit
