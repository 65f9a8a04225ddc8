package bootbench

import (
	"context"
	"fmt"
	"io"

	"bootbench/internal/answer"
	"bootbench/internal/model"
)

var errNoTrained = fmt.Errorf("%w: there is no trained model: Train or ReadModel make one", ErrInput)

// Trained is a trained model without its data.
type Trained struct{ model *model.Predictor }

// Train trains on all data of spec: for several classes a model of each against the others, for several
// targets one of each.
func Train(ctx context.Context, spec Spec) (*Trained, error) {
	s, err := built(ctx, spec, &Options{})
	if err != nil {
		return nil, err
	}
	p, err := s.Train(ctx, answer.Training{})
	if err != nil {
		return nil, err
	}
	return &Trained{p}, nil
}

// ReadModel reads a file of Trained.Write or the command train.
func ReadModel(r io.Reader) (*Trained, error) {
	if r == nil {
		return nil, errNoTrained
	}
	p, err := model.ReadPredictor(r)
	if err != nil {
		return nil, err
	}
	return &Trained{p}, nil
}

// check refuses a model that neither Train nor ReadModel has made.
func (t *Trained) check() error {
	if t == nil || t.model == nil || t.model.Encoding == nil {
		return errNoTrained
	}
	return nil
}

// Write writes the model to a file for ReadModel and the command predict.
func (t *Trained) Write(w io.Writer) error {
	if err := t.check(); err != nil {
		return err
	}
	return t.model.Write(w)
}

// LoadInputs reads new inputs for the model: its columns by name.
func (t *Trained) LoadInputs(path string, o ReadOptions) (*Inputs, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return t.model.Encoding.LoadInputs(path, o)
}

// Predict computes the predictions at new inputs, and intervals that contain a new target with probability
// level, between 0 and 1, or sets of classes, where the model knows left-out errors (see Prediction). With
// the square loss the first call takes about as long as the training.
func (t *Trained) Predict(inputs *Inputs, level float64) (*Prediction, error) {
	switch err := t.check(); {
	case err != nil:
		return nil, err
	case inputs == nil:
		return nil, errNoInputs
	}
	a, err := answer.PredictBy(t.model, inputs, model.DefaultTest(&Data{Columns: t.model.Encoding.Targets}),
		&answer.Question{Level: level, Sets: t.model.HasScores()})
	if err != nil {
		return nil, err
	}
	return predictionOf(a), nil
}
