//go:build linux && openblas

package main

import "C" // for addressspace.c, which runs before Go does
