package dataset

import (
	"archive/zip"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// readNPZ reads a NumPy archive with the arrays X (a row per example) and y.
func readNPZ(f *source, opt Options) (*Set, error) {
	t, err := readArchive(f, opt)
	if err == nil && t.columns[len(t.columns)-1].name != "y" {
		err = errors.New("the archive has no array y: np.savez(file, X=X, y=y) writes both")
	}
	if err != nil {
		return nil, inFile(f.name, err)
	}
	if err := t.planTraining(); err != nil {
		return nil, t.bad(err)
	}
	return t.trainingArray()
}

// readInputsNPZ reads new inputs: the array X, and y if it is there.
func readInputsNPZ(f *source, train *Set, opt Options) (*Inputs, error) {
	t, err := readArchive(f, opt)
	if err != nil {
		return nil, inFile(f.name, err)
	}
	if err := t.planInputs(train); err != nil {
		return nil, t.bad(err)
	}
	return t.inputArray(train)
}

// readArchive reads X and y as one table, y last.
func readArchive(f *source, opt Options) (*table, error) {
	info, err := f.file.Stat()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(f.file, info.Size())
	if err != nil {
		return nil, errors.New("not a NumPy archive (.npz)")
	}
	t, err := readMember(archive, f.name, opt, "x", "data", "features")
	if err != nil {
		return nil, err
	}
	y, err := readMember(archive, f.name, opt, "y", "target", "labels")
	if errors.Is(err, errNoMember) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	if y.rows != t.rows || len(y.columns) != 1 {
		return nil, fmt.Errorf("y has shape (%d, %d), X has %d rows: one target for each is needed", y.rows,
			len(y.columns), t.rows)
	}
	t.append(y)
	return t, nil
}

var errNoMember = errors.New("no such array")

// readMember reads an array of an archive by one of its usual names.
func readMember(archive *zip.Reader, file string, opt Options, names ...string) (*table, error) {
	var found []string
	for _, f := range archive.File {
		name := strings.TrimSuffix(f.Name, ".npy")
		found = append(found, name)
		if !slices.Contains(names, strings.ToLower(name)) {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		// roles come with both arrays
		t, err := arraySource{name: file, stream: r}.read(opt, func(*table) error { return nil })
		if err != nil {
			return nil, fmt.Errorf("array %s: %w", quote(name), err)
		}
		return t, nil
	}
	return nil, fmt.Errorf("%w %s among %s: np.savez(file, X=X, y=y) writes it", errNoMember,
		strings.ToUpper(names[0]), listTexts(found))
}

// append adds the only column of another array, called y.
func (t *table) append(y *table) {
	t.last = y
	t.used = append(t.used, len(t.columns))
	t.columns = append(t.columns, column{name: "y", kind: numbers})
}
