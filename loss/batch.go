package loss

import "math"

// ProxEach maps many sites at once (T3): dst_i = argmin c_i/2 (f - h_i)^2 + k_i l(f, y_i),
// every site with one target y_i of weight k_i >= 0. All slices have the length of dst;
// dst may be h. Losses of the catalogue that have a closed map go through a loop of their
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
		for i, v := range h {
			dst[i] = v
			if k[i] > 0 && y[i]*v < 1 {
				dst[i] = y[i]
			}
		}
	case Hinge:
		for i, v := range h {
			dst[i] = v
			if u := y[i] * v; u < 1 && k[i] > 0 {
				dst[i] = y[i] * math.Min(u+k[i]*l.C/c[i], 1)
			}
		}
	default:
		var one, weight [1]float64
		for i, v := range h {
			if k[i] == 0 {
				dst[i] = v
				continue
			}
			one[0], weight[0] = y[i], k[i]
			dst[i], _ = l.Prox(c[i], v, one[:], weight[:])
		}
	}
}
