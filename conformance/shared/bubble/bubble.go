// Package bubble gives a recording program a clock that it sets itself.
package bubble

import _ "unsafe" // for go:linkname

// Run runs a function in a bubble of fake time, as testing/synctest does for tests: time.Now and all timers begin at
// midnight UTC of 2000-01-01 and move only when the bubble sleeps. Goroutines that outlive the function must have been
// started outside.
//
//go:linkname Run internal/synctest.Run
func Run(function func())
