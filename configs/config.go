package configs

import (
	"net/netip"
)

// Config is the whole configuration. Range, enum and accept tags are checked
// when a value is read; what concerns several values, in validate.go.
type Config struct {
	// Dev opens the server for a developer: no tokens asked for, listeners on
	// this machine only, rooms made on demand. See dev.yaml for what it changes.
	Dev bool `yaml:"dev"`
	// Netsim makes every link worse, for trying a game out: for instance
	// "latency=80ms,jitter=20ms,loss=3%", in each direction. Empty for none; with
	// dev only.
	Netsim string `yaml:"netsim" accept:"settings such as latency=80ms,jitter=20ms,loss=3%"`

	HTTP     HTTP     `yaml:"http"`
	RTC      RTC      `yaml:"rtc"`
	ENet     ENet     `yaml:"enet"`
	Admin    Admin    `yaml:"admin"`
	Auth     Auth     `yaml:"auth"`
	Sessions Sessions `yaml:"sessions"`
	Rooms    Rooms    `yaml:"rooms"`
	Limits   Limits   `yaml:"limits"`
	Web      Web      `yaml:"web"`
	Log      Log      `yaml:"log"`

	sources sources // where each value came from, by path
}

// HTTP is the public listener: WebSocket, WebRTC signaling, the list of rooms
// and the pages.
type HTTP struct {
	// Listen is the TCP address.
	Listen Listen `yaml:"listen"`
	// Origins are the web pages, besides the server's own, that may connect:
	// scheme, host and port, exactly. Pages of this machine may, with dev.
	Origins []string `yaml:"origins" accept:"origins such as https://play.example.org"`
	// TrustedProxies are the networks of the proxies in front of this server,
	// whose word about a client's address is taken. Empty: nobody's.
	TrustedProxies []Network `yaml:"trusted_proxies"`
	// ProxyHeader is the one header that those proxies write.
	ProxyHeader string `yaml:"proxy_header" enum:"X-Forwarded-For|Forwarded"`
}

// RTC is where WebRTC packets arrive: one port for all peers.
type RTC struct {
	// UDPListen is the UDP address; off turns WebRTC off.
	UDPListen Listen `yaml:"udp_listen"`
	// TCPListen is the address for clients behind networks without UDP; off for
	// none.
	TCPListen Listen `yaml:"tcp_listen"`
	// ExternalIPs are the addresses under which clients reach this machine,
	// where they differ from its own: behind a 1:1 NAT, in a container.
	ExternalIPs []netip.Addr `yaml:"external_ips" accept:"IP addresses such as 203.0.113.7"`
}

// ENet is the listener of native clients.
type ENet struct {
	// Listen is the UDP address, IPv4 only as that library is; off for none.
	Listen Listen `yaml:"listen"`
	// MaxPeers bounds the connections; the library has room for 4,095.
	MaxPeers int `yaml:"max_peers" range:"1..4095"`
}

// Admin is the operators' listener: admin API, metrics, health.
type Admin struct {
	// Listen is the TCP address; off for none.
	Listen Listen `yaml:"listen"`
	// Token that operators present. Needed unless dev.
	Token Secret `yaml:"token"`
	// TokenFile holds it instead of GATEHOUSE_ADMIN_TOKEN.
	TokenFile string `yaml:"token_file" accept:"the path of a file"`
}

// Auth is about join tokens.
type Auth struct {
	// Secret under which join tokens are signed (HS256). Without one, which
	// needs dev, everybody may join as whoever they say.
	Secret Secret `yaml:"secret"`
	// SecretFile holds it instead of GATEHOUSE_AUTH_SECRET.
	SecretFile string `yaml:"secret_file" accept:"the path of a file"`
}

// Sessions bounds each player's session.
type Sessions struct {
	// PingInterval: an end that has sent nothing for this long sends a ping.
	PingInterval Duration `yaml:"ping_interval" range:"50ms..5m"`
	// PingTimeout: a link that nothing was heard on for this long is given up.
	PingTimeout Duration `yaml:"ping_timeout" range:"100ms..15m"`
	// JoinTimeout is how long a link may take to say hello.
	JoinTimeout Duration `yaml:"join_timeout" range:"100ms..5m"`
	// ResumeGrace is how long a session outlives its last link.
	ResumeGrace Duration `yaml:"resume_grace" range:"0s..1h"`
	// Outbox bounds what one session has queued or unacknowledged on its
	// reliable lane; beyond it the link is closed with slow_consumer. At least
	// two of the largest messages.
	Outbox Size `yaml:"outbox" range:"128KiB..64MiB"`
	// MaxSessions bounds the sessions, those away included.
	MaxSessions int `yaml:"max_sessions" range:"1..1000000"`
	// MessagesPerSecond bounds what one session may send, frames of any kind.
	MessagesPerSecond int `yaml:"messages_per_second" range:"1..100000"`
	// DrainDeadline is how long sessions may go on after the server was told to
	// end.
	DrainDeadline Duration `yaml:"drain_deadline" range:"0s..24h"`
}

// Rooms says which rooms there may be.
type Rooms struct {
	// OnDemand: the first join makes a room, if a template matches its name.
	// Otherwise operators make rooms.
	OnDemand bool `yaml:"on_demand"`
	// MaxRooms bounds the rooms.
	MaxRooms int `yaml:"max_rooms" range:"1..100000"`
	// TickRate of rooms of kind authority, in Hz, unless their template says.
	TickRate int `yaml:"tick_rate" range:"1..120"`
	// Cap is the most members of a room, unless its template says.
	Cap int `yaml:"cap" range:"1..10000"`
	// EmptyTimeout closes a room that has had no member for this long, unless
	// its template says.
	EmptyTimeout Duration `yaml:"empty_timeout" range:"100ms..24h|never"`
	// Templates: the first that matches a room's name shapes it.
	Templates []Template `yaml:"templates" accept:"a list of templates"`
}

// Template shapes the rooms of some names.
type Template struct {
	// Match is a pattern for the whole name: * is any run of characters, ? any
	// one, [a-z] one of a range.
	Match string `yaml:"match" accept:"a pattern such as arena*"`
	// Kind of the room.
	Kind string `yaml:"kind" enum:"relay|authority"`
	// Game that simulates it; for kind authority only.
	Game string `yaml:"game" accept:"the name of a game"`
	// TickRate, Cap and EmptyTimeout where they differ from those of all rooms.
	TickRate     int      `yaml:"tick_rate" range:"1..120"`
	Cap          int      `yaml:"cap" range:"1..10000"`
	EmptyTimeout Duration `yaml:"empty_timeout" range:"100ms..24h|never"`
}

// Limits bounds what one address may do. An IPv6 address counts as its /64.
type Limits struct {
	// ConnectsPerSecond is the sustained rate of new links and of requests for
	// signaling.
	ConnectsPerSecond int `yaml:"connects_per_second" range:"1..1000000"`
	// ConnectsBurst is how many may come at once.
	ConnectsBurst int `yaml:"connects_burst" range:"1..1000000"`
}

// Web is about the pages.
type Web struct {
	// Dir holds the built pages; empty for none.
	Dir string `yaml:"dir" accept:"the path of a directory"`
}

// Log is about the process's own records, on standard error.
type Log struct {
	// Level is the least that is written.
	Level string `yaml:"level" enum:"debug|info|warn|error"`
	// Format of a record: a line of text, or a JSON object.
	Format string `yaml:"format" enum:"text|json"`
}
