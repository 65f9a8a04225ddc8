"""bootbench from Python: a function that runs the command, and two scikit-learn estimators.

Needs the program on the PATH, NumPy and scikit-learn. Copy this file beside your own.
"""
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
from sklearn.utils.validation import check_is_fitted

try:
    from sklearn.utils.validation import validate_data  # scikit-learn 1.6 and later
except ImportError:
    def validate_data(estimator, *arrays, **options):
        return estimator._validate_data(*arrays, **options)


def run(command, *arguments, **options):
    """Run bootbench and return its JSON answer: run("estimate", "my.csv", "--ard", noise="10%")."""
    line = ["bootbench", command, *arguments, "--json", "-", "--quiet"]
    for name, value in options.items():
        line += ["--" + name.replace("_", "-"), str(value)]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode not in (0, 3):  # 3: not converged, the answer is there with its residual
        raise (ValueError if done.returncode == 2 else RuntimeError)(done.stderr.strip())
    answer = json.loads(done.stdout)
    for check in answer.get("checks", []):
        if check["level"] == "issue":
            warnings.warn("{code} {text}: {cure}".format(**check), stacklevel=2)
    return answer


class _Bootbench(BaseEstimator):
    """A model that bootbench chooses and trains.

    flags are those of the command line; with ("--loss", ...) the model is given instead of chosen. After fit,
    model_ is the text of the model file and flags_ the flags that repeat the choice.
    """

    def __init__(self, flags=()):
        self.flags = flags

    def _train(self, X, targets):
        self._examples, self._estimate = np.column_stack([X, targets]), None
        with tempfile.TemporaryDirectory() as folder:
            flags = self._choose(self._save(folder, "train", self._examples), targets)
        # without the error, which takes up to ten searches more; the perceptron has none
        repeat = self._write(*flags, *() if "perceptron" in flags else ("--no-error",)).get("command_line")
        words = shlex.split(repeat)[3:] if repeat else flags  # bootbench train DATA FLAGS; none if all is given
        self.flags_ = [word for word in words if not word.startswith(("--model=", "--no-error"))]
        self._corrected = "--chosen" not in self.flags_
        return self

    def _write(self, *flags):
        """The answer of train, whose model file becomes model_."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.json")
            answer = run("train", self._save(folder, "train", self._examples), *flags, "--model", file)
            with open(file) as text:
                self.model_ = text.read()
        return answer

    def _correct(self):
        """Trains with the choice made again, without which there are neither intervals nor sets."""
        check_is_fitted(self, "model_")
        known = json.loads(self.model_)["model"].get("left_out", {})
        if not self._corrected and not {"rows", "residuals"} & set(known):
            self._write(*self.flags_)
        self._corrected = True

    def _choose(self, data, targets):
        """The flags of train, which chooses the rest."""
        return self.flags

    @staticmethod
    def _save(folder, name, array):
        path = os.path.join(folder, name + ".npy")
        np.save(path, np.asarray(array, dtype=float))
        return path

    def _predict(self, X, *flags, **options):
        """What the trained model predicts: prediction, and lower and upper or probability."""
        check_is_fitted(self, "model_")
        X = validate_data(self, X, reset=False)
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.json")
            with open(file, "w") as text:
                text.write(self.model_)
            answer = run("predict", *flags, model=file, test=self._save(folder, "new", X), **options)
        return {name: values if name == "set" else np.array(values) for name, values in answer["points"].items()}

    @property
    def estimate_(self):
        """The answer of bootbench estimate for the chosen model, computed when it is first asked for."""
        check_is_fitted(self, "model_")
        if self._estimate is None:
            self._estimate = self._ask("estimate", self.flags_)
        return self._estimate

    def _ask(self, command, flags, **options):
        """The answer of a command about the rows of fit."""
        with tempfile.TemporaryDirectory() as folder:
            return run(command, self._save(folder, "train", self._examples), *flags, **options)

    def columns(self, level=0.95):
        """The error without each column of X, and with it permuted, minus the error with it.

        By name, or number from 0, of the column, the most important first: {"without": W, "permuted": P}, each
        with "value", "standard_error", and the interval from "lower" to "upper".
        """
        check_is_fitted(self, "model_")
        flags = [word for word in self.flags_ if not word.startswith("--judge")]
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        return {names[int(effect.pop("column")[1:]) - 1]: effect
                for effect in self._ask("columns", flags, level=level)["columns"]}

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

    def fit(self, X, y):
        X, y = validate_data(self, X, y, y_numeric=True, ensure_min_samples=2)
        return self._train(X, y)

    def _choose(self, data, targets):
        """Two values are two classes to train without --loss: tune chooses for the square loss."""
        if any(f.startswith("--loss") for f in self.flags) or len(np.unique(targets)) != 2:
            return self.flags
        return shlex.split(run("tune", data, *self.flags, loss="square")["command_line"])[3:]

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

    def __init__(self, flags=(), judge="error"):
        super().__init__(flags)
        self.judge = judge

    def fit(self, X, y):
        X, y = validate_data(self, X, y, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: at least two are needed.")
        return self._train(X, 2 * index - 1 if len(self.classes_) == 2 else index)

    def _choose(self, data, targets):
        """More than two whole numbers are classes."""
        flags = self.flags if self.judge == "error" else (*self.flags, "--judge=" + self.judge)
        return flags if len(self.classes_) == 2 else (*flags, "--task", "classification")

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
