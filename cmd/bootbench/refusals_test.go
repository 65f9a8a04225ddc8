package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// refusals are command lines that are refused before anything is computed, and what is said of each. DIR is
// a folder with the files of refusedFiles.
const refusals = `
nosuch | unknown command
help nosuch | nosuch
estimat boston | did you mean estimate?
info boston | takes no arguments
estimate | takes one DATA
estimate boston crabs | takes one DATA
estimate nosuch.csv --loss square --noise 1 | nosuch.csv: no such file
estimate nosuch | neither a file nor an embedded set (boston
estimate bosto | did you mean boston?
estimate synthetic:nosuch --loss square | no generator
estimate DIR/empty.csv | empty.csv: the file is empty
estimate DIR/ragged.csv | ragged.csv: line 3:
estimate DIR/word.csv | word.csv: line 3: column "y": "four" is not a number
estimate DIR/nan.csv | nan.csv: line 3: column "a"
estimate DIR/one.csv | one example
estimate DIR/flat.csv | column "y": all 2 targets are 2
estimate DIR/large.csv --loss square --noise 1 | target of row 1
estimate boston --nosuch | unknown flag: --nosuch; bootbench estimate --help-all lists the flags
estimate boston --gama 1 | did you mean gamma?
estimate boston --c 1 | did you mean C
estimate boston --alpha 1 | it is called --noise here
estimate boston -json x | flags begin with two dashes
estimate boston --gamma 0.1,0.2 | --gamma takes a number, not "0.1,0.2"
estimate boston --noise 5x | --noise takes a number, or a share of the target's variance such as 10%, not "5x"
estimate boston --target medv | datasets --export boston FILE
estimate DIR/two.csv --target a --target b | given twice: write --target a,b
estimate boston --gamma 1 --gamma 2 | --gamma is given twice
estimate boston --judge auc | only two labels are judged by auc
cv iris --loss hinge --judge balanced | only two labels are judged by balanced
tune crabs --judge cost:1 | must be error, log-loss, auc, balanced, or cost:A,B
cv crabs --loss hard --roc | two labels and a loss with weights of rows
cv boston --loss square --noise 1 --roc | two labels
tune crabs --judge auc --by leftout | choose by cv
train crabs --loss perceptron --judge auc --model DIR/p.json | no probabilities to judge by
train crabs --loss hinge --judge auc --no-standardize --model DIR/p.libsvm | no place for a threshold
estimate boston --quiet --quiet=false | --quiet is given twice
estimate boston --engine exact --rank-tol 0.1 | --rank-tol has no effect
grid crabs --loss hinge --over C=1,2 --by cv --ratio 2 | --ratio has no effect
grid crabs --loss hinge --over ratio=1,2 --by cv | no ratio
grid crabs --loss hinge --over C=1,2 --by 632plus --test-loss absolute | choose by cv or leftout
compare --models DIR/a.json DIR/b.json --seed 3 | no such file
compare --target y | none is given
estimate crabs --multiclass ovo | three classes or more
estimate DIR/line.csv --zero-based | lines with an index 0 count from 0
estimate boston --max-rank 9 | --max-memory bounds the rank
estimate boston --max-levels 3 | merge rare texts
estimate boston --covariance c.npy | also at the rows of DATA
rows boston --level 0.5 | predict has it
estimate boston --delta 1 | it is called --epsilon here
predict iris --test iris --loss hinge --level 0.5 | --level has no meaning for iris
estimate iris --loss hinge --test-loss absolute | wrong classes are counted
estimate iris --loss hinge --quantiles 0.5 | several classes have one error
rows iris --loss hinge --tol 0.1 | exact fits judge the rows
rows crabs --metrics all | unknown flag: --metrics
predict crabs --test crabs --interval estimator | for numbers
predict crabs --test crabs --residuals scaled | for numbers
predict boston --test boston --sets | numbers have intervals
train boston --model DIR/m.json --no-error --level 0.9 | --level has no effect
train crabs --loss perceptron --no-error --model DIR/m.json | no error that --no-error could leave out
predict --model DIR --test boston | is a directory
train synthetic:blobs,n=30 --loss hard --kernel linear --model DIR/m | contradict each other
estimate iris --loss hinge --C 1 --multiclass ovo --scheme bayesian | no row is left out
estimate DIR/two.csv --target a,b --loss hinge | is for labels
estimate DIR/two.csv --weights q | no column
estimate DIR/signs.csv --weights w | is no weight
estimate DIR/two.csv --target a,b --positive 3 | several targets are numbers
estimate DIR/two.csv --target a,b --test-loss absolute | are squares
estimate boston --noise 0 | --noise is 0
estimate boston --noise NaN | --noise is NaN
estimate boston --noise 1e155 | --noise is 1e+155, must be between
estimate boston --amplitude 1e-320 | --amplitude
estimate boston --jitter 1e308 | --jitter
estimate boston --ratio -2 | --ratio is -2
estimate boston --ratio Inf | --ratio is +Inf
estimate boston --scheme nosuch | there is poisson, multinomial
estimate boston --scheme kfold --folds 1 | --folds is 1, must be at least 2
estimate boston --scheme kfold --folds 507 | --folds:
estimate boston --scheme kfold --ratio 0.5 | takes --folds instead
estimate boston --folds 5 | --folds belongs to --scheme kfold
estimate boston --scheme subsample --ratio 1.5 | must be at most 1 with --scheme subsample
estimate boston --loss nosuch | there is square, hard, hinge
estimate boston --loss hinge | two classes are needed
estimate boston --loss huber --epsilon 0 | epsilon
estimate boston --loss eps --epsilon -1 | --epsilon is -1, must be between
estimate boston --C 2 | --C: --loss square takes only --noise
estimate boston --engine nosuch | there is auto, exact, lowrank
estimate boston --rank-tol 1 | --rank-tol is 1, must be between
estimate boston --test-loss nosuch | there is square
estimate boston --kernel rfb | rbf
estimate boston --gamma 0 | --gamma is 0
estimate boston --kernel poly --degree 0 | --degree is 0
estimate boston --kernel poly --length-scale 2 | takes no length scale
estimate boston --length-scale 1,2 | 2 length scales for 13 features
estimate boston --tol 0 | --tol is 0
estimate boston --max-sweeps 0 | --max-sweeps is 0
estimate boston --threads 0 | --threads is 0
estimate boston --backend nosuch | no BLAS backend
estimate boston --max-memory 1KiB | MiB, 1 KiB are available
estimate boston --max-memory lots | is not a size
estimate boston --json DIR/no/x.json | no such file or directory
estimate boston --out DIR/one.csv | not a directory
estimate boston --metrics auc | is for labels; the targets of boston are numbers, which have rmse, mae, r2
estimate crabs --metrics rmse | is for numbers; the targets of crabs are labels
estimate crabs --metrics auc,squared | is not available (there is all, rmse
estimate crabs --quantiles 0.1,1 | between 0 and 1
predict crabs --test crabs --covariance /none/at/all | covariance
estimate crabs --bias --no-bias | contradict each other
estimate sonar --loss eps | --loss eps is for regression
estimate sonar --noise 1 | --noise: --loss hard takes no parameter
estimate sonar --loss hinge --C 1e30 | --C is 1e+30, must be between
estimate pima --loss square | --noise is required
estimate crabs --loss probit --refine 10 | posterior mean
estimate crabs --refine one | --refine is "one"
estimate crabs --refine none --accuracy 1% | --refine none
estimate crabs --accuracy 0.5 | --accuracy is
estimate crabs --loss hinge --class-weight much | take balanced
estimate crabs --loss hinge --class-weight 1,2,3 | take balanced
estimate crabs --loss hinge --class-weight yes=2 | -1=A,1=B
estimate crabs --loss hinge --class-weight 1=2,1=3 | take balanced
estimate crabs --loss hinge --class-weight nan | between
estimate crabs --loss hard --class-weight 2 | takes no parameter
estimate boston --class-weight balanced | takes only --noise
curve boston --scheme kfold | no ratio to vary
curve boston --scheme bernoulli --ratio 0.5,2 | must be at most 1
curve boston --ratio 1:2 | --ratio
predict boston | --test is required
predict boston --test crabs | features
predict boston --test boston --level 1 | --level is 1
predict - --test - --loss square --noise 1 | standard input
predict boston --test boston --interval of | estimator, observation
predict boston --test boston --interval estimator --residuals scaled | belongs to --interval observation
predict crabs --test crabs --interval observation | gives a probability
predict synthetic:friedman1,n=12 --loss eps --test synthetic:friedman1,n=5 --interval observation | 0.923
predict boston --test boston --interval observation --level NaN | between 0 and 1
datasets x.csv | 1 arguments
datasets --export boston | 0 arguments
datasets --export nothing DIR/x.csv | nothing
predict synthetic:friedman1,n=12 --loss square --noise 1 --test boston --interval observation | features
predict DIR/line.csv --test DIR/huge.csv --loss square --noise 1 | target of row 1
predict synthetic:friedman1,n=20 --test DIR/far.csv --loss square --noise 1 --kernel linear | new row 1
retrain boston --resamples 0 | --resamples is 0
retrain boston --resamples 9223372036854775807 | --resamples
retrain boston --workers 0 | --workers is 0
retrain crabs --method many | is not available
loo crabs --method jackknife | is not available
compare boston --sizes 507 | boston has 506
compare --sizes 1 | 1 examples
compare --long --sizes 30 | give one of them
compare boston --long | without DATA
compare --loss square | none is given
compare boston --max-memory 1MiB | not enough memory
grid synthetic:blobs,n=50 --over gamma=1,2 | --loss is required
grid boston --loss square --noise 10% --gamma 0.1 | --over is required
grid crabs --loss hard --kernel linear | --over is required
grid crabs --loss hinge --over C= | NAME=VALUES
grid crabs --loss hinge --over tol=0.1,0.2 | not available
grid crabs --loss hinge --over C=1,1 | twice or none
grid crabs --loss hinge --over C=0:1:3 | FROM:TO:COUNT
grid crabs --loss hinge --over C=1,x | --C takes a number
grid crabs --loss hinge --over C=1,-1 | --C is -1
grid crabs --loss hinge --over C=1,2 --C 3 | cannot both
grid crabs --loss hinge --over C=1,2 --over C=3 | twice
grid crabs --loss hinge --over noise=1,2 | takes only --C
grid crabs --loss hinge --over gamma=1:2:1000 --over C=1:2:1000 | more than
grid crabs --loss hinge --over ratio=1,0 | --ratio is 0
grid crabs --loss hinge --over C=1:1.0000001:3 | twice
grid crabs --loss hinge --over kernel=precomputed | as many features as examples
grid crabs --loss hinge --over C=1 --engine scalapack | MPI
tune boston --noise 1 --over C | no C in a model
tune boston --over nosuch | --over
tune boston --over noise=2:1 | the lower one first
tune boston --by best | --by
tune crabs --by loo | with the test loss square
tune crabs --by evidence | the evidence is for the square loss
tune boston --model - | --model
tune synthetic:friedman1,n=30 --ard --kernel linear | no length scales
tune crabs --kernel linear --loss hard | --over is required
tune boston --by 632plus --test-loss absolute | choose by cv or leftout
tune boston --over gamma | --noise is required with --over gamma
tune boston --noise 1 --over gamma,gamma | named twice
tune boston --by loo --bias | without bias
train synthetic:blobs,n=40 --loss hinge | --model is required
estimate boston blobs.csv | takes one DATA
train crabs --loss hinge --format libsvm --model DIR/m | --no-standardize is required
train crabs --loss hinge --no-standardize --jitter 0.1 --format libsvm --model DIR/m | no place
train crabs --loss hinge --no-standardize --kernel matern32 --format libsvm --model DIR/m | rbf, linear
train crabs --loss hinge --no-standardize --length-scale 1,2,3,4,5 --format libsvm --model DIR/m | no place
train crabs --loss hinge --format onnx --model DIR/m | json, libsvm
train crabs --loss perceptron --C 3 --model DIR/m | takes no parameter
train crabs --loss perceptron --bias --model DIR/m | neither --tol nor a bias
train boston --tol 0.1 --model DIR/m | --tol is for --loss hinge and hard
train crabs --loss hinge --no-standardize --model DIR | directory
retrain boston --shard 0/2 | --shard needs --journal
retrain boston --shard 2/2 --journal DIR/j | is not I/N with I from 0 to N-1
retrain - --loss square --noise 1 --journal DIR/j | standard input cannot be read again
estimate crabs --refine none --journal DIR/j | give --refine R
estimate crabs --loss hinge --accuracy 1% --shard 0/2 --journal DIR/j | --accuracy decides
estimate crabs --loss probit --journal DIR/j | which loss probit
predict crabs --loss hinge --test - --journal DIR/j | --test from standard input
cv synthetic:friedman1,n=60 --loss square --noise 1 --folds 61 | take 2 to 60, or loo
cv synthetic:friedman1,n=60 --loss square --noise 1 --folds one | must be loo or a whole number
cv synthetic:friedman1,n=60 --loss square --noise 1 --folds loo --blocks 5 | take --folds K
cv synthetic:friedman1,n=60 --loss square --noise 1 --folds 6 --blocks 10 | take --folds K
cv synthetic:friedman1,n=60 --loss square --noise 1 --folds loo --repeats 3 | these are always the same
cv synthetic:friedman1,n=60 --loss square --noise 1 --metrics jackknife | estimate has it
cv synthetic:friedman1,n=60 --loss square --noise 1 --nested | this one is given
cv synthetic:friedman1,n=60 --loss square --noise 1 --csv - --json - | cannot both take standard output
cv synthetic:friedman1,n=60 --loss square --noise 1 --blocks 0 | must be auto or a whole number from 1 on
estimate sonar --loss hard --scheme bayesian | --loss hinge
curve sonar --scheme bayesian | "bayesian" is not available
estimate synthetic:blobs,n=40 --loss hinge --method fits --refine none | no exact resamples
estimate synthetic:blobs,n=40 --loss hinge --method fits --quantiles 0.5 | the theory's
estimate synthetic:blobs,n=40 --loss hinge --method fits --refine 4 | few exact resamples
estimate synthetic:blobs,n=40 --loss probit --gamma 1 --method fits | has no exact resamples
estimate synthetic:blobs,n=60 --loss hinge --C 1 --sample few | all or a whole number
estimate synthetic:blobs,n=60 --loss hinge --C 1 --sample 7 | all or a whole number
estimate synthetic:blobs,n=60 --loss hinge --C 1 --sample 50 --groups x | draws single rows
estimate synthetic:blobs,n=200 --loss hinge --C 1 --sample 50 --kernel precomputed | draws single rows
merge DIR | holds no journal
merge | takes the folders
`

