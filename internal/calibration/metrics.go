package calibration

import (
	"gonum.org/v1/gonum/stat"

	"bootbench/internal/null"
	"bootbench/loss"
)

// Metrics are the common measures of how predictions hold for examples that had no part in
// them, those that the targets allow.
type Metrics struct {
	RMSE     *null.Float `json:"rmse,omitempty"`
	MAE      *null.Float `json:"mae,omitempty"`
	RSquared *null.Float `json:"r_squared,omitempty"`
	Error    *null.Float `json:"error,omitempty"` // share misclassified
	Balanced *null.Float `json:"balanced_error,omitempty"`
	AUC      *null.Float `json:"auc,omitempty"`
	LogLoss  *null.Float `json:"log_loss,omitempty"`
	Brier    *null.Float `json:"brier,omitempty"`
	// Jackknife is the standard error of the left-out error over draws of the data.
	Jackknife *null.Float `json:"jackknife_se,omitempty"`
}

// Names of the measures of numbers, of labels and of both.
var (
	NumberMetrics = []string{"rmse", "mae", "r2"}
	LabelMetrics  = []string{"error", "balanced-error", "auc", "log-loss", "brier"}
)

// Jackknife is the name of that measure.
const Jackknife = "jackknife"

// Metric is a measure by the name of its flag and in words.
type Metric struct {
	Name, Words string
	Value       **null.Float
}

// All lists the measures, those that are not known too.
func (m *Metrics) All() []Metric {
	return []Metric{{"rmse", "RMSE", &m.RMSE}, {"mae", "MAE", &m.MAE}, {"r2", "R^2", &m.RSquared},
		{"error", "error", &m.Error}, {"balanced-error", "balanced error", &m.Balanced}, {"auc", "AUC", &m.AUC},
		{"log-loss", "log loss", &m.LogLoss}, {"brier", "Brier", &m.Brier},
		{Jackknife, "jackknife standard error", &m.Jackknife}}
}

// Keep leaves the measures that are wanted.
func (m *Metrics) Keep(wanted func(name string) bool) {
	for _, v := range m.All() {
		if !wanted(v.Name) {
			*v.Value = nil
		}
	}
}

// NewMetrics measures predictions for targets y with weights, nil for 1: expected are the losses of the
// examples under a test loss. Labels have mean predictions, whose order the area under the ROC curve judges,
// and probabilities, which may be nil; numbers have neither.
func NewMetrics(y, weights []float64, expected func(test loss.Test) []float64, mean,
	probability []float64) *Metrics {
	average := func(test loss.Test) (float64, []float64) {
		each := expected(test)
		return stat.Mean(each, weights), each
	}
	if mean == nil {
		square, each := average(loss.SquareTest{})
		q := NewQuality(loss.SquareTest{}, null.Float(square), y, each, weights, nil)
		absolute, _ := average(loss.Absolute{})
		return &Metrics{RMSE: q.RMSE, MAE: null.Of(absolute), RSquared: q.RSquared}
	}
	wrong, each := average(loss.ZeroOne{})
	m := &Metrics{Error: null.Of(wrong),
		Balanced: NewQuality(loss.ZeroOne{}, null.Float(wrong), y, each, weights, nil).Balanced}
	if curve, _, area := ROC(mean, y, weights); curve != nil {
		m.AUC = null.Of(area)
	}
	if probability != nil {
		s := Judge(probability, y, weights)
		m.LogLoss, m.Brier = null.Of(s.LogLoss), null.Of(s.Brier)
	}
	return m
}
