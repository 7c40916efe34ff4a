// Command scheduler records what kube-scheduler decides: single decisions, sequences of pods, preemption.
package main

import (
	"encoding/json"
	"fmt"

	"kubeproof.dev/conformance/shared/lines"
)

func main() {
	programs := map[string]func(*Case) (any, error){
		"scheduler-decisions":    decideOne,
		"scheduler-ports-images": decideWithImages,
		"scheduler-sequences":    decideSequence,
		"scheduler-preemption":   decidePreemption,
		"scheduler-volumes":      decideWithVolumes,
	}
	program := programs[lines.Corpus()]
	lines.Run(func(line []byte) (any, error) {
		if program == nil {
			return nil, fmt.Errorf("unknown corpus %q", lines.Corpus())
		}
		var given Case
		if err := json.Unmarshal(line, &given); err != nil {
			return nil, err
		}
		if err := given.admit(); err != nil {
			return nil, err
		}
		return program(&given)
	})
}
