package flags

import (
	"fmt"
	"strconv"
)

// Count is the value of a flag: a whole number from Least on, or a word that Means another.
type Count struct {
	N, Least int
	Word     string
	Means    int
}

// Set reads either.
func (c *Count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if text == c.Word {
		n = c.Means
	} else if err != nil || n < c.Least {
		return fmt.Errorf("is %q, must be %s or a whole number from %d on", text, c.Word, c.Least)
	}
	c.N = n
	return nil
}

// String is the number or the word; "" for 0 that no word means: none.
func (c *Count) String() string {
	switch {
	case c.N == c.Means:
		return c.Word
	case c.N == 0:
		return ""
	}
	return strconv.Itoa(c.N)
}

// Type is that of a text.
func (c *Count) Type() string { return "string" }
