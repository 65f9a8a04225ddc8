"""bootbench from Python: functions that run its commands, and two scikit-learn estimators.

The program is part of the wheel; without a wheel it is the command bootbench on the PATH.
"""
import contextlib
import csv
import html
import importlib.metadata
import json
import os
import shlex
import subprocess
import tempfile
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, column_or_1d

try:
    from sklearn.utils.validation import validate_data  # scikit-learn 1.6 and later
except ImportError:
    def validate_data(estimator, *arrays, **options):
        return estimator._validate_data(*arrays, **options)

__all__ = ["Answer", "BootbenchClassifier", "BootbenchRegressor", "compare", "cross_validate", "estimate",
           "learning_curve", "run"]


def program():
    """The path of the program that came with the wheel, else its name."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("bootbench") or ():
            if file.name in ("bootbench", "bootbench.exe"):
                return str(file.locate())
    return "bootbench"


class Answer:
    """What a command answered: answer["error"] reads its JSON document, which is answer.document.

    It prints as the command does on a screen, and a notebook shows the page of --out.
    """

    def __init__(self, document, text="", page=None):
        self.document, self.text, self.page = document, text, page
        self._rows = None  # the arguments of _table for the rows that it is about

    def __getitem__(self, key):
        return self.document[key]

    def __contains__(self, key):
        return key in self.document

    def __iter__(self):
        return iter(self.document)

    def __len__(self):
        return len(self.document)

    def get(self, key, default=None):
        """The value of a key, or default where the document lacks it."""
        return self.document.get(key, default)

    def __repr__(self):
        return self.text.rstrip("\n")

    def _repr_html_(self):
        if not self.page:
            return "<pre>{}</pre>".format(html.escape(self.text))
        return '<iframe style="width: 100%; height: 40em; border: 0" srcdoc="{}"></iframe>'.format(
            html.escape(self.page))


def _words(options):
    """The flags of keyword arguments: _ stands for -, True for a flag without a value, a list for A,B,C."""
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            yield flag
        elif value is not None and value is not False:
            yield "{}={}".format(flag, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value)


def _run(command, *arguments, page=False, within="", **options):
    """The answer of a command, with its page if that is wanted; problems of the data are warnings.

    Its files in the folder within are called by their names alone.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "answer.json")
        line = [program(), command, *map(str, arguments), *_words(options), "--quiet", "--json", file]
        shown = options.get("out", folder)
        done = subprocess.run(line + ["--out=" + folder] * (page and "out" not in options),
                              capture_output=True, text=True, encoding="utf-8")
        if done.returncode not in (0, 3):  # 3: not converged, the answer is there with its residual
            raise (ValueError if done.returncode == 2 else RuntimeError)(done.stderr.strip())
        within = os.path.join(within, "")
        answer = Answer(json.loads(_read(file).replace(json.dumps(within)[1:-1], "")),
                        done.stdout.replace(within, ""))
        with contextlib.suppress(FileNotFoundError):  # shards have no page
            answer.page = _read(os.path.join(shown, "report.html")).replace(within, "")
    checks = answer.get("checks", ()) if isinstance(answer.document, dict) else ()
    for check in checks:
        if check["level"] == "issue":
            warnings.warn("{code} {text}: {cure}".format(**check), stacklevel=3)
    return answer


def _read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def run(command, *arguments, **options):
    """Run bootbench and return its answer: run("estimate", "my.csv", "--ard", noise="10%")."""
    return _run(command, *arguments, page=command not in ("datasets", "info"), **options)


