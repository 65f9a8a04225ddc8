package values

import "fmt"

// Unseen is error (false) or zero.
type Unseen bool

func (u *Unseen) String() string {
	if *u {
		return "zero"
	}
	return ""
}

// Set reads error or zero.
func (u *Unseen) Set(text string) error {
	if text != "error" && text != "zero" {
		return fmt.Errorf("%q is neither error nor zero", text)
	}
	*u = text == "zero"
	return nil
}

// Type is the kind of value, for pflag.
func (u *Unseen) Type() string { return "how" }
