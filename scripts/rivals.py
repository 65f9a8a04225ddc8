#!/usr/bin/env python3
"""bootbench beside scikit-learn and LIBSVM: whole processes on the same rows, one thread each.

usage: scripts/rivals.py [--splits S] BOOTBENCH [SET:ROWS...]
       scripts/rivals.py draw TABLE.md PICTURE.svg    the first table, as it stands in a file of text

Jobs: choose a model and predict rows that it has not seen; cross-validate that model, 10 folds 10 times; its
error on rows that resamples leave out, over 200 resamples; log loss of its probabilities on the new rows. SET
is an embedded set, synthetic:NAME or a CSV file; ROWS of it are trained on, up to 2000 others are judged on.
scikit-learn is used by whichever python3 has it, LIBSVM if svm-train is there. Prints the tables of
BENCHMARKS.md: processor seconds, the least of the splits (one above 1000 rows), and answers, their mean.
"""
import csv
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

SETS = ("sonar:140 boston:300 pima:300 synthetic:checker:1000 synthetic:friedman1:1000 "
        "synthetic:checker:3000 synthetic:friedman1:3000").split()
COSTS = [2.0 ** k for k in range(-5, 10, 2)]
GAMMAS = [2.0 ** k for k in range(-11, 4, 2)]
NOISES = [10.0 ** (k / 2) for k in range(-8, 0)]  # of the targets' variance


# The jobs of scikit-learn, each in a process of its own.

def learn(job, train, test, c, gamma):
    import numpy as np
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold
    from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    (x, y), (new_x, new_y) = ((a[:, :-1], a[:, -1]) for a in (
        np.loadtxt(name, delimiter=",", skiprows=1) for name in (train, test)))
    labels = len(set(y)) == 2
    if labels:
        model, scoring = SVC(C=float(c), gamma=float(gamma)), "accuracy"
        cells = {"svc__C": COSTS, "svc__gamma": GAMMAS}
    else:
        model, scoring = TransformedTargetRegressor(
            KernelRidge(kernel="rbf", alpha=float(c), gamma=float(gamma)),
            transformer=StandardScaler()), "neg_mean_squared_error"
        name = "transformedtargetregressor__regressor__"
        cells = {name + "alpha": NOISES, name + "gamma": GAMMAS}

    def loss(predicted, target):
        return (predicted != target) if labels else (predicted - target) ** 2

    if job == "choose":
        folds = StratifiedKFold if labels else KFold
        search = GridSearchCV(make_pipeline(StandardScaler(), model), cells, scoring=scoring,
                              cv=folds(5, shuffle=True, random_state=0)).fit(x, y)
        return float(loss(search.predict(new_x), new_y).mean())
    scaler = StandardScaler().fit(x)
    x, new_x = scaler.transform(x), scaler.transform(new_x)
    if job == "probabilities":
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.metrics import log_loss
        return float(log_loss(new_y, CalibratedClassifierCV(model, cv=5).fit(x, y).predict_proba(new_x)))
    if job == "cv":
        folds = RepeatedStratifiedKFold if labels else RepeatedKFold
        scores = cross_val_score(model, x, y, scoring=scoring,
                                 cv=folds(n_splits=10, n_repeats=10, random_state=0))
        return float(1 - scores.mean() if labels else -scores.mean())
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    bag = (BaggingClassifier if labels else BaggingRegressor)(model, 200, random_state=0).fit(x, y)
    errors, times = np.zeros(len(y)), np.zeros(len(y))
    for estimator, drawn in zip(bag.estimators_, bag.estimators_samples_):
        out = np.setdiff1d(np.arange(len(y)), drawn)
        predicted = estimator.predict(x[out])
        errors[out] += loss(bag.classes_[predicted.astype(int)] if labels else predicted, y[out])
        times[out] += 1
    return float((errors / times).mean())


# The driver: standard library only.

def seconds(*line):
    """Output of a command, and the processor seconds of its process."""
    threads = dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen([str(a) for a in line], stdout=out, env=threads)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 3):
            raise SystemExit(f"{line}: exit status {process.returncode}")
        out.seek(0)
        return out.read().decode(), used.ru_utime + used.ru_stime


def log_loss(probability, target):
    return -statistics.fmean(math.log(max(p if y > 0 else 1 - p, 1e-15)) for p, y in zip(probability, target))


def interpreter():
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import sklearn"], capture_output=True).returncode == 0:
            return python
    print("there is no scikit-learn", file=sys.stderr)


