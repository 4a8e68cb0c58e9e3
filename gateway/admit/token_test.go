package admit_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/gatehouse/gatehouse/gateway/admit"
	"github.com/gatehouse/gatehouse/wire"
)

const secret = "0123456789abcdef0123456789abcdef"

func newTokens(t testing.TB, secret string) *admit.Tokens {
	t.Helper()
	tokens, err := admit.NewTokens([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, secret)
	want := admit.Grant{Identity: "ann", Room: "部屋1", Name: "Ann <3", Expires: time.Now().Add(time.Hour).Truncate(time.Second)}
	token, err := tokens.Mint(want)
	if err != nil {
		t.Fatal(err)
	}
	got, e := tokens.Verify(token, "部屋1")
	if e != nil {
		t.Fatal(e)
	}
	if !got.Expires.Equal(want.Expires) {
		t.Errorf("expires %v, want %v", got.Expires, want.Expires)
	}
	got.Expires = want.Expires
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if _, e := tokens.Verify(token, "other"); e == nil || e.Code != wire.CodeUnauthorized {
		t.Errorf("another room: %v, want unauthorized", e)
	}
}

func TestTokenForAnyRoom(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, secret)
	token, err := tokens.Mint(admit.Grant{Identity: "ann", Room: admit.AnyRoom, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []string{"a", "b"} {
		if _, e := tokens.Verify(token, room); e != nil {
			t.Errorf("room %s: %v", room, e)
		}
	}
}

func TestTokenEndsAtItsExpiryPlusLeeway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tokens := newTokens(t, secret)
		token, err := tokens.Mint(admit.Grant{Identity: "ann", Room: "a", Expires: time.Now().Add(time.Minute)})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute + admit.Leeway - time.Second)
		if _, e := tokens.Verify(token, "a"); e != nil {
			t.Errorf("within the leeway: %v", e)
		}
		time.Sleep(2 * time.Second)
		if _, e := tokens.Verify(token, "a"); e == nil || e.Code != wire.CodeExpired {
			t.Errorf("after the leeway: %v, want token_expired", e)
		}
	})
}

func TestForgedTokensAreRefusedAlike(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, secret)
	good := jwt.MapClaims{"sub": "ann", "room": "a", "exp": time.Now().Add(time.Hour).Unix()}
	without := func(name string) jwt.MapClaims {
		c := jwt.MapClaims{}
		for k, v := range good {
			if k != name {
				c[k] = v
			}
		}
		return c
	}
	with := func(name string, v any) jwt.MapClaims {
		c := without(name)
		c[name] = v
		return c
	}
	sign := func(m jwt.SigningMethod, key any, c jwt.MapClaims) string {
		s, err := jwt.NewWithClaims(m, c).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	valid := sign(jwt.SigningMethodHS256, []byte(secret), good)
	if _, e := tokens.Verify(valid, "a"); e != nil {
		t.Fatal(e)
	}
	parts := strings.Split(valid, ".")
	cases := map[string]string{
		"empty":              "",
		"words":              "not a token",
		"other secret":       sign(jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), good),
		"algorithm none":     sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good),
		"algorithm HS512":    sign(jwt.SigningMethodHS512, []byte(secret), good),
		"signature cut off":  parts[0] + "." + parts[1] + ".",
		"payload exchanged":  parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"bob","room":"a","exp":9999999999}`)) + "." + parts[2],
		"without expiry":     sign(jwt.SigningMethodHS256, []byte(secret), without("exp")),
		"expiry is a string": sign(jwt.SigningMethodHS256, []byte(secret), with("exp", "tomorrow")),
		"without subject":    sign(jwt.SigningMethodHS256, []byte(secret), without("sub")),
		"without room":       sign(jwt.SigningMethodHS256, []byte(secret), without("room")),
		"room breaks rule":   sign(jwt.SigningMethodHS256, []byte(secret), with("room", "../a")),
		"name breaks rule":   sign(jwt.SigningMethodHS256, []byte(secret), with("name", "a\nb")),
		"not valid yet":      sign(jwt.SigningMethodHS256, []byte(secret), with("nbf", time.Now().Add(time.Hour).Unix())),
		"too long":           sign(jwt.SigningMethodHS256, []byte(secret), with("pad", strings.Repeat("x", admit.MaxTokenBytes))),
	}
	for name, token := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, e := tokens.Verify(token, "a")
			if e == nil {
				t.Fatalf("admitted as %+v", g)
			}
			if e.Code != wire.CodeUnauthorized {
				t.Errorf("code %s, want unauthorized", e.Code.Name())
			}
			if g != (admit.Grant{}) {
				t.Errorf("a refusal came with the grant %+v", g)
			}
		})
	}
}

func TestExpiredTokenOfAnotherSecretIsNotCalledExpired(t *testing.T) {
	t.Parallel()
	token, err := newTokens(t, strings.Repeat("y", 32)).Mint(admit.Grant{Identity: "a", Room: "a", Expires: time.Now().Add(-time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	if _, e := newTokens(t, secret).Verify(token, "a"); e == nil || e.Code != wire.CodeUnauthorized {
		t.Errorf("%v, want unauthorized", e)
	}
}

func TestMintRefusesWhatVerifyWould(t *testing.T) {
	t.Parallel()
	tokens := newTokens(t, secret)
	later := time.Now().Add(time.Hour)
	for name, g := range map[string]admit.Grant{
		"identity": {Room: "a", Expires: later},
		"room":     {Identity: "ann", Room: "a/b", Expires: later},
		"name":     {Identity: "ann", Room: "a", Name: " ", Expires: later},
		"expiry":   {Identity: "ann", Room: "a"},
	} {
		if _, err := tokens.Mint(g); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestShortSecretIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := admit.NewTokens([]byte(secret[1:])); err == nil {
		t.Error("31 bytes were accepted")
	}
}

func FuzzVerify(f *testing.F) {
	tokens := newTokens(f, secret)
	token, err := tokens.Mint(admit.Grant{Identity: "ann", Room: "a", Expires: time.Now().Add(time.Hour)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(token)
	f.Add("..")
	f.Fuzz(func(t *testing.T, s string) {
		if _, e := tokens.Verify(s, "a"); e == nil && s != token {
			// HS256 has one valid signature per content, and the fuzzer does
			// not hold the secret.
			t.Errorf("admitted by %q", s)
		}
	})
}
