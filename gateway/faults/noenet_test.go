//go:build noenet

package faults_test

// addENet: there is none.
func addENet(map[string]func(*house, dialing, *inbox) (transport, error)) {}
