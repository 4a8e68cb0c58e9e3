package session

import "time"

// bucket is a token bucket for a session's frames. Its owner is whoever holds
// the session's mutex.
type bucket struct {
	rate   float64 // tokens per second; negative: unlimited
	tokens float64
	at     time.Time
	denied float64
}

// newBucket allows perSecond frames a second, and a burst of twice that.
func newBucket(perSecond int) bucket {
	return bucket{rate: float64(perSecond), tokens: 2 * float64(perSecond), at: time.Now()}
}

// take spends a token. over reports that the sender went on regardless for so
// long that it should go: a further burst's worth was denied in a row.
func (b *bucket) take(now time.Time) (allowed, over bool) {
	if b.rate < 0 {
		return true, false
	}
	b.tokens = min(b.tokens+now.Sub(b.at).Seconds()*b.rate, 2*b.rate)
	b.at = now
	if b.tokens < 1 {
		b.denied++
		return false, b.denied > 2*b.rate
	}
	b.tokens--
	b.denied = max(0, b.denied-1)
	return true, false
}
