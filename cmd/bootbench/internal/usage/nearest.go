package usage

import (
	"strings"

	"github.com/spf13/cobra"
)

// Nearest is the end of a refusal that names what a word may have meant, by cobra's measure
// for commands; "" where nothing is near.
func Nearest(word string, among ...string) string {
	near := &cobra.Command{SuggestionsMinimumDistance: min(2, (len(word)+1)/2)}
	for _, name := range among {
		near.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	found := near.SuggestionsFor(word)
	if len(found) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(found[:min(3, len(found))], " or ") + "?"
}
