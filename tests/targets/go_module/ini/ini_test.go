package ini

import (
	"os"
	"strings"
	"testing"
	"time"
)

func FuzzParse(f *testing.F) {
	f.Add("[a]\nb = 3+4\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse(text)
		if err == nil {
			file.Number("a", "b")
		}
	})
}

func FuzzCalm(f *testing.F) {
	seeds, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seeds, 3)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		file, err := Parse("x=" + strings.ReplaceAll(string(data), "[", "("))
		if err == nil && file["x"] != nil {
			t.Fatal("a section from nowhere")
		}
		if string(data) == "bad!" && times == 7 {
			panic("as planted")
		}
	})
}

func FuzzSays(f *testing.F) {
	f.Fuzz(func(t *testing.T, a, b byte) {
		if a > 250 && b != 0 {
			t.Errorf("%d and %d do not agree", a, b)
		}
	})
}

func deep(n int) int { return deep(n+1) + 1 }

func FuzzEnds(f *testing.F) {
	f.Add("calm", 0)
	f.Fuzz(func(t *testing.T, how string, n int) {
		if os.Getenv("ENDS") == "" || n%50 != 49 {
			return
		}
		switch os.Getenv("ENDS") {
		case "hang":
			for {
				time.Sleep(time.Millisecond)
			}
		case "deep":
			deep(0)
		case "memory":
			var all [][]byte
			for i := 0; i < 4000; i++ {
				all = append(all, make([]byte, 1<<20))
				all[i][5] = byte(i)
			}
		case "goroutine":
			done := make(chan int)
			go func() { done <- 1 / (len(how) - len(how)) }()
			<-done
		}
	})
}

func FuzzSeed(f *testing.F) {
	f.Add("[never closed")
	f.Fuzz(func(t *testing.T, text string) { Parse(text) })
}
