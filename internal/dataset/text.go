package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The distribution of the generator text.
const (
	zipfShift  = 2.7 // Mandelbrot's shift of the rank
	topicShare = 0.3 // of the words belong to each of the two topics
	maxTilt    = 10  // of which the powers of a noisy document still are numbers
	wordsMean  = 100 // median number of words of a document
	wordsSD    = 0.4 // standard deviation of its logarithm
	fewest     = 10  // words of a document
)

// text: y = -1 or +1 with equal probability; a document has the tilt
//
//	t = y + noise N(0,1)
//
// towards the topic of its class. Word w = 1, ..., d of the vocabulary has frequency p_w proportional to 1/(w
// + 2.7) (Zipf's law with Mandelbrot's shift) and belongs to the topic of +1 (c_w = 1) with probability 0.3,
// to the topic of -1 (c_w = -1) with probability 0.3, else to none (c_w = 0). The topics are drawn once, the
// same for all seeds: another seed draws new documents of the same distribution. A document has L words, L >=
// 10 and ln L ~ N(ln 100, 0.4^2), drawn independently with probabilities proportional to p_w exp(tilt c_w t).
// Word w that occurs n_w > 0 times gets the weight
//
//	(1 + ln n_w) ln(1/q_w),  q_w = 1 - (1 - p_w)^100
//
// (tf-idf; q_w is the fraction of documents with word w at t = 0, so that examples are independent), and each
// row is scaled to length 1. At d = 5000 a row has some 87 entries. The best possible error exceeds
// Phi(-1/noise), 0.6% at noise 0.4, since a document has few words: at tilt 0.3, the default, a linear
// support vector machine with C = 1 trained on 6000 documents errs on 9% of new ones. The larger the tilt,
// the easier it is to tell the classes apart; at tilt 0 the words say nothing.
func text(_ *rand.Rand, s *synthetic) drawFunc {
	const topics = 0x7a697066 // any constant
	v := newVocabulary(rand.New(rand.NewPCG(topics, topics)), s.D)
	var words []int32
	return func(rng *rand.Rand, x []float64, noise float64) float64 {
		y := drawLabel(rng)
		lean := s.Tilt * (y + noise*rng.NormFloat64())
		length := max(fewest, int(math.Round(wordsMean*math.Exp(wordsSD*rng.NormFloat64()))))
		words = words[:0]
		for range length {
			words = append(words, v.draw(rng, lean))
		}
		slices.Sort(words)
		v.weigh(x, words)
		return y
	}
}

// vocabulary holds words by topic: 0 for -1, 1 for none, 2 for +1.
type vocabulary struct {
	word    [3][]int32
	sum     [3][]float64 // cumulative frequencies
	inverse []float64    // ln(1/q_w)
}

func newVocabulary(rng *rand.Rand, d int) *vocabulary {
	v := &vocabulary{inverse: make([]float64, d)}
	total := 0.0
	for w := range d {
		total += 1 / (float64(w+1) + zipfShift)
	}
	var sum [3]float64
	for w := range d {
		p := 1 / (float64(w+1) + zipfShift) / total
		topic := 1
		if u := rng.Float64(); u < topicShare {
			topic = 0
		} else if u < 2*topicShare {
			topic = 2
		}
		sum[topic] += p
		v.word[topic], v.sum[topic] = append(v.word[topic], int32(w)), append(v.sum[topic], sum[topic])
		v.inverse[w] = -math.Log(-math.Expm1(wordsMean * math.Log1p(-p)))
	}
	return v
}

// draw draws a word: first its topic, then the word among the topic's.
func (v *vocabulary) draw(rng *rand.Rand, lean float64) int32 {
	var mass [3]float64
	total := 0.0
	for topic, sum := range v.sum {
		if len(sum) > 0 {
			mass[topic] = sum[len(sum)-1] * math.Exp(lean*float64(topic-1))
			total += mass[topic]
		}
	}
	u := total * rng.Float64()
	topic := 0
	for topic < 2 && (u >= mass[topic] || mass[topic] == 0) {
		u -= mass[topic]
		topic++
	}
	sum := v.sum[topic]
	k, _ := slices.BinarySearch(sum, rng.Float64()*sum[len(sum)-1])
	return v.word[topic][k]
}

// weigh sets the entries of a document, given its words in order.
func (v *vocabulary) weigh(x []float64, words []int32) {
	for _, w := range words {
		x[w]++
	}
	words = slices.Compact(words)
	squares := 0.0
	for _, w := range words {
		x[w] = (1 + math.Log(x[w])) * v.inverse[w]
		squares += x[w] * x[w]
	}
	for _, w := range words {
		x[w] /= math.Sqrt(squares)
	}
}
