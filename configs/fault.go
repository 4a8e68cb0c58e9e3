package configs

import (
	"fmt"
	"strings"
)

// Fault is one thing that is wrong with a configuration.
type Fault struct {
	// Where it stands: "gatehouse.yaml:12", "GATEHOUSE_HTTP_LISTEN", "--dev";
	// empty for what is missing.
	Where string
	// Path of the key, "sessions.ping_interval".
	Path string
	// Problem says what is wrong; it never repeats a secret.
	Problem string
	// Accepted says what would be right.
	Accepted string
}

func (f Fault) Error() string {
	var b strings.Builder
	for _, part := range []string{f.Where, f.Path} {
		if part != "" {
			fmt.Fprintf(&b, "%s: ", part)
		}
	}
	b.WriteString(f.Problem)
	if f.Accepted != "" {
		fmt.Fprintf(&b, " (accepted: %s)", f.Accepted)
	}
	return b.String()
}

// Faults are all that is wrong with a configuration; it is the type of the
// errors of [Load].
type Faults []Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, one := range f {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults to errors.As.
func (f Faults) Unwrap() []error {
	errs := make([]error, len(f))
	for i, one := range f {
		errs[i] = one
	}
	return errs
}

func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
