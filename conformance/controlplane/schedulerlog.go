package main

import (
	"os"
	"regexp"
	"strings"
	"time"
)

// A line of the scheduler's log at verbosity 3, in klog's format: I1116 01:53:56.572850 ... "Attempting ..." pod="shop/web-1"
var attempt = regexp.MustCompile(`^I(\d{4} \d\d:\d\d:\d\d\.\d{6}).*"Attempting to schedule pod" pod="([^"]+)"`)

// attempts reads when the scheduler took up which pod.
func attempts(path string) map[string][]time.Time {
	found := map[string][]time.Time{}
	content, err := os.ReadFile(path)
	if err != nil {
		return found
	}
	year := time.Now().Year()
	for _, line := range strings.Split(string(content), "\n") {
		parts := attempt.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		moment, err := time.ParseInLocation("0102 15:04:05.000000", parts[1], time.Local)
		if err == nil {
			pod := "Pod/" + parts[2]
			found[pod] = append(found[pod], moment.AddDate(year, 0, 0))
		}
	}
	return found
}