class Split:
    """ROWS of a set to train on and others to judge by, as CSV and, standardised, as LIBSVM's text."""

    def __init__(self, bootbench, name, rows, seed, folder):
        self.bootbench = bootbench
        whole = name
        if not os.path.exists(name):
            whole = os.path.join(folder, "whole.csv")
            synthetic = f",n={rows + 2000},seed={seed + 1}" if name.startswith("synthetic:") else ""
            subprocess.run([bootbench, "datasets", "--export", name + synthetic, whole], check=True,
                           stdout=subprocess.DEVNULL)
        with open(whole, newline="") as file:
            head, *table = csv.reader(file)
        random.Random(seed).shuffle(table)
        self.labels = len({row[-1] for row in table}) == 2
        table = [[float(v) for v in row] for row in table]
        parts = {"train": table[:rows], "test": table[rows:rows + 2000]}
        columns = list(zip(*parts["train"]))
        mean = [statistics.fmean(c) for c in columns]
        sd = [statistics.pstdev(c) or 1 for c in columns]
        if self.labels:
            mean[-1], sd[-1] = 0, 1
        self.scale = sd[-1] ** 2
        for part, lines in parts.items():
            path = os.path.join(folder, part)
            setattr(self, part, path + ".csv")
            with open(path + ".csv", "w", newline="") as file:
                csv.writer(file).writerows([head, *lines])
            with open(path + ".svm", "w") as file:
                for row in lines:
                    *x, y = ((v - m) / s for v, m, s in zip(row, mean, sd))
                    file.write(f"{y:.9g} " + " ".join(f"{j}:{v:.9g}" for j, v in enumerate(x, 1)) + "\n")
        self.folder = folder

    def json(self, command, *flags):
        text, used = seconds(self.bootbench, command, *flags, "--json", "-", "--quiet", "--threads", 1)
        return json.loads(text), used

    def ours(self):
        """Seconds and answers of the jobs, and the model of the other jobs: cost (or noise) and gamma."""
        file = os.path.join(self.folder, "model.json")
        model, used = self.json("train", self.train, "--model", file)
        new, more = self.json("predict", "--model", file, "--test", self.test)
        best = {"gamma": model["kernel"].get("gamma"), "noise": model.get("noise")}
        if not best["gamma"]:  # length scales by feature, which the others do not have
            best = self.json("tune", self.train, "--over", "gamma,noise", "--refine", "none")[0]["best"]
        gamma = best["gamma"]
        if self.labels:
            flags = ["--loss", "hinge", "--C", model["C"], "--gamma", gamma]
            c = model["C"]
        else:
            flags = ["--loss", "square", "--noise", best["noise"], "--gamma", gamma,
                     "--amplitude", model["kernel"]["amplitude"]]
            c = best["noise"] / model["kernel"]["amplitude"]
        cv, cv_used = self.json("cv", self.train, *flags, "--folds", 10, "--repeats", 10)
        estimate, estimate_used = self.json("estimate", self.train, *flags, "--scheme", "multinomial")
        answers = [(used + more, new["test_error"]), (cv_used, cv["error"]),
                   (estimate_used, estimate["error"])]
        if self.labels:
            _, used = self.json("train", self.train, *flags, "--model", file)
            new, more = self.json("predict", "--model", file, "--test", self.test)
            answers.append((used + more, log_loss(new["points"]["probability"], new["points"]["target"])))
        return answers, c, gamma

    def sklearn(self, python, c, gamma):
        answers = []
        for job in ("choose", "cv", "bag") + ("probabilities",) * self.labels:
            text, used = seconds(python, __file__, "learn", job, self.train, self.test, c, gamma)
            answers.append((used, float(text)))
        return answers

    def libsvm(self, c, gamma):
        """LIBSVM has no kernel ridge regression: numbers are predicted by its epsilon-SVR."""
        kind = ["-s", 0] if self.labels else ["-s", 3, "-p", 0.1]
        train, test = (os.path.join(self.folder, part + ".svm") for part in ("train", "test"))
        model, out = (os.path.join(self.folder, name) for name in ("model", "predicted"))

        def error(text):
            value = float(next(s for s in text.split("\n") if "=" in s and ("ccuracy" in s or "Mean" in s))
                          .split("=")[1].split()[0].rstrip("%"))
            return 1 - value / 100 if self.labels else value * self.scale

        def validate(folds, c, gamma):
            text, used = seconds("svm-train", "-q", *kind, "-v", folds, "-c", c, "-g", gamma, train)
            return used, error("\n".join(s for s in text.split("\n") if s.startswith("Cross")
                                         and "correlation" not in s))

        total, best = 0, (math.inf,)
        for g in GAMMAS:
            for cost in COSTS:
                used, wrong = validate(5, cost, g)
                total, best = total + used, min(best, (wrong, cost, g))
        _, used = seconds("svm-train", "-q", *kind, "-c", best[1], "-g", best[2], train, model)
        text, more = seconds("svm-predict", test, model, out)
        answers = [(total + used + more, error(text))]
        if self.labels:
            used, wrong = validate(10, c, gamma)
            answers += [(10 * used, wrong), None]
            _, used = seconds("svm-train", "-q", "-b", 1, "-c", c, "-g", gamma, train, model)
            _, more = seconds("svm-predict", "-b", 1, test, model, out)
            with open(out) as file:
                head, *lines = (line.split() for line in file)
            with open(test) as file:
                targets = [float(line.split()[0]) for line in file]
            at = head.index("1")
            answers.append((used + more, log_loss([float(line[at]) for line in lines], targets)))
        return answers


