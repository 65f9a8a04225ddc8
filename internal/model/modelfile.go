package model

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"bootbench/linalg"
)

// modelFile is a model file, one JSON object with these keys in this order. SHA256 is the checksum of the
// compact JSON of Model, a Predictor.
type modelFile struct {
	Format string          `json:"format"`
	Schema int             `json:"schema"`
	SHA256 string          `json:"sha256"`
	Model  json.RawMessage `json:"model"`
}

const (
	modelFormat = "bootbench model"
	modelSchema = 3 // the first versions have other targets
)

// seal is the file of a model with the compact JSON body.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return fmt.Appendf(nil, `{"format":%q,"schema":%d,"sha256":"%s","model":%s}`, modelFormat, modelSchema,
		hex.EncodeToString(sum[:]), body)
}

// Write writes p as a model file; every number reads back unchanged.
func (p *Predictor) Write(w io.Writer) error {
	if w == nil || p.Encoding == nil {
		return InputError(errors.New("a trained model and a writer are needed"))
	}
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = w.Write(append(seal(body), '\n'))
	return err
}

// ReadPredictor reads a model file, which may be reformatted. It refuses other files and versions, truncated
// or edited files, and inconsistent models with an error that wraps ErrInput.
func ReadPredictor(r io.Reader) (*Predictor, error) {
	const lead, copies = 1 << 12, 8 // a model file names itself first; decoding holds several copies
	b := bufio.NewReaderSize(r, lead)
	content, err := b.Peek(lead)
	if err == io.EOF || bytes.Contains(content, []byte(modelFormat)) {
		most := linalg.Room(0) / copies
		content, err = io.ReadAll(io.LimitReader(b, most+1))
		if err == nil && int64(len(content)) > most {
			err = InputError(fmt.Errorf("is larger than the %d bytes for which there is memory", most))
		}
	}
	if err != nil {
		return nil, err
	}
	p, err := decodePredictor(content)
	if err != nil {
		return nil, InputError(err)
	}
	return p, nil
}

func decodePredictor(content []byte) (*Predictor, error) {
	var file modelFile
	compact := &bytes.Buffer{}
	err := json.Compact(compact, content)
	if err == nil {
		err = json.Unmarshal(compact.Bytes(), &file)
	}
	switch {
	case bytes.HasPrefix(content, []byte("svm_type ")):
		return nil, errors.New(
			"is a model file of LIBSVM, which has no columns, scales and labels: train with Trained.Write, " +
				"or predict with svm-predict")
	case err != nil && bytes.Contains(content[:min(len(content), 100)], []byte(modelFormat)):
		return nil, errors.New("is cut short or damaged")
	case err != nil || file.Format != modelFormat:
		return nil, errors.New("is no model file of bootbench")
	case file.Schema != modelSchema:
		return nil,
			fmt.Errorf("is a model file of version %d, and this program reads version %d: train it again "+
				"with this version", file.Schema, modelSchema)
	case !bytes.Equal(compact.Bytes(), seal(file.Model)):
		return nil, errors.New("is damaged or was edited: its checksum does not fit")
	}
	p := &Predictor{}
	decoder := json.NewDecoder(bytes.NewReader(file.Model))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return nil, fmt.Errorf("holds a model that this program does not understand: %w", err)
	}
	if err := p.prepare(); err != nil {
		return nil, fmt.Errorf("holds a model that does not fit together: %w", err)
	}
	return p, nil
}
