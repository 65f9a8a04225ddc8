"""Tests of the installed package: python3 -m unittest python/test_bootbench.py, or make wheel-test."""
import contextlib
import io
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import bootbench
from bootbench import BootbenchClassifier, BootbenchRegressor

warnings.simplefilter("ignore")
rng = np.random.default_rng(1)
X = rng.normal(size=(60, 3))
y = X[:, 0] + np.sin(2 * X[:, 1]) + rng.normal(0, 0.1, 60)
SQUARE = {"loss": "square", "noise": 0.1}
HINGE = {"loss": "hinge", "C": 1}


class Test(unittest.TestCase):
    def test_page(self):
        """The program of doc/python.md runs."""
        page = (pathlib.Path(__file__).parents[1] / "doc/python.md").read_text(encoding="utf-8")
        here, said = os.getcwd(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            os.chdir(folder)
            try:
                subprocess.run([bootbench.program(), "datasets", "--export", "boston", "houses.csv"], check=True,
                               stdout=subprocess.DEVNULL)
                table = pathlib.Path("houses.csv").read_text().replace("medv", "price", 1)
                pathlib.Path("houses.csv").write_text(table)
                exec("".join(re.findall("```python\n(.*?)```", page, re.DOTALL)), {})
            finally:
                os.chdir(here)
        for text in ("error           ", "mean square error ", "'--noise'", "between [[", "difference ",
                     "probabilities of ['high' 'low'] [[", "accuracy ", "is among [array(", "without column 0 ",
                     "area under the ROC curve ", "worst row ", "covariance "):
            self.assertIn(text, said.getvalue())

    def test_scikit_learn_checks(self):
        check_estimator(BootbenchRegressor(**SQUARE))
        check_estimator(BootbenchClassifier(**HINGE))

    def test_pipeline_and_search(self):
        """A search over a parameter of a step finds the one that scikit-learn's own scores prefer."""
        pipe = make_pipeline(StandardScaler(), BootbenchRegressor(**SQUARE))
        search = GridSearchCV(pipe, {"bootbenchregressor__noise": [0.02, 50.0]}, cv=3).fit(X, y)
        self.assertEqual(search.best_params_, {"bootbenchregressor__noise": 0.02})
        self.assertGreater(search.score(X, y), 0.9)
        label = np.where(y > 0, "yes", "no")
        groups = np.arange(60) // 6
        found = GridSearchCV(BootbenchClassifier(loss="hinge", kernel="rbf"), {"C": [1e-6, 1.0]},
                             cv=GroupKFold(5)).fit(X, label, groups=groups)
        self.assertEqual(found.best_params_, {"C": 1.0})

    def test_classes(self):
        """Three classes: probabilities sum to one, and sets hold classes."""
        label = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
        model = BootbenchClassifier(**HINGE).fit(X, label)
        self.assertGreater(model.score(X, label), 0.8)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, atol=1e-9)
        self.assertTrue(all(set(few) <= set("abc") for few in model.predict_set(X[:5])))
        self.assertGreater(cross_val_score(model, X, label, cv=3).mean(), 0.5)

    def test_weights(self):
        """A row of weight 2 counts as two rows, one of weight 0 as none."""
        weight = rng.integers(0, 3, 60)
        given = {"flags": ("--no-standardize", "--no-normalize-target"), "gamma": 0.3, **SQUARE}
        weighed = BootbenchRegressor(**given).fit(X, y, sample_weight=weight)
        repeated = BootbenchRegressor(**given).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_allclose(weighed.predict(X), repeated.predict(X), rtol=1e-6)
        plain = BootbenchRegressor(**given).fit(X, y).predict(X)
        self.assertGreater(abs(plain - weighed.predict(X)).max(), 1e-4)
        with self.assertRaises(ValueError):
            BootbenchRegressor(**given).fit(X, y, sample_weight=weight[1:])

    def test_groups(self):
        """Each input six times, with a target of the group's own: without groups a model remembers it."""
        groups = np.repeat(np.arange(15), 6)
        Z = rng.normal(size=(15, 2))[groups] + 0.01 * rng.normal(size=(90, 2))
        own = rng.normal(size=15)[groups]
        model = {"loss": "square", "noise": 0.01, "gamma": 2}
        known = BootbenchRegressor(**model).fit(Z, own).error_
        new = BootbenchRegressor(**model).fit(Z, own, groups=groups).error_
        self.assertGreater(new, 5 * known)
        asked = bootbench.cross_validate(Z, own, groups=[str(g) for g in groups], folds=5, **model)
        self.assertGreater(asked["error"], 5 * known)

    def test_answers(self):
        """Arrays, texts and weights give an answer that prints as the screen, with a page."""
        label = np.where(y > 0, 'say "yes"', "no, never")
        answer = bootbench.estimate(X, label, sample_weight=np.ones(60), **HINGE)
        self.assertEqual(answer["labels"], {"negative": "no, never", "positive": 'say "yes"'})
        self.assertRegex(repr(answer), r"(?m)^error +[\d.]+%")
        self.assertIn("srcdoc", answer._repr_html_())
        self.assertIn("<svg", answer.page)
        curve = bootbench.learning_curve(X, y, ratio=[0.5, 1], **SQUARE)
        self.assertEqual([each["ratio"] for each in curve["results"]], [0.5, 1])
        other = bootbench.estimate(X, label, sample_weight=np.ones(60), loss="hinge", C=1e-3)
        self.assertIn("difference", repr(bootbench.compare(answer, other)))
        with self.assertRaisesRegex(ValueError, "--loss"):
            bootbench.estimate(X, y, loss="none")

    def test_frames(self):
        """Columns of a data frame keep their names, also those with the name of a column of ours."""
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = pandas.DataFrame({"size": X[:, 0], "groups": X[:, 1], "kind": np.where(X[:, 2] > 0, "old", "new")})
        answer = bootbench.estimate(frame, pandas.Series(y, name="price"), groups=np.arange(60) // 2, **SQUARE)
        self.assertEqual((answer["target"], answer["d"]), ("price", 3))
        self.assertEqual(bootbench.estimate(frame, target="size", **SQUARE)["target"], "size")

    def test_program(self):
        """The program is that of the wheel, and the version its own."""
        self.assertTrue(os.path.isabs(bootbench.program()))
        said = subprocess.run([bootbench.program(), "--version"], capture_output=True, text=True).stdout
        self.assertIn(bootbench.importlib.metadata.version("bootbench").split(".dev")[0], said)


if __name__ == "__main__":
    unittest.main()
