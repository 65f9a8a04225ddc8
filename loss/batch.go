package loss

import "math"

// ProxEach maps many sites at once (T3): dst_i = argmin c_i/2 (f - h_i)^2 + k_i l(f, y_i),
// every site with one target y_i of weight k_i >= 0. All slices have the length of dst;
// dst may be h. What it holds before is a guess, from which a map that iterates starts where
// that is near. Losses of the catalogue that have a closed map go through a loop of their
// own, others through Prox.
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
		for i, v := range h { // by k C/c towards the margin, but not beyond it
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
		for i, v := range h { // quadratic within Delta, of force k C Delta beyond
			r, t := y[i]-v, k[i]*l.C
			move := min(t*math.Abs(r)/(c[i]+t), t*l.Delta/c[i])
			dst[i] = v + math.Copysign(move, r)
		}
	case Logistic:
		for i, v := range h {
			dst[i] = y[i] * logisticProx(y[i]*dst[i], y[i]*v, k[i]*(l.C*l.ClassWeight(y[i]))/c[i])
		}
	case fromProximal:
		ProxEach(l.Proximal, dst, c, h, y, k)
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

// batchNewton bounds Newton's steps for one site: from the nearer end of the bracket
// four are usual.
const batchNewton = 100

// logisticProx solves u = v + t/(1 + e^u), t >= 0, by Newton's method in the bracket
// [v, v + t], to some 1e-14. The right side falls, so that the solution is the only one; it
// is convex in u > 0 and concave in u < 0, so that steps from the point of the bracket next
// to 0 do not pass the solution. From the guess they lead there too if it is so near that
// Kantorovich's condition holds: the right side's second derivative is at most t/(6 sqrt 3).
func logisticProx(guess, v, t float64) float64 {
	safe := min(max(0, v), v+t)
	u := min(max(guess, v), v+t)
	for n := range batchNewton {
		e := math.Exp(-math.Abs(u))
		share := 1 / (1 + e) // 1/(1 + e^-|u|)
		slope := 1 + t*e*share*share
		if u > 0 {
			share = e * share
		}
		off := v - u + t*share
		if n == 0 && u != safe && !(math.Abs(off)*t < 3*math.Sqrt(3)*slope*slope) {
			u = safe
			continue
		}
		step := off / slope
		u += step
		if !(math.Abs(step) > 1e-7*(1+math.Abs(u))) { // the next would be its square
			break
		}
	}
	return u
}
