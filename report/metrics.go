package report

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"bootbench/calibration"
	"bootbench/loss"
)

// Metrics are the common measures of how predictions hold for examples that had no part in
// them, those that the targets allow.
type Metrics struct {
	RMSE     *float64 `json:"rmse,omitempty"`
	MAE      *float64 `json:"mae,omitempty"`
	RSquared *float64 `json:"r_squared,omitempty"`
	Error    *float64 `json:"error,omitempty"` // share misclassified
	Balanced *float64 `json:"balanced_error,omitempty"`
	AUC      *float64 `json:"auc,omitempty"`
	LogLoss  *float64 `json:"log_loss,omitempty"`
	Brier    *float64 `json:"brier,omitempty"`
}

// NewMetrics measures predictions for targets y: expected are the losses of the examples under
// a test loss. Labels have mean predictions, whose order the area under the ROC curve judges, and
// probabilities, which may be nil; numbers have neither.
func NewMetrics(y []float64, expected func(test loss.Test) []float64, mean, probability []float64) *Metrics {
	average := func(test loss.Test) (float64, []float64) {
		each := expected(test)
		return floats.Sum(each) / float64(len(each)), each
	}
	if mean == nil {
		square, each := average(loss.SquareTest{})
		q := NewQuality(loss.SquareTest{}, square, y, each, nil)
		absolute, _ := average(loss.Absolute{})
		return &Metrics{RMSE: q.RMSE, MAE: &absolute, RSquared: q.RSquared}
	}
	wrong, each := average(loss.ZeroOne{})
	m := &Metrics{Error: &wrong, Balanced: NewQuality(loss.ZeroOne{}, wrong, y, each, nil).Balanced}
	if curve, _, area := calibration.ROC(mean, y); curve != nil {
		m.AUC = &area
	}
	if probability != nil {
		s := calibration.Judge(probability, y)
		m.LogLoss, m.Brier = &s.LogLoss, &s.Brier
	}
	return m
}

// metrics prints them.
func (d *document) metrics(m *Metrics) {
	if m == nil {
		return
	}
	text := ""
	for _, v := range []struct {
		name  string
		value *float64
	}{{"RMSE", m.RMSE}, {"MAE", m.MAE}, {"R^2", m.RSquared}, {"error", m.Error}, {"balanced error", m.Balanced}, {"AUC", m.AUC}, {"log loss", m.LogLoss}, {"Brier", m.Brier}} {
		if v.value != nil {
			text = join(text, fmt.Sprintf("%s %s", v.name, number(*v.value)))
		}
	}
	d.line("metrics", "%s", text)
}

// ROCFigure shows the shares of both labels that mean predictions above a threshold hold; none
// for one class.
func ROCFigure(mean, label []float64) []*Figure {
	x, y, area := calibration.ROC(mean, label)
	if x == nil {
		return nil
	}
	return []*Figure{{
		Name: "roc", Title: fmt.Sprintf("receiver operating characteristic: area %.3f", area),
		Caption: "Of the examples of either label, the share whose left-out mean prediction is above a threshold.",
		Panels: []Panel{{X: Axis{Label: "share of -1 above", Min: 0, Max: 1}, Y: Axis{Label: "share of +1 above", Min: 0, Max: 1}, Legend: NoLegend, Series: []Series{
			{Mark: Line, X: x, Y: y}, {Mark: Dashed, Colour: 1, X: []float64{0, 1}, Y: []float64{0, 1}}}}},
	}}
}
