package admit

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// Equal compares a secret with what was presented, in a time that tells neither
// where they differ nor how long the secret is.
func Equal(secret, presented string) bool {
	a, b := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(presented))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Bearer returns the token of an Authorization header (RFC 6750 §2.1), or "".
func Bearer(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