def main(arguments):
    splits = 3
    if arguments[0] == "--splits":
        splits, arguments = int(arguments[1]), arguments[2:]
    bootbench, sets = os.path.abspath(arguments[0]), arguments[1:] or SETS
    python, svm = interpreter(), shutil.which("svm-train")
    print("| data | n | bootbench s | GridSearchCV s | svm-train s | error | GridSearchCV | svm-train |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    others = []
    for name, rows in (s.rsplit(":", 1) for s in sets):
        runs = []
        for seed in range(splits if int(rows) <= 1000 else 1):
            with tempfile.TemporaryDirectory() as folder:
                split = Split(bootbench, name, int(rows), seed, folder)
                ours, c, gamma = split.ours()
                runs.append([ours, split.sklearn(python, c, gamma) if python else [],
                             split.libsvm(c, gamma) if svm else []])
        head = os.path.basename(name).removesuffix(".csv").removeprefix("synthetic:"), rows
        choose, *rest = (summary(runs, job) for job in range(len(runs[0][0])))
        print("|", " | ".join([*head, *choose[0], *choose[1]]), "|", flush=True)
        others.append([*head, *("; ".join(v for v in values if v) for job in rest for values in job)])
    print("\n| data | n | 10 folds 10 times, s | error | 200 resamples, s | error | probabilities, s "
          "| log loss |")
    print("|---|---:|---|---|---|---|---|---|")
    for row in others:
        print("|", " | ".join(row + [""] * (8 - len(row))), "|")


def summary(runs, job):
    """Least seconds and mean answer of a job by each of the three, as text."""
    texts = [], []
    for who in range(3):
        known = len(runs[0][who]) > job and runs[0][who][job] is not None
        for k, over in enumerate((min, statistics.fmean)):
            texts[k].append(f"{over(run[who][job][k] for run in runs):.3g}" if known else "")
    return texts


def draw(table, picture):
    """Seconds of choosing against rows, in logarithms, of the first table in a file."""
    with open(table) as file:
        lines = file.read().split("| data | n | bootbench s |")[1].split("\n\n")[0].splitlines()[2:]
    points = [(who, float(cells[1]), float(cells[2 + who])) for line in lines
              for cells in [[c.strip() for c in line.strip("|").split("|")]] for who in range(3) if cells[2 + who]]

    def place(rows, seconds):
        return 60 + 150 * math.log10(rows / 100), 260 - 60 * math.log10(seconds / 0.1)

    marks = []
    for exponent in range(4):
        _, y = place(100, 10.0 ** (exponent - 1))
        marks.append(f'<path d="M60 {y:.0f}H330" stroke="#ddd"/><text x="54" y="{y + 4:.0f}" text-anchor="end">'
                     f'{10.0 ** (exponent - 1):g} s</text>')
    for rows in (100, 300, 1000, 3000):
        x, _ = place(rows, 1)
        marks.append(f'<text x="{x:.0f}" y="290" text-anchor="middle">{rows}</text>')
    colours = "#0072b2", "#d55e00", "#009e73"
    for who, rows, seconds in points:
        x, y = place(rows, seconds)
        marks.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colours[who]}"/>')
    for who, name in enumerate(("bootbench", "GridSearchCV", "svm-train -v")):
        marks.append(f'<circle cx="350" cy="{60 + 20 * who}" r="4" fill="{colours[who]}"/>'
                     f'<text x="360" y="{64 + 20 * who}">{name}</text>')
    with open(picture, "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 460 320" font-family="sans-serif" '
                   'font-size="12"><rect width="460" height="320" fill="white"/>' + "\n".join(marks) +
                   '<text x="195" y="312" text-anchor="middle">rows</text></svg>\n')


if __name__ == "__main__":
    if sys.argv[1:2] == ["draw"]:
        sys.exit(draw(*sys.argv[2:]))
    if sys.argv[1:2] == ["learn"]:
        print(learn(*sys.argv[2:]))
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        main(sys.argv[1:])
