package admit

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/wire"
)

const (
	// MinSecretBytes is the shortest key for tokens: HS256 asks for one as long
	// as its hash (RFC 7518 §3.2); a shorter one can be guessed offline from any
	// one token.
	MinSecretBytes = 32
	// MaxTokenBytes bounds what Verify looks at.
	MaxTokenBytes = 4096
	// Leeway is how far a clock may be off: a token is good that long after its
	// expiry and before its start.
	Leeway = 5 * time.Second
	// AnyRoom in a grant admits to every room.
	AnyRoom = "*"
)

// Grant is what a join token says.
type Grant struct {
	// Identity is who the holder is: the claim "sub".
	Identity string
	// Room is the one room that it admits to, or [AnyRoom]: the claim "room".
	Room string
	// Name to show to others; may be empty: the claim "name".
	Name string
	// Expires is when the token ends: the claim "exp".
	Expires time.Time
}

// Tokens mints and verifies join tokens: JWTs signed with HS256.
type Tokens struct {
	secret []byte
	parser *jwt.Parser
}

// NewTokens returns tokens under a secret of at least [MinSecretBytes].
func NewTokens(secret []byte) (*Tokens, error) {
	if len(secret) < MinSecretBytes {
		return nil, fmt.Errorf("token secret has %d bytes, at least %d are needed", len(secret), MinSecretBytes)
	}
	return &Tokens{
		secret: append([]byte(nil), secret...),
		parser: jwt.NewParser(
			// The algorithm is ours to choose, never the token's: "none" and
			// keys of another kind are the classic forgeries (RFC 8725 §3.1).
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithExpirationRequired(),
			jwt.WithLeeway(Leeway),
			jwt.WithStrictDecoding(),
		),
	}, nil
}

type claims struct {
	Room string `json:"room"`
	Name string `json:"name,omitempty"`
	jwt.RegisteredClaims
}

// Mint returns a token for the grant, which must name an identity, a room and an
// expiry.
func (t *Tokens) Mint(g Grant) (string, error) {
	if err := g.check(); err != nil {
		return "", err
	}
	if g.Expires.IsZero() {
		return "", errors.New("expiry: missing")
	}
	c := claims{Room: g.Room, Name: g.Name, RegisteredClaims: jwt.RegisteredClaims{
		Subject:   g.Identity,
		IssuedAt:  jwt.NewNumericDate(time.Now()),
		ExpiresAt: jwt.NewNumericDate(g.Expires),
	}}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(t.secret)
}

// Verify returns the grant of a token that is good now and admits to the room.
// The error has the code unauthorized or token_expired and never repeats what
// the token says.
func (t *Tokens) Verify(token, room string) (Grant, *wire.Error) {
	g, err := t.Read(token)
	if err != nil {
		return Grant{}, err
	}
	if g.Room != AnyRoom && g.Room != room {
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "the token is for another room")
	}
	return g, nil
}

// Read is Verify for whatever room the token names.
func (t *Tokens) Read(token string) (Grant, *wire.Error) {
	switch {
	case token == "":
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "a token is needed")
	case len(token) > MaxTokenBytes:
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "the token is longer than %d bytes", MaxTokenBytes)
	}
	var c claims
	_, err := t.parser.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return t.secret, nil })
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return Grant{}, wire.Errorf(wire.CodeExpired, "the token has expired")
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "the token is not valid yet")
	case err != nil:
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "the token is not valid")
	}
	g := Grant{Identity: c.Subject, Room: c.Room, Name: c.Name, Expires: c.ExpiresAt.Time}
	if err := g.check(); err != nil {
		return Grant{}, wire.Errorf(wire.CodeUnauthorized, "the token's %v", err)
	}
	return g, nil
}

func (g Grant) check() error {
	if err := Identity(g.Identity); err != nil {
		return fmt.Errorf("identity: %w", err)
	}
	if g.Room != AnyRoom {
		if err := RoomName(g.Room); err != nil {
			return fmt.Errorf("room: %w", err)
		}
	}
	if g.Name != "" {
		if err := DisplayName(g.Name); err != nil {
			return fmt.Errorf("name: %w", err)
		}
	}
	return nil
}
