package loss

import (
	"math/big"
	"testing"
)

// bits is the precision of the big floats: Phi(-40) = 1e-350 is a difference of
// numbers near 1/2, and keeps 400 bits.
const bits = 1600

func num(x float64) *big.Float         { return new(big.Float).SetPrec(bits).SetFloat64(x) }
func ratio(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Quo(a, b) }
func times(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Mul(a, b) }
func plus(a, b *big.Float) *big.Float  { return new(big.Float).SetPrec(bits).Add(a, b) }
func minus(a, b *big.Float) *big.Float { return new(big.Float).SetPrec(bits).Sub(a, b) }
func root(a *big.Float) *big.Float     { return new(big.Float).SetPrec(bits).Sqrt(a) }
func plain(a *big.Float) float64       { f, _ := a.Float64(); return f }

// tiny says that adding term to sum changes nothing.
func tiny(term, sum *big.Float) bool {
	return term.Sign() == 0 || (sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-bits)
}

// bigExp is exp(x) by the Taylor series at x/2^20, squared 20 times.
func bigExp(x *big.Float) *big.Float {
	small := times(x, num(1.0/(1<<20)))
	sum, term := num(1), num(1)
	for n := 1.0; !tiny(term, sum); n++ {
		term = ratio(times(term, small), num(n))
		sum = plus(sum, term)
	}
	for range 20 {
		sum = times(sum, sum)
	}
	return sum
}

// bigPi is 16 arctan(1/5) - 4 arctan(1/239).
func bigPi() *big.Float {
	arctan := func(inverse float64) *big.Float {
		power := ratio(num(1), num(inverse))
		sum := num(0)
		for n := 0.0; n < bits; n++ {
			term := ratio(power, num(2*n+1))
			if int(n)%2 == 1 {
				term.Neg(term)
			}
			sum = plus(sum, term)
			power = ratio(power, num(inverse*inverse))
		}
		return sum
	}
	return minus(times(num(16), arctan(5)), times(num(4), arctan(239)))
}

// bigNormal is Phi(z) and phi(z) with its constant; both are taken as constant
// beyond 41 standard deviations.
type bigNormal struct{ scale *big.Float }

func newBigNormal() bigNormal {
	return bigNormal{ratio(num(1), root(times(num(2), bigPi())))}
}

func (b bigNormal) both(z *big.Float) (cdf, pdf *big.Float) {
	switch x := plain(z); {
	case x > 41:
		return num(1), num(0)
	case x < -41:
		return num(0), num(0)
	}
	square := times(z, z)
	pdf = times(b.scale, bigExp(times(num(-0.5), square)))
	sum, term := plus(z, num(0)), plus(z, num(0)) // sum of z^(2n+1)/(2n+1)!!
	for n := 1.0; !tiny(term, sum); n++ {
		term = ratio(times(term, square), num(2*n+1))
		sum = plus(sum, term)
	}
	return plus(num(0.5), times(pdf, sum)), pdf
}

// TestBigNormal holds the reference itself to printed values.
func TestBigNormal(t *testing.T) {
	b := newBigNormal()
	for _, c := range []struct{ z, cdf float64 }{
		{0, 0.5}, {1, 0.8413447460685429}, {-5, 2.866515718791939e-07}, {-30, 4.906713927148187e-198},
	} {
		cdf, pdf := b.both(num(c.z))
		relative(t, "Phi", plain(cdf), c.cdf, 1e-15)
		relative(t, "phi", plain(pdf), gauss(c.z), 1e-13)
	}
}
