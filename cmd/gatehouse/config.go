package main

import "fmt"

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Tell everything that is wrong with the configuration."`
	Show  configShowCmd  `cmd:"" help:"Show the effective configuration and where each value comes from; secrets are masked."`
}

type configCheckCmd struct {
	settings
}

// Run gives the same verdict as serve would.
func (c *configCheckCmd) Run(p *process) error {
	if _, err := c.load(p); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "the configuration is good")
	return nil
}

type configShowCmd struct {
	settings
}

// Run shows what there is even if it is not good, for then it is needed most;
// what is wrong follows.
func (c *configShowCmd) Run(p *process) error {
	cfg, err := c.load(p)
	if cfg == nil {
		return err
	}
	if failed := cfg.Show(p.out); failed != nil {
		return failed
	}
	return err
}
