// Package faults holds tests only: the faults that people have reported of
// servers like this one, tried on a whole gateway over real sockets, with every
// transport.
//
// The clients of these tests speak the protocol byte by byte over the transports'
// own libraries and share no line with packages link and client: ws_test.go,
// rtc_test.go and enet_test.go know how to connect, to fall silent, to stop
// reading, to die; player_test.go speaks frames; house_test.go runs the server
// and zoo_test.go the game in it. The other files are the faults, one each.
//
// It owns nothing and nothing may import it.
package faults