@contextlib.contextmanager
def _table(X, y=None, weights=None, groups=None):
    """A file of X, the columns that are not None, and y if there is one, flags that name the columns, and its folder.

    X is a path or the name of an embedded set, a data frame, or an array; one of numbers is saved as .npy.
    """
    columns = {"weights": weights, "groups": groups}
    if isinstance(X, (str, os.PathLike)):
        if y is not None or any(column is not None for column in columns.values()):
            raise ValueError("the columns of a file are named by target, weights and groups")
        yield os.fspath(X), {}, ""
        return
    columns = {name: column_or_1d(column) for name, column in columns.items() if column is not None}
    frame = X if hasattr(X, "to_csv") else None
    X = X if frame is not None else np.asarray(X)
    wide = X.shape[1]
    more = {**columns, **({} if y is None else {"y": np.asarray(y)})}
    check_consistent_length(X, *more.values())
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.csv")
        if frame is not None:
            names = {name: _unused(name, frame) for name in more}
            if getattr(y, "name", None) not in (None, *frame.columns):
                names["y"] = str(y.name)
            frame.assign(**{names[name]: column for name, column in more.items()}).to_csv(path, index=False)
            flags = {name: names[name] for name in columns}
        elif all(np.asarray(part).dtype.kind in "biuf" for part in (X, *more.values())):
            path = _save(folder, "data", np.column_stack([X, *more.values()]))
            flags = {name: wide + 1 + k for k, name in enumerate(columns)}
        else:
            with open(path, "w", encoding="utf-8", newline="") as file:
                table = csv.writer(file)
                table.writerow(["x{}".format(j + 1) for j in range(wide)] + list(more))
                table.writerows([*row, *others] for row, *others in zip(X.tolist(), *(
                    column.tolist() for column in more.values())))
            flags = {name: name for name in columns}
        yield path, flags, folder


def _unused(name, frame):
    """A name that no column of a frame has."""
    while name in frame.columns:
        name += "_"
    return name


def _save(folder, name, array):
    path = os.path.join(folder, name + ".npy")
    np.save(path, np.asarray(array, dtype=float))
    return path


def _asked(command, X, y=None, flags=(), sample_weight=None, groups=None, options={}):
    with _table(X, y, sample_weight, groups) as (path, columns, folder):
        answer = _run(command, path, *flags, **columns, **options, page=True, within=folder)
    answer._rows = X, y, sample_weight, groups
    return answer


def estimate(X, y=None, *flags, sample_weight=None, groups=None, **options):
    """The error on new rows of the model that is trained on X and y, or on a file, and what each row says.

    Options and flags are those of the command: estimate(X, y, loss="square", noise="10%").
    """
    return _asked("estimate", X, y, flags, sample_weight, groups, options)


def cross_validate(X, y=None, *flags, sample_weight=None, groups=None, **options):
    """The error by exact fits without each of ten folds, or of folds=K, repeats=R times."""
    return _asked("cv", X, y, flags, sample_weight, groups, options)


def learning_curve(X, y=None, *flags, sample_weight=None, groups=None, **options):
    """The error of models of fewer rows, and of twice as many; of resamples of each ratio with ratio="0.5,1,2"."""
    return _asked("curve", X, y, flags, sample_weight, groups, options)


def compare(first, second, **options):
    """The paired difference of the errors of two models of the same rows: answers of estimate, or fitted estimators."""
    answers = [getattr(of, "estimate_", of) for of in (first, second)]
    with _table(*answers[0]._rows) as (path, _, folder), tempfile.TemporaryDirectory() as beside:
        files = [os.path.join(beside, name) for name in ("first", "second")]
        for name, of in zip(files, answers):
            with open(name, "w", encoding="utf-8") as file:
                json.dump(of.document, file)
        answer = _run("compare", path, models=files, **options, page=True, within=beside)
    return answer


