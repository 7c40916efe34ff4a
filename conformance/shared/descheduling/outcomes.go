package descheduling

import (
	"hash/fnv"
	"math/rand"
	"sort"
	"strconv"
	"strings"
)

// The descheduler's decisions depend on the order in which Go's maps and the caches list things. A cycle is run
// again and again with shuffled lists until no new outcome has come for so many runs.
const (
	quietRuns      = 8 // if nothing is evicted at all
	runsPerOutcome = 100
	mostRuns       = 20_000
)

// Cycle runs one descheduling cycle; it may draw the order of lists from random. It returns the number of evicted
// pods by group.
type Cycle func(random *rand.Rand) ([]int, error)

// Outcomes are the distinct results of a cycle, sorted: one character a group, its lost pods to base 36.
func Outcomes(seed []byte, cycle Cycle) ([]string, error) {
	random := rand.New(rand.NewSource(seedOf(seed)))
	seen := map[string]bool{}
	for run, last := 0, 0; run < mostRuns && run-last < enough(seen); run++ {
		lost, err := cycle(random)
		if err != nil {
			return nil, err
		}
		if text := encode(lost); !seen[text] {
			seen[text] = true
			last = run
		}
	}
	return sorted(seen), nil
}

// enough is how many runs in a row without a new outcome end the search.
func enough(seen map[string]bool) int {
	if len(seen) == 1 && seen[""] {
		return quietRuns
	}
	return runsPerOutcome * (1 + len(seen))
}

func seedOf(text []byte) int64 {
	total := fnv.New64a()
	total.Write(text)
	return int64(total.Sum64())
}

// encode leaves zeros at the end out, so that a cycle that evicts nothing is the empty text.
func encode(lost []int) string {
	text := strings.Builder{}
	for _, pods := range lost {
		text.WriteString(strconv.FormatInt(int64(pods), 36))
	}
	return strings.TrimRight(text.String(), "0")
}

func sorted(seen map[string]bool) []string {
	outcomes := make([]string, 0, len(seen))
	for outcome := range seen {
		outcomes = append(outcomes, outcome)
	}
	sort.Strings(outcomes)
	return outcomes
}