// refusedFiles are the files of refusals.
var refusedFiles = map[string]string{
	"empty.csv": "", "ragged.csv": "a,y\n1,2\n3\n",
	"word.csv": "a,y\n1,2\n3,four\n", "nan.csv": "a,y\n1,2\nNaN,4\n",
	"one.csv": "a,y\n1,2\n", "flat.csv": "a,y\n1,2\n3,2\n", "line.csv": "x,y\n1,1\n2,2\n3,4\n4,4\n",
	"two.csv":   "x,a,b\n1,2,3\n2,4,1\n3,3,5\n4,1,1\n",
	"signs.csv": "w,x,y\n1,2,3\n-1,3,2\n2,2,1\n1,4,4\n",
	"large.csv": "x,y\n1,1e155\n2,-1e155\n3,0\n4,1e155\n", "huge.csv": "x,y\n1,1e60\n",
	"far.csv": "x1,x2,x3,x4,x5,x6,x7,x8,x9,x10\n" + strings.Repeat("1e200,", 9) + "1\n",
}

// TestRefusals: bad usage and bad input end with status 2, one line that says what is wrong, and nothing on
// standard output; no file is written.
func TestRefusals(t *testing.T) {
	dir := folder(t, refusedFiles)
	for line := range strings.Lines(strings.TrimSpace(refusals)) {
		command, says, _ := strings.Cut(strings.TrimSpace(line), " | ")
		refused(t, says, strings.ReplaceAll(command, "DIR", dir))
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != len(refusedFiles) {
		t.Errorf("%v, %v: files were written", files, err)
	}
}

// TestNamedNeed: the memory that a refusal names is enough for all that a command does.
func TestNamedNeed(t *testing.T) {
	need := regexp.MustCompile(`needs ([0-9.]+) ([KM]iB)`)
	for _, line := range []string{
		"estimate synthetic:rings,n=400 --loss hinge --C 1 --engine exact",
		"retrain synthetic:rings,n=400 --loss logistic --C 1 --resamples 60",
		"predict synthetic:friedman1,n=400 --test synthetic:friedman1,n=50 --loss square --noise 1 " +
			"--engine exact",
	} {
		o := drive(t, "", line, "--quiet --max-memory 1MB")
		named := need.FindStringSubmatch(o.stderr)
		if o.status != exitUsage || named == nil {
			t.Fatalf("%s: status %d, %s", line, o.status, o.stderr)
		}
		if o := drive(t, "", line, "--quiet --max-memory", named[1]+named[2]); o.status != exitDone {
			t.Errorf("%s with what was named: status %d, %s", line, o.status, o.stderr)
		}
	}
}

// TestOwnFlags: what a command says of too little memory, a rank or a sample names flags that it has
// (driveWith), in every command that trains.
func TestOwnFlags(t *testing.T) {
	for _, command := range []string{"estimate", "curve", "predict --test synthetic:blobs,n=5,d=3",
		"retrain", "cv",
		"rows", "loo", "grid --over C=1,2", "tune --over C", "train --model " + t.TempDir() + "/m.json"} {
		for _, flags := range []string{"--max-memory 2MiB --engine exact", "--max-memory 200KiB",
			"--sample 5",
			"--engine lowrank --rank-tol 1e-12 --max-memory 300KiB"} {
			name, rest, _ := strings.Cut(command, " ")
			o := drive(t, "", name, "synthetic:blobs,n=600,d=3 --loss hinge --C 1", rest, flags)
			table := name == "grid" || name == "tune" // of models, some of which may fail
			if o.status != exitUsage && !(table && o.status == exitFailed) || o.stderr == "" {
				t.Errorf("%s %s: status %d, %s", command, flags, o.status, o.stderr)
			}
		}
	}
}
