// Package lines runs a recording program: one JSON case a line in, one JSON decision a line out.
package lines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Decide takes one case and returns what the component decides about it.
type Decide func(line []byte) (any, error)

// Corpus is the name of the corpus being recorded, for programs that record several.
func Corpus() string { return os.Getenv("CORPUS") }

// Run answers every line of standard input. An error names the case and ends the program: a case without a
// decision must not be recorded.
func Run(decide Decide) {
	reader := bufio.NewReaderSize(os.Stdin, 1<<20)
	writer := bufio.NewWriterSize(os.Stdout, 1<<20)
	for number := 0; ; number++ {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			answer(writer, decide, line, number)
		}
		if err == io.EOF {
			break
		}
		exitIf(err, number)
	}
	exitIf(writer.Flush(), -1)
}

func answer(writer io.Writer, decide Decide, line []byte, number int) {
	decision, err := decide(line)
	exitIf(err, number)
	text, err := json.Marshal(decision)
	exitIf(err, number)
	_, err = writer.Write(append(text, '\n'))
	exitIf(err, number)
}

func exitIf(err error, number int) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "case %d: %v\n", number, err)
		os.Exit(1)
	}
}
