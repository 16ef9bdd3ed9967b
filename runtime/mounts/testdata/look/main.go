// Command look says what stands at each of the NUL-separated paths on its standard input, one NUL-ended answer a path, and lives until
// its input ends. It is the command inside of the tests that carry plans out on the real tool.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	in := bufio.NewReader(os.Stdin)
	for {
		path, err := in.ReadString(0)
		if err != nil {
			return
		}
		fmt.Print(look(path[:len(path)-1]), "\x00")
	}
}

func look(path string) string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "nothing"
	case info.IsDir():
		return "directory"
	case !info.Mode().IsRegular():
		return "special"
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "unreadable"
	}
	return "file " + string(data)
}