class _Bootbench(BaseEstimator):
    """A model that bootbench chooses and trains.

    What is None is chosen by the rows, if a search can choose it, else the command's default. flags are further ones
    of the command line. After fit, model_ is the text of the model file and flags_ the flags that repeat the choice.
    """

    def __init__(self, flags=(), loss=None, C=None, kernel=None, gamma=None):
        self.flags = flags
        self.loss = loss
        self.C = C
        self.kernel = kernel
        self.gamma = gamma

    def _given(self):
        """The flags of the parameters."""
        names = {name: value for name, value in self.get_params().items() if name not in ("flags", "judge")}
        return [*self.flags, *_words(names)]

    @staticmethod
    def _counted(X, y, sample_weight, groups):
        """X, y and the other columns, without rows of weight 0."""
        if groups is not None:
            check_consistent_length(X, groups)
            groups = np.unique(column_or_1d(groups), return_inverse=True)[1]
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X)
            counted = sample_weight != 0
            X, y, sample_weight = X[counted], y[counted], sample_weight[counted]
            groups = groups if groups is None else groups[counted]
        columns = {"weights": sample_weight, "groups": groups}
        return X, y, {name: column for name, column in columns.items() if column is not None}

    def _train(self, X, targets, columns):
        self._examples, self._estimate = np.column_stack([X, *columns.values(), targets]), None
        shuffled = np.random.RandomState(0).permutation(len(self._examples))
        self._shuffled = self._examples[np.lexsort(self._examples.T)][shuffled]  # the order of rows plays no part
        named = {name: X.shape[1] + 1 + k for k, name in enumerate(columns)}
        with tempfile.TemporaryDirectory() as folder:
            flags = self._choose(_save(folder, "train", self._shuffled), targets, [*self._given(), *_words(named)])
        # without the error, which takes up to ten searches more; the perceptron has none
        quick = () if "perceptron" in flags or "--loss=perceptron" in flags else ("--no-error",)
        repeat = self._write(*flags, *quick).get("command_line")
        words = shlex.split(repeat)[3:] if repeat else flags  # bootbench train DATA FLAGS; none if all is given
        self.flags_ = [word for word in words if not word.startswith(("--model=", "--no-error"))]
        self._corrected = "--chosen" not in self.flags_
        return self

    def _write(self, *flags):
        """The answer of train, whose model file becomes model_."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.json")
            answer = _run("train", _save(folder, "train", self._shuffled), *flags, model=file)
            self.model_ = _read(file)
        return answer

    def _correct(self):
        """Trains with the choice made again, without which there are neither intervals nor sets."""
        check_is_fitted(self, "model_")
        known = json.loads(self.model_)["model"].get("left_out", {})
        if not self._corrected and not {"rows", "residuals"} & set(known):
            self._write(*self.flags_)
        self._corrected = True

    def _choose(self, data, targets, flags):
        """The flags of train, which chooses the rest."""
        return flags

    def _predict(self, X, *flags, **options):
        """What the trained model predicts: prediction, and lower and upper or probability."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.json")
            with open(file, "w", encoding="utf-8") as text:
                text.write(self.model_)
            answer = _run("predict", *flags, model=file, test=_save(folder, "new", X), **options)
        return {name: values if name == "set" else np.array(values) for name, values in answer["points"].items()}

    @property
    def estimate_(self):
        """The answer of bootbench estimate for the chosen model, computed when it is first asked for."""
        check_is_fitted(self, "model_")
        if self._estimate is None:
            self._estimate = _asked("estimate", self._examples, flags=self.flags_)
        return self._estimate

    def columns(self, level=0.95):
        """The error without each column of X, and with it permuted, minus the error with it.

        By name, or number from 0, of the column, the most important first: {"without": W, "permuted": P}, each
        with "value", "standard_error", and the interval from "lower" to "upper".
        """
        check_is_fitted(self, "model_")
        flags = [word for word in self.flags_ if not word.startswith("--judge")]
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        return {names[int(effect.pop("column")[1:]) - 1]: effect
                for effect in _asked("columns", self._examples, flags=flags, options={"level": level})["columns"]}

    @property
    def error_(self):
        """Error on rows that were not seen: mean square, or share of wrong labels."""
        return self.estimate_["error"]

    @property
    def error_se_(self):
        """The standard error of error_, over examples and resamples."""
        return self.estimate_["error_se"]


