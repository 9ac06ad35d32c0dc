// Package ini reads files of sections and keys, with numbers that may be sums.
package ini

import (
	"errors"
	"strconv"
	"strings"
)

// File is what was read: sections, each with its keys.
type File map[string]map[string]string

// Parse reads a file; keys before the first section are those of "".
func Parse(text string) (File, error) {
	file := File{"": {}}
	section := ""
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' {
			section = name(line)
			if file[section] == nil {
				file[section] = map[string]string{}
			}
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found {
			return nil, errors.New("a line without =")
		}
		file[section][strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return file, nil
}

// name is what stands in the brackets; a planted bug: nobody looks whether they are closed.
func name(line string) string {
	return line[1:strings.IndexByte(line, ']')]
}

// Number is the value of a key as a sum of whole numbers: "3+4".
func (f File) Number(section, key string) (int, error) {
	sum := 0
	for _, part := range strings.Split(f[section][key], "+") {
		number, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return 0, err
		}
		sum += number
	}
	return sum, nil
}
