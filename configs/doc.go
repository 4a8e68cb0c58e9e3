// Package configs is the configuration of a gatehouse process: one tree of plain
// structs ([Config]) whose field comments are the documentation, and the file
// with every default (default.yaml).
//
// A value comes from, later ones winning: default.yaml; dev.yaml if dev is set;
// the configuration file; the environment (GATEHOUSE_ and the key's path in
// capitals); flags. Nothing is taken loosely: an unknown key, a number where a
// unit is due, or a value out of range is a [Fault], and all faults are reported
// together, each with where it stands, its path and the accepted form. Secrets
// come from files of their own or the environment only, and never come out again
// but by [Secret.Reveal].
//
// The package reads the configuration and judges it; it opens no sockets, and
// nobody but the composition (gateway, cmd/gatehouse) sees it: parts get options
// of their own.
package configs
