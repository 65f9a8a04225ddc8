package loss

import "math"

// ProxEach maps many sites at once (T3): dst_i = argmin c_i/2 (f - h_i)^2 + k_i l(f, y_i), every site with
// one target y_i of weight k_i >= 0. All slices have the length of dst; dst may be h. Its initial values are
// guesses for maps that iterate. Losses of the catalogue with a closed map have special loops, which reduce
// the time of a block of fits to 0.6 to 0.8 of that by the piecewise map; others use Prox.
func ProxEach(l Proximal, dst, c, h, y, k []float64) {
	c, h, y, k = c[:len(dst)], h[:len(dst)], y[:len(dst)], k[:len(dst)]
	switch l := l.(type) {
	case Square:
		precision := 1 / l.Noise
		for i, v := range h {
			t := k[i] * precision
			dst[i] = v + t*(y[i]-v)/(c[i]+t)
		}
	case HardMargin:
		for i, v := range h { // onto the margin
			dst[i] = v + y[i]*max(0, min(k[i]*math.MaxFloat64, 1-y[i]*v))
		}
	case Hinge:
		for i, v := range h { // by k C/c towards the margin, at most to it
			dst[i] = v + y[i]*max(0, min(k[i]*(l.C*l.ClassWeight(y[i]))/c[i], 1-y[i]*v))
		}
	case SquaredHinge:
		for i, v := range h {
			t := 2 * k[i] * (l.C * l.ClassWeight(y[i]))
			dst[i] = v + y[i]*max(0, 1-y[i]*v)*t/(c[i]+t)
		}
	case EpsInsensitive:
		for i, v := range h { // by k C/c towards the tube
			r := y[i] - v
			move := max(0, min(k[i]*l.C/c[i], math.Abs(r)-l.Epsilon))
			dst[i] = v + math.Copysign(move, r)
		}
	case LeastAbsolute:
		for i, v := range h {
			r := y[i] - v
			dst[i] = v + math.Copysign(min(k[i]*l.C/c[i], math.Abs(r)), r)
		}
	case Huber:
		for i, v := range h { // quadratic within epsilon, of force k C epsilon beyond
			r, t := y[i]-v, k[i]*l.C
			move := min(t*math.Abs(r)/(c[i]+t), t*l.Epsilon/c[i])
			dst[i] = v + math.Copysign(move, r)
		}
	case Logistic:
		derivatives(l.derivatives).proxEach(dst, c, h, y, k)
	case fromSmooth:
		derivatives(l.Derivatives).proxEach(dst, c, h, y, k)
	default:
		var target, weight [1]float64
		for i, v := range h {
			if dst[i] = v; k[i] > 0 {
				target[0], weight[0] = y[i], k[i]
				dst[i], _ = l.Prox(c[i], v, target[:], weight[:])
			}
		}
	}
}

// proxEach is ProxEach of a smooth loss.
func (d derivatives) proxEach(dst, c, h, y, k []float64) {
	for i := range dst {
		dst[i], _ = d.prox(c[i], h[i], y[i:i+1], k[i:i+1], dst[i], batchTol)
	}
}

// batchTol is the last Newton step of a map; the error is about its square.
const batchTol = 1e-7
