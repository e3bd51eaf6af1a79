package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"sigs.k8s.io/yaml"
)

// Each input line is a document in Go's quoting; each output line what the decoder says:
// error, or the JSON of the value.
func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		text, err := strconv.Unquote(in.Text())
		if err != nil {
			panic(err)
		}
		out, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			q, _ := json.Marshal(err.Error())
			fmt.Printf("%s\terror\t%s\n", in.Text(), q)
			continue
		}
		fmt.Printf("%s\tok\t%s\n", in.Text(), out)
	}
}
