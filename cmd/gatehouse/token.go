package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/configs"
	"github.com/gatehouse/gatehouse/gateway/admit"
)

type tokenCmd struct {
	Mint    tokenMintCmd    `cmd:"" help:"Print a new join token."`
	Inspect tokenInspectCmd `cmd:"" help:"Say what a token says and whether it is good."`
}

// tokenSecret finds the secret that tokens are signed with: the same two
// places that the server takes it from, and no flag, which others could see.
type tokenSecret struct {
	SecretFile string `placeholder:"FILE" help:"File with the secret; GATEHOUSE_AUTH_SECRET or GATEHOUSE_AUTH_SECRET_FILE if not given." type:"path"`
}

func (s tokenSecret) tokens(p *process) (*admit.Tokens, error) {
	secret, err := configs.AuthSecret(p.environ, s.SecretFile)
	if err != nil {
		return nil, err
	}
	return admit.NewTokens([]byte(secret.Reveal()))
}

type tokenMintCmd struct {
	tokenSecret
	Room     string `required:"" help:"Room that it admits to; * for every room."`
	Identity string `required:"" help:"Who the holder is."`
	Name     string `help:"Name shown to others; the identity if not given."`
	TTL      span   `name:"ttl" default:"1h" help:"How long it is good for, as in 90m or 7d."`
}

func (c *tokenMintCmd) Run(p *process) error {
	if c.TTL <= 0 {
		return usageError{fmt.Sprintf("--ttl %s: want more than 0s", c.TTL)}
	}
	tokens, err := c.tokens(p)
	if err != nil {
		return err
	}
	token, err := tokens.Mint(admit.Grant{Identity: c.Identity, Room: c.Room, Name: c.Name, Expires: time.Now().Add(time.Duration(c.TTL))})
	if err != nil {
		return usageError{err.Error()}
	}
	_, err = fmt.Fprintln(p.out, token)
	return err
}

type tokenInspectCmd struct {
	tokenSecret
	Token string `arg:"" optional:"" help:"The token; read from standard input if not given."`
}

// Run prints the grant of a good token and fails for any other.
func (c *tokenInspectCmd) Run(p *process) error {
	tokens, err := c.tokens(p)
	if err != nil {
		return err
	}
	if c.Token == "" {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, admit.MaxTokenBytes+1))
		if err != nil {
			return err
		}
		c.Token = strings.TrimSpace(string(text))
	}
	g, refused := tokens.Read(c.Token)
	if refused != nil {
		return refused
	}
	e := json.NewEncoder(p.out)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{
		"identity": g.Identity, "room": g.Room, "name": g.Name,
		"expires": g.Expires.UTC().Format(time.RFC3339), "expires_in": time.Until(g.Expires).Round(time.Second).String(),
	})
}
