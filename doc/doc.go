// Package doc holds the page of this folder that the program shows.
package doc

import _ "embed" // the page

// Checks is checks.md: a paragraph for each check.
//
//go:embed checks.md
var Checks string
