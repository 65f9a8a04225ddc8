//go:build race

package linalg

// raceDetector: the passes of this package run many times slower, products not.
const raceDetector = true
