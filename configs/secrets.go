package configs

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/gatehouse/gatehouse/gateway/admit"
)

// Bounds of secrets, in bytes.
const (
	minAdminTokenBytes = 16
	maxSecretBytes     = 4096
)

// AuthSecret returns the secret of join tokens for a program that needs nothing
// else of the configuration: from file, or if that is empty from where the
// environment says.
func AuthSecret(environ []string, file string) (Secret, error) {
	c := &Config{sources: sources{}}
	d := &decoder{sources: c.sources}
	d.environ(environ, reflect.ValueOf(c).Elem())
	if file != "" {
		c.Auth = Auth{SecretFile: file}
		c.sources["auth.secret_file"] = "--secret-file"
	}
	k := &check{c: c, faults: d.faults}
	k.readSecret("auth.secret", &c.Auth.Secret, c.Auth.SecretFile)
	k.authSecret()
	return c.Auth.Secret, k.faults.err()
}

// secrets judges the secrets once they have been read.
func (k *check) secrets() {
	k.authSecret()
	c := k.c
	switch n := len(c.Admin.Token.Reveal()); {
	case n == 0 && !c.Dev && c.Admin.TokenFile == "" && !c.Admin.Listen.Off():
		k.fault("admin.token", "admin.token_file with the path of a file, the environment variable "+envName("admin.token")+", admin.listen off, or dev", "is needed: operators show it")
	case n > 0 && n < minAdminTokenBytes:
		k.fault("admin.token", fmt.Sprintf("at least %d bytes, from a random source", minAdminTokenBytes), "has %d bytes", n)
	}
}

func (k *check) authSecret() {
	c := k.c
	switch n := len(c.Auth.Secret.Reveal()); {
	case n == 0 && !c.Dev && c.Auth.SecretFile == "":
		k.fault("auth.secret", "auth.secret_file with the path of a file, the environment variable "+envName("auth.secret")+", or dev", "is needed: join tokens are signed with it")
	case n > 0 && n < admit.MinSecretBytes:
		k.fault("auth.secret", fmt.Sprintf("at least %d bytes, from a random source", admit.MinSecretBytes), "has %d bytes", n)
	}
}

// readSecrets fills the secrets whose files are named.
func (c *Config) readSecrets() Faults {
	k := &check{c: c}
	k.readSecret("auth.secret", &c.Auth.Secret, c.Auth.SecretFile)
	k.readSecret("admin.token", &c.Admin.Token, c.Admin.TokenFile)
	return k.faults
}

func (k *check) readSecret(path string, s *Secret, file string) {
	if file == "" {
		return
	}
	if !s.Empty() {
		k.fault(path+"_file", "one of them", "is given, and %s too", envName(path))
		return
	}
	text, err := readFile(file, maxSecretBytes)
	if err != nil {
		k.fault(path+"_file", "the path of a file that can be read, with the secret and nothing else", "%v", err)
		return
	}
	*s = NewSecret(strings.TrimRight(string(text), "\r\n"))
	if s.Empty() {
		k.fault(path+"_file", "the path of a file with the secret and nothing else", "%s is empty", file)
	}
}
