// Command bench measures what relaying a message costs, next to a floor: the
// least that a relay over the same library can do.
//
// Rooms of eight; each player sends 64 bytes at 20 Hz, and each message goes to
// the other seven. The server process has one core, the players another. For
// each transport Gatehouse and its floor (floor/ws over coder/websocket,
// floor/rtc over pion, floor/enet.c over libenet) are driven in turns, step by
// step, with the same load client and the same bytes, so that a machine that is
// busy elsewhere is unfair to both alike. Rooms are added until the 99th
// percentile of the latency passes 50 ms or messages go missing, then the limit
// is closed in on. Reported are the most deliveries per second and the server's
// CPU time per delivery there.
//
// The load clients speak the wire protocol themselves (WebSocket frames over
// epoll, libenet, pion) instead of using package client: a load generator must
// cost less than what it loads.
//
// The module is one of its own so that nobody who builds Gatehouse needs what
// only the floors need.
package main
