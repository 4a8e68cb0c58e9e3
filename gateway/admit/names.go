package admit

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Longest names, in bytes of UTF-8.
const (
	MaxRoomNameBytes    = 64
	MaxDisplayNameBytes = 64
	MaxIdentityBytes    = 128
)

// RoomName says why s can not be the name of a room. A name is 1 to 64 bytes of
// UTF-8 in normal form C: letters, their marks, and numbers of any script, and
// the signs - _ . : but not first. It follows that a name is one segment of a
// path ("/", "%", "." and ".." are none), that it prints on one line, and that
// what looks the same is the same: a name is taken byte for byte or refused,
// never mended.
func RoomName(s string) error {
	if err := text(s, MaxRoomNameBytes); err != nil {
		return err
	}
	for i, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsNumber(r):
		case i == 0:
			return fmt.Errorf("begins with %+q, must begin with a letter or number", r)
		case unicode.IsMark(r), r == '-', r == '_', r == '.', r == ':':
		default:
			return fmt.Errorf("contains %+q, only letters, numbers and - _ . : are allowed", r)
		}
	}
	return nil
}

// DisplayName says why s can not be shown as a member's name. It is 1 to 64
// bytes of UTF-8 in normal form C, of printing characters and single spaces
// inside. What prints includes "<" and "&": a page escapes what it shows. What
// does not print is refused, direction overrides and zero-width characters too,
// which let one name look like another.
func DisplayName(s string) error {
	if err := text(s, MaxDisplayNameBytes); err != nil {
		return err
	}
	before := ' '
	for i, r := range s {
		switch {
		case !unicode.IsPrint(r):
			return fmt.Errorf("contains %+q, which does not print", r)
		case r == ' ' && before == ' ':
			return errors.New("has a space at its start or two in a row")
		case i == 0 && unicode.IsMark(r):
			return fmt.Errorf("begins with the combining mark %+q", r)
		}
		before = r
	}
	if before == ' ' {
		return errors.New("has a space at its end")
	}
	return nil
}

// Identity says why s can not be an identity: 1 to 128 bytes of UTF-8 in normal
// form C, of printing characters without spaces.
func Identity(s string) error {
	if err := text(s, MaxIdentityBytes); err != nil {
		return err
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == ' ' {
			return fmt.Errorf("contains %+q, only printing characters without spaces are allowed", r)
		}
	}
	return nil
}

// Text says why s can not be shown as a line of text: it must be UTF-8 of
// printing characters and spaces.
func Text(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("is not valid UTF-8")
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("contains %+q, which does not print", r)
		}
	}
	return nil
}

func text(s string, limit int) error {
	switch {
	case s == "":
		return errors.New("is empty")
	case len(s) > limit:
		return fmt.Errorf("has %d bytes, at most %d are allowed", len(s), limit)
	case !utf8.ValidString(s):
		return errors.New("is not valid UTF-8")
	case !norm.NFC.IsNormalString(s):
		return errors.New("is not in Unicode normal form C")
	case strings.ContainsRune(s, utf8.RuneError):
		// What a decoder of JSON puts in place of bytes or surrogates that are
		// no character: the name that was meant is lost.
		return errors.New("contains U+FFFD, which stands for something that is no character")
	}
	return nil
}