class BootbenchRegressor(RegressorMixin, _Bootbench):
    """Gaussian process regression (square loss), or the loss in flags."""

    def __init__(self, flags=(), loss=None, C=None, kernel=None, gamma=None, noise=None, epsilon=None):
        super().__init__(flags, loss, C, kernel, gamma)
        self.noise = noise
        self.epsilon = epsilon

    def fit(self, X, y, sample_weight=None, groups=None):
        """Trains; rows of a group are always left out together."""
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2)
        return self._train(*self._counted(X, y, sample_weight, groups))

    def _choose(self, data, targets, flags):
        """Two values are two classes to train without --loss: tune chooses for the square loss."""
        if any(f.startswith("--loss") for f in flags) or len(np.unique(targets)) != 2:
            return flags
        return shlex.split(_run("tune", data, *flags, loss="square")["command_line"])[3:]

    def predict(self, X):
        return self._predict(X)["prediction"]

    def predict_interval(self, X, level=0.9):
        """An interval for a new observation at each row of X: lower and upper ends as two columns.

        The ends are infinite where the examples are too few for the level, or too many to leave out. The first
        call for a model that up to 1000 rows have chosen makes the choice again.
        """
        self._correct()
        points = self._predict(X, level=level)
        unknown = np.full(len(points["prediction"]), np.nan)
        ends = np.array([points.get(name, unknown) for name in ("lower", "upper")], dtype=float)  # null: NaN
        return np.where(np.isnan(ends), [[-np.inf], [np.inf]], ends).T


class BootbenchClassifier(ClassifierMixin, _Bootbench):
    """Support vector machine (hinge loss) for two classes or more, or the loss in flags.

    judge is by what a model of two classes is chosen and judged: "error", "log-loss", "auc", "balanced", or
    "cost:A,B" with the costs of a wrong label for a row of the first class, and of the second.
    """

    def __init__(self, flags=(), judge="error", loss=None, C=None, kernel=None, gamma=None):
        super().__init__(flags, loss, C, kernel, gamma)
        self.judge = judge

    def fit(self, X, y, sample_weight=None, groups=None):
        """Trains; rows of a group are always left out together."""
        X, y = validate_data(self, X, y, ensure_min_samples=2)
        check_classification_targets(y)
        X, y, columns = self._counted(X, y, sample_weight, groups)
        self.classes_, index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: at least two are needed.")
        return self._train(X, 2 * index - 1 if len(self.classes_) == 2 else index, columns)

    def _choose(self, data, targets, flags):
        """More than two whole numbers are classes."""
        flags = flags if self.judge == "error" else [*flags, "--judge=" + self.judge]
        return flags if len(self.classes_) == 2 else [*flags, "--task=classification"]

    @property
    def judged_(self):
        """What the model is expected to have on new rows by judge: value, se, and lower and upper."""
        return self.estimate_["judged"]

    @available_if(lambda self: len(getattr(self, "classes_", "01")) == 2)
    def decision_function(self, X):
        """The field of two classes, positive for the second."""
        return self._predict(X)["prediction"]

    def predict(self, X):
        """The class by the sign of the field, or as judge decides; of more than two the most probable one."""
        points = self._predict(X)
        if len(self.classes_) == 2 or "probability" not in points:  # votes of pairs
            return self._classes(points["class"])
        return self.classes_[self._probabilities(points).argmax(axis=1)]

    def _classes(self, texts):
        """The classes of the numbers that stand for them in files."""
        numbers = np.array(texts, dtype=float).astype(int)
        return self.classes_[(numbers + 1) // 2 if len(self.classes_) == 2 else numbers]

    def predict_set(self, X, level=0.9):
        """For each row of X the classes that its label is among with probability level, as a list of arrays.

        The first call for a model that up to 1000 rows have chosen makes the choice again.
        """
        self._correct()
        return [self._classes(texts) for texts in self._predict(X, "--sets", level=level)["set"]]

    def predict_proba(self, X):
        """Probabilities of the classes, calibrated on examples that models are trained without."""
        return self._probabilities(self._predict(X))

    def _probabilities(self, points):
        of = points["probability"]
        if len(self.classes_) == 2:
            return np.column_stack([1 - of, of])
        return np.column_stack([of.item()[str(k)] for k in range(len(self.classes_))])
