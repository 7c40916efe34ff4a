// Package conformance keeps the descheduler and its plugins in this module's requirements.
package conformance

import (
	_ "sigs.k8s.io/descheduler/cmd/descheduler/app"
)
