package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"bootbench/internal/testutil"
)

// facts are command lines and what holds of each: TERM RELATION TERM, between bars. A term is a path into the
// JSON document, after len or mean for the length or mean of a list; a number, a text, or numbers with - + *
// / between them; or one of exit (the status), said (standard error), refused (standard error of one line, of
// status 2 without an answer), and screen (standard output). NAME := begins a line whose document later ones
// have under that name. A number is = to another within 1e-9 of it; a text has or lacks another, or matches
// an expression; none is a path that leads nowhere. Lines below LONG are left out by -short.
const facts = `
estimate boston | command = estimate | n = 506 | d = 13 | loss = square | ratio = 1 | status = converged |
	none target_mean | kernel.amplitude = 1 | memory.peak_bytes > 2048288 | memory.peak_bytes < 4294967296 |
	backend.threads > 0 | len points.mean = 506 | len points.variance = 506 | residual < 1e-6 |
	mean points.error = test_error | err632plus > err632 | err632plus < test_error | time.total > time.gram |
	time.gram > 0 | noise = 0.01 | len kernel.length_scale = 13 | standardized = false |
	preset = M03 section 5
estimate boston --no-points --noise 0.1 --refine none | none points | noise = 0.1 |
	len kernel.length_scale = 13 | standardized = false | preset = M03 section 5, changed
estimate boston --no-points --kernel matern52 --refine none | noise = 0.01 | kernel.kind = matern52 |
	standardized = true |
	none kernel.length_scale | kernel.gamma = 1 / 26
estimate boston --no-points --gamma 0.2 --no-standardize --noise 2 --refine none | kernel.gamma = 0.2 |
	none preset |
	standardized = false
estimate crabs --refine none | test_error within 1e-5 of 0.03887 | status = converged | residual < 1e-6
estimate sonar --ratio 3 --refine none | test_error within 1e-5 of 0.11940 | status = converged |
	residual < 1e-6
estimate sonar --loss hinge --C 1 --no-bias --refine none | test_error within 1e-4 of 0.1904 |
	status = converged
estimate SMALL --max-sweeps 1 | exit = 3 | status = sweep limit | residual > 1e-6 | len warnings = 1 |
	said has not converged
estimate SMALL --max-sweeps 1 --quiet | exit = 3 | said matches ^$ | screen has sweep limit
compare SMALL --max-sweeps 1 --resamples 3 --sizes 20 | exit = 3
curve SMALL --ratio 0.25:4:5 --refine none | command = curve | status = complete | len results = 5 |
	results.0.ratio = 0.25 | results.1.ratio = 0.5 | results.3.ratio = 2 | results.4.ratio = 4 |
	screen matches \nratio +S +distinct +theory.*(\n +[\d.]+ +\d+ .*){5}
curve sonar --ratio 0.5,0.9 --refine 20 | none growth | results.0.scheme = poisson
curve sonar --no-points | screen matches \ntwice the rows
datasets | len sets > 4 | sets.0.name = boston | sets.0.n = 506 | sets.0.preset = M03 section 5 |
	len synthetic > 3
info --backend gonum --threads 1 | backend = gonum | threads = 1 | go has go | len backends > 0 |
	warnings matches ^\[
--json x | screen has Usage:
retrain crabs --ratio 0.01 --resamples 20 | warnings has lack one of the two classes

sonar := estimate sonar
estimate sonar --refine none | none refined | test_error = sonar.test_error | sonar.refined.resamples = 200 |
	sonar.refined.method = batch | sonar.refined.equivalent_resamples > 200 |
	test_error within 1e-5 of 0.14894 |
	sonar.status = converged | sonar.left_out_error = sonar.refined.test_error |
	sonar.monte_carlo_se = sonar.refined.standard_error | none sonar.refined.contradicts
retrain sonar --resamples 600 --seed 9 --no-points |
	test_error within 5 * standard_error + 5 * sonar.refined.standard_error of sonar.refined.test_error
estimate crabs --loss hinge --C 1 --accuracy 1% --no-points | none refined.points |
	refined.standard_error / refined.test_error < 0.0101
estimate crabs --no-points --ratio 5 | none refined
estimate crabs --no-points --ratio 5 --refine 20 | refined.resamples = 20
estimate crabs --no-points --scheme kfold --folds 100 | refined.resamples = 200
stopped := estimate synthetic:blobs,n=200 --loss hard --gamma 0.05 --quiet | exit = 2 | said has soft margin
predict --test synthetic:blobs,n=2 synthetic:blobs,n=200 --loss hard --gamma 0.05 --quiet | exit = 2 |
	said = stopped.said

cv SMALL | resamples = 50 | repeats = 5
cv SMALL --csv - | screen matches ^row,mean,target,error\n(.+\n){60}$
cv synthetic:friedman1,n=40 --nested --folds 3 --repeats 1 |
	screen has to repeat       bootbench cv synthetic:friedman1,n=40 --nested --folds 3 --repeats 1
loo crabs --loss hard --method all | ALL
loo crabs --loss hinge --C 10 --method all | ALL
loo crabs --loss hinge --no-bias --method all | ALL | screen has xialpha
loo crabs --loss hinge --no-bias | error = errors / 200 | retrained + skipped = 200
loo crabs --loss hinge --method xialpha | rho = 2 | skipped = 200 | recall > 0 | precision > 0
hard := loo synthetic:text,n=150 --loss hinge --kernel linear | retrained > 90
loo synthetic:text,n=150,tilt=3 --loss hinge --kernel linear | retrained < hard.retrained
loo boston | error > 5 | error < 20 | skipped = 506
estimate NUMBERS SQUARE --scheme bayesian | BAYESIAN | none points.error | points.variance.0 > 0
estimate TARGETS SQUARE --scheme bayesian | BAYESIAN | none targets.y.points.error |
	targets.z.points.variance.0 > 0
estimate TARGETS SQUARE --scheme bayesian --verbose | screen has cv has it
retrain,cv TARGETS SQUARE | error = 1 - targets.y.quality.r_squared / 2 - targets.z.quality.r_squared / 2

train DIR/few.csv --loss square --noise 0.1 --model DIR/few.json | format = json
predict --model DIR/few.json --test DIR/few.csv --C 3 | refused has --C has no meaning with --model
predict --model DIR/few.json --test DIR/few.csv --ratio 2 | refused has --ratio has no meaning with --model
predict --model DIR/few.json --test DIR/few.csv --shard 0/2 | refused has --shard has no meaning with --model
predict --model DIR/few.json boston --test boston | refused has not both
predict --model DIR/few.json --no-points | refused has --test is required
predict DIR/few.json DIR/few.csv --level 0.9 | WITHIN
predict --model DIR/few.json DIR/few.csv --level 0.9 | WITHIN
predict DIR/few.csv DIR/few.csv --test boston | refused has twice
predict --model DIR/few.json --test boston | refused has its features are not those
predict --model DIR/few.json --test DIR/few.csv --csv DIR/few.json | refused has would be lost
predict --model DIR/cut.json --test boston | refused has cut short
predict --model DIR/few.csv --test boston | refused has is no model file
predict --model DIR/none --test boston | refused has no such file
predict DIR/few.csv --loss square --noise 0.1 --test DIR/few.csv --level 0.9 | WITHIN
predict --model DIR/few.json --test DIR/few.csv --level 0.9 | WITHIN
predict DIR/few.csv --loss square --noise 0.1 --test DIR/few.csv --level 0.95 --refine none | BEYOND
predict --model DIR/few.json --test DIR/few.csv --level 0.95 | BEYOND
predict --interval observation --level 0.95 --test DIR/few.csv DIR/few.csv --loss square --noise 0.1 |
	refused has that takes 19 of them
predict DIR/single.csv --test DIR/single.csv --loss hinge --refine none | said has class yes has one row
predict DIR/four.csv --test DIR/four.csv --loss hinge --refine none | said has from 4 rows are rough
predict DIR/map.csv --test DIR/map.csv --loss hinge | points.target matches ^\[-1 1 1 -1\]$
predict DIR/map.csv --test DIR/third.csv --loss hinge | refused has third.csv
tune synthetic:friedman1,n=40 --ard --over length-scale,noise=20:30 --by evidence --out OUT/tune --verbose
	--model DIR/tune.json | said has noise is on its lower bound 20 |
	screen matches (?s)left-out error.*length scales.*models, judged on 40 .*to repeat.*refined by.*objective
predict --model DIR/tune.json --test synthetic:friedman1,n=5,seed=2 | test_n = 5
estimate,retrain,predict DIR/trees.tsv --loss hinge | quality.baseline = 0.4 | quality.constant = oak |
	quality.example_se > 0
predict DIR/trees.tsv --loss hinge --test DIR/trees.tsv | len points.class = 40 |
	points.class.0 = oak | points.class.9 = ash
predict DIR/trees.tsv --loss hinge --test DIR/trees.tsv --csv - | screen matches (?s),class,target,.*,ash,
estimate synthetic:friedman1,n=40 --loss square --noise 0.0001% --gamma 50 --verbose |
	said has learned nothing | screen has explained       0.0% of the variance

patients := estimate PATIENTS --groups patient --drop site | none test_error | d = 2 |
	left_out_error = refined.test_error | design = of whole groups | status = complete |
	points.mean.3 = refined.points.mean.3 | error_folds = 10 | len corrected_for = 0 | error_lower < error |
	error < error_upper
retrain PATIENTS --groups patient --drop site --resamples 200 --method single |
	test_error within 4 * standard_error + 4 * patients.monte_carlo_se of patients.left_out_error
estimate PATIENTS | design = within strata | scheme = multinomial | none refined.one_class |
	notes has 6 rows of class rare
estimate PATIENTS --groups patient --blocks 2 | design = of blocks of 2 rows within groups
estimate PATIENTS --scheme poisson | none design
cv PATIENTS --groups patient --folds loo | folds = 12 | error_se_over = groups
cv PATIENTS --fold-column site | folds = 3 | repeats = 1
estimate PATIENTS --groups patient --refine none | refused has take --refine auto
estimate PATIENTS --groups patient --metrics jackknife | refused has retrain --replicates
estimate PATIENTS --strata site --scheme poisson | refused has strata take multinomial
estimate PATIENTS --blocks 3 --scheme subsample | refused has by multinomial
estimate PATIENTS --groups nobody | refused has no column
cv PATIENTS --groups patient --folds 13 | refused has 12 groups to leave out
cv PATIENTS --groups patient --blocks 3 | refused has no --groups
cv synthetic:waves,n=40 --blocks 5 --folds 3 | said has BB022 | said has --nested
cv synthetic:waves,n=40 --blocks 5 --folds 3 --nested | said lacks BB022
cv PATIENTS --fold-column site --folds 5 | refused has do not go with it
cv PATIENTS --groups site --folds 3 --permutations 9 | screen has 9 permutations of whole groups |
	said has only 6 arrangements of whole groups: the p-value cannot be below

grid synthetic:friedman1,n=60 --loss square --over noise=0.5,2 --over length-scale=1:4:3 --over ratio=0.5,1 |
	len over = 3 | status = complete | len results = 12 | results.0.values matches ^\[0.5 1 0.5\]$ |
	results.5.values matches ^\[0.5 4 1\]$ | results.6.values matches ^\[2 1 0.5\]$ | warnings matches ^\[ |
	results.6.estimate.noise = 2 | results.5.estimate.kernel.length_scale.0 = 4 |
	results.5.estimate.ratio = 1 | none results.0.estimate.points
grid crabs --loss hinge --over C=1,2 --max-sweeps 1 | exit = 3 | none best | len results = 2

estimate crabs --loss hinge --C 1 --metrics auc,brier,jackknife --refine 50 | len metrics = 3 |
	len refined.metrics = 2 | metrics.auc > 0.9 | metrics.brier = calibration.brier |
	refined.metrics.brier = refined.calibration.brier | refined.metrics.auc within 0.01 of metrics.auc |
	metrics.jackknife_se * metrics.jackknife_se * 200 > test_error / 9 |
	metrics.jackknife_se * metrics.jackknife_se * 200 < test_error * 9
estimate crabs --refine none --metrics all | len metrics = 6 | metrics.balanced_error > 0 |
	metrics.jackknife_se > 0 | metrics.log_loss > 0
curve crabs --ratio 1 --metrics=all | results.0.metrics.jackknife_se > 0 | results.0.metrics.log_loss > 0
estimate SMALL --metrics rmse,mae --refine 30 | metrics.rmse * metrics.rmse = test_error | len metrics = 2 |
	len refined.metrics = 2 | metrics.mae < metrics.rmse
train crabs --loss hinge --C 1 --model DIR/crabs.m | status = converged
predict --model DIR/crabs.m --test crabs --metrics auc,error | metrics.error = test_error |
	metrics.auc = quality.auc | len metrics = 2

hard := estimate sonar --refine none --json DIR/hard.json | n = 208
soft := estimate sonar --loss hinge --C 1 --refine none --json DIR/soft.json | n = 208
bias := estimate sonar --loss hinge --C 1 --bias --refine none --json DIR/bias.json | n = 208
estimate crabs --refine none --json DIR/set.json | n = 200
estimate boston --refine none --json DIR/boston.json | n = 506
compare --models DIR/hard.json DIR/hard.json | difference.value = 0 | difference.p_value = 1 |
	refined_difference.value = 0 | refined_difference.p_value = 1
compare sonar --models DIR/hard.json,DIR/soft.json | models.0.test_error = hard.test_error |
	difference.value = models.0.test_error - models.1.test_error | difference.lower < difference.value |
	difference.value < difference.upper | difference.upper < 0 | difference.p_value < 0.05 |
	refined_difference.p_value < 0.05 | refined_difference.value within 0.01 of difference.value
compare --models DIR/soft.json DIR/bias.json | models.0.test_error = soft.test_error |
	models.1.test_error = bias.test_error
compare --models DIR/hard.json | refused has here are 1 models
compare --models DIR/old.json DIR/hard.json | refused has schema 2, this program reads schema 4
compare --models DIR/hard.json DIR/set.json | refused has name the DATA
compare --models DIR/none.json DIR/hard.json | refused has none.json
compare --models DIR/boston.json sonar DIR/hard.json | refused has 13 length scales for 60 features

datasets --export crabs DIR/crabs.csv | screen matches ^$
all := estimate DIR/crabs.csv SVM --C 1 --refine none --json DIR/all.json | d = 5
fewer := estimate DIR/crabs.csv SVM --C 1 --refine none --drop 2,3 --json DIR/fewer.json | d = 3
estimate DIR/crabs.csv SVM --C 1 --refine none --ratio 2 --json DIR/often.json | ratio = 2
estimate DIR/crabs.csv --target 2 --loss square --noise 1 --refine none --json DIR/other.json | d = 5
compare DIR/crabs.csv --models DIR/all.json,DIR/fewer.json | models.0.test_error = all.test_error |
	models.1.test_error = fewer.test_error
compare DIR/crabs.csv --models DIR/all.json,DIR/often.json | refused has write both with the same
compare DIR/crabs.csv --models DIR/all.json,DIR/other.json | refused has not of the same rows
compare DIR/crabs.csv --models DIR/all.json,DIR/fewer.json --ratio 3 | refused has leave it out
compare DIR/crabs.csv --models DIR/all.json,DIR/fewer.json --drop 2 | refused has say how DATA is read
votes := estimate CLASSES HINGE --multiclass ovo --scheme poisson --json DIR/votes.json | len classes = 3
rest := estimate CLASSES HINGE --scheme poisson --json DIR/rest.json | len classes = 3
compare ROWS --models DIR/votes.json,DIR/rest.json | models.0.test_error = votes.left_out_error |
	models.1.test_error = rest.left_out_error
estimate crabs SVM --C 0.1 --refine none --json DIR/low.json | n = 200
estimate crabs SVM --C 10 --refine none --json DIR/high.json | n = 200
pair := compare --models DIR/low.json DIR/high.json | n = 200
grid crabs SVM --over C=0.1,10 --metrics jackknife --refine none | LIKE |
	results.0.difference.value within 2.1e-4 of pair.difference.value |
	results.0.difference.standard_error / pair.difference.standard_error > 1 |
	results.0.difference.standard_error / pair.difference.standard_error < 1.4143
grid crabs SVM --over C=0.1,10 --metrics jackknife --refine 200 | LIKE |
	results.0.difference.value within 2.1e-4 of pair.refined_difference.value |
	results.0.difference.standard_error / pair.refined_difference.standard_error > 1 |
	results.0.difference.standard_error / pair.refined_difference.standard_error < 1.4143

datasets --export boston DIR/boston.csv | screen matches ^$
datasets --export boston DIR/boston.svm | screen matches ^$
set := estimate boston --loss square --noise 0.01 --gamma 0.1 --no-normalize-target --refine none | n = 506
estimate DIR/boston.csv --loss square --noise 0.01 --gamma 0.1 --no-normalize-target --refine none |
	test_error = set.test_error
estimate DIR/boston.svm --loss square --noise 0.01 --gamma 0.1 --no-normalize-target --refine none |
	test_error = set.test_error

pair := estimate SOLD --C 2 --refine none --class-weight 2,3 | class_weight.negative = 2 |
	class_weight.positive = 3
estimate SOLD --C 2 --refine none --class-weight yes=3,no=2 | test_error = pair.test_error
estimate SOLD --C 2 --refine none --class-weight no=2,yes=3 | test_error = pair.test_error
one := estimate SOLD --C 2 --refine none --class-weight 1.5 | class_weight.negative = 1
estimate SOLD --C 1 --refine none --class-weight 2,3 | test_error within 1e-6 of one.test_error
loo DIR/sold.csv --loss hinge --method all --class-weight balanced | class_weight.negative = 40 / 54
estimate,curve,retrain,train,predict SOLD --C 1 --class-weight balanced | class_weight.negative = 40 / 54 |
	class_weight.positive = 40 / 26
even := estimate crabs --loss hinge --C 1 --refine none --class-weight balanced | class_weight.negative = 1
estimate crabs --loss hinge --C 1 --refine none | test_error = even.test_error | none class_weight

estimate DIR/sold.csv --kernel linear --C 2 | model.C = 2 | model.kernel = linear

estimate,cv,curve UNITS g --drop h,one,w | said has 3 groups, which count like 3 of equal size
estimate,cv,curve UNITS h --drop g,one,w | said has 4 groups, which count like 1.2 of equal size
estimate,cv,curve UNITS none --drop g,h,one --weights w | said has the rows count like 1.8 of equal weight
predict UNITS g --drop h,one,w --level 0.5 --test DIR/units.csv | said has are rough
predict UNITS h --drop g,one,w --level 0.5 --test DIR/units.csv | said has are rough
predict UNITS none --drop g,h,one --weights w --level 0.5 --test DIR/units.csv | said has are rough
estimate,cv,curve,tune,retrain,predict,train UNITS one --drop g,h,w | refused has all rows have the same
estimate UNITS g --drop h,one,w --scheme subsample --ratio 0.9 | refused has leaves no group out
curve UNITS g --drop h,one,w --scheme subsample --ratio 0.1 | refused has of 3 groups

estimate PEOPLE --target y --positive no --missing drop | n = 4 | d = 2 | target = y | labels.positive = no |
	labels.negative = yes | len notes > 0
estimate PEOPLE --target y --positive no --missing indicator | n = 5 | d = 3
predict PEOPLE --target y --positive no --missing mean --test DIR/new.txt |
	refused has "x" is none of the texts | refused has --unseen zero
predict PEOPLE --target y --positive no --missing mean --test DIR/new.txt --unseen zero |
	points.names matches ^\[Berlin Rome\]$ | none points.target
predict PEOPLE --missing mean --test DIR/new.txt --unseen one | refused has error, zero
estimate PEOPLE --target y --missing guess | refused has there is error, drop, mean, indicator
estimate PEOPLE --target y --missing error | refused has --missing drop, mean or indicator
estimate PEOPLE --target z --missing mean | refused has no column "z"
estimate PEOPLE --target y --missing mean --positive maybe | refused has "maybe" is none of the 2 values
compare DIR/codes.csv | refused has --positive
estimate DIR/codes.csv --positive red --categorical month --loss hinge | d = 4 | labels.positive = red |
	labels.negative = not red | points.target matches ^\[1 -1 -1 1 1\]$
estimate DIR/zero.svm --loss hinge | n = 3
estimate DIR/bare.data --loss square --noise 1 --no-header | n = 3
estimate DIR/tabs.tsv --loss square --noise 1 --refine none | n = 6
estimate DIR/grades.csv --loss hinge --C 1 --task classification | len classes = 3

estimate,cv COPIES --C 100 --gamma 5 | error > 0.35 | checks has rows are copies of others
estimate,cv COPIES --C 100 --gamma 5 --groups none | error < 0.35 | checks lacks rows are copies of others
estimate COPIES --C 100 --gamma 5 --refine none | error < 0.35 | checks has rows are copies of others
estimate COPIES --groups none --sample 20 --refine none | sample = 20
grid COPIES --over C=1,2 --groups none --refine none | len results = 2
cv COPIES --folds 100 | refused has --groups none
estimate DIR/na.csv | refused has --na n.a.
train DIR/na.csv --na n.a. --missing mean --loss square --noise 1 --model DIR/na.json | n = 5
predict --test DIR/na.csv --model DIR/na.json | test_n = 5
estimate DIR/rare2.csv --loss hinge --C 1 --refine none | notes has are drawn within the classes
estimate DIR/rare3.csv --loss hinge --C 1 | notes has are drawn within the classes
rows DIR/rare2.csv --loss hinge --C 1 | len rows = 80 | rows.0.influence > -1 | rows.79.influence > -1

predict SMALL --test synthetic:friedman1,n=7,seed=2 --level 0.5 --interval estimator | command = predict |
	len points.mean = 7 | len points.target = 7 | test_error = bagged_error + mean points.variance |
	points.upper.0 - points.lower.0 within 1e-6 of 1.3489795 * points.sd.0
predict SMALL --test synthetic:friedman1,n=7,seed=2 --csv - |
	screen matches ^row,prediction,lower,upper,sd,support,target,error\n(.*\n){7}$
predict crabs --test crabs --refine none | calibration.method = logistic | calibration.log_loss > 0 |
	calibration.log_loss < 0.69 | mean calibration.count * len calibration.count = 200 |
	points.vote.0 + points.p_negative.0 = 1
compare SMALL --sizes 30,60 --resamples 20 | len rows = 2 | rows.0.n = 30 | rows.1.n = 60 |
	rows.0.loss = square | rows.1.fits_equivalent = rows.1.theory_s / rows.1.resample_fit_s |
	screen matches (?s)(\nfriedman1 .*){2}theory  refined.*(\nfriedman1 .*){2}
estimate DIR/row1.csv RARE --gamma 0.01 | error = 0.05 | error_se = 0.05
estimate DIR/row1.csv RARE --gamma 0.01 --strata site | error = 0.05 | error_se = 0.05
estimate,cv DIR/row10.csv RARE --gamma 1 | screen has (at most 14% with 95% confidence)
retrain SMALL --resamples 5 --journal DIR/kept | status = complete
retrain SMALL --resamples 6 --journal DIR/kept | refused has of another command line: bootbench retrain

LONG
estimate HARD | status = contradicted | len refined.contradicts = 2 | refined.variance_ratio < 0.05 |
	test_error / refined.test_error > 1.05 | warnings lacks theory |
	screen matches \nerror  +\d+\.\d% of new rows |
	screen lacks contradict | said has tip: BB031
estimate HARD --verbose | screen has contradicted
estimate HARD --refine 10 | none refined.contradicts | status = converged |
	left_out_error = refined.test_error | monte_carlo_se = refined.standard_error
grid pima --loss hard --over kernel=linear,rbf | exit = 1 | len results = 2 | none results.0.estimate |
	results.0.failure has hard margins contradict | none results.1.failure |
	results.1.estimate.status = converged | best = 1 | said has kernel linear: failed
grid synthetic:friedman1,n=2000 --loss square --noise 0.1 --engine lowrank --rank-tol 1e-4
	--over gamma=0.0005,0.5 --max-memory 12MB | exit = 1 | len results = 2 |
	results.0.estimate.status = converged | results.1.failure has memory
estimate DIR/sold.csv --class-weight balanced --refine none | class_weight.negative = 40 / 54
tune DIR/sold.csv --loss hinge --C 1 --over class-weight=0.2:20,gamma --test-loss square |
	best.class-weight > 0.2 | best.class-weight < 20 | command_line has --class-weight
flowers := estimate FLOWERS | THREE
cv FLOWERS | THREE | screen has class, predicted as  ash  elm  oak
rows FLOWERS --refine 40 | len rows = 42 | rows.0.label_error > 0.5
tune FLOWERS --model DIR/flowers.json | error = flowers.error | model = flowers.model
live := predict FLOWERS --test FLOWERS | points.target.1 = elm
predict --model DIR/flowers.json --test FLOWERS | test_error = live.test_error
predict --model DIR/flowers.json --test FLOWERS --csv - |
	screen matches ^row,P\(ash\),P\(elm\),P\(oak\),class,target,error\n
grid FLOWERS --over gamma=1,2 --loss hinge --by evidence | refused has choose by cv or leftout
estimate DIR/012.csv --refine none | notes has classes, --task
cv DIR/012.csv --loss hinge --C 1 --task classification | len classes = 3
chosen := estimate DIR/visits.csv --groups patient | chosen_by has whole groups
train DIR/visits.csv --groups patient --model DIR/visits.json | kernel.gamma = chosen.kernel.gamma |
	noise = chosen.noise
tune DIR/visits.csv --groups patient | model = chosen.model | error = chosen.error
rbf := tune DIR/houses.csv --kernel rbf --refine none | n = 60
matern := tune DIR/houses.csv --kernel matern52 --refine none | n = 60
lin := tune DIR/houses.csv --kernel linear --refine none | n = 60
auto := tune DIR/houses.csv --kernel auto --refine none | objective < rbf.objective + 1e-12 |
	objective < matern.objective + 1e-12 | objective < lin.objective + 1e-12 | command_line lacks auto |
	command_line has --kernel
estimate DIR/houses.csv --kernel auto --refine none | model = auto.model | test_error = auto.test_error
grid DIR/houses.csv --kernel auto | refused has --kernel auto
estimate DIR/houses.csv --loss square --noise 1 --kernel auto | refused has --kernel auto
estimate DIR/houses.csv --noise 3 --gamma 0.05 | model.noise = 3 | model.gamma = 0.05
estimate DIR/houses.csv --C 2 | refused has --loss square takes only --noise
drawn := estimate --sample 400 WAVES | n = 400 | sample = 400 | rows_total = 1200 | time.all_rows > 0 |
	learning_curve.held_out = 800 | learning_curve.sizes matches ^\[100 200 400\]$ |
	len points.names = 400 | error_se < 0.12 * error
again := estimate --sample 400 WAVES | error = drawn.error | points.names = drawn.points.names
train --sample 400 --model DIR/waves.json WAVES | sample = 400
predict --no-points --model DIR/waves.json --test synthetic:friedman1,n=1200,seed=9 |
	test_error within 3 * drawn.error_se + 3 * quality.example_se of drawn.error
half := curve FALL,n=300 | growth.rows = 600 | none results.0.refined.points | results.4.scheme = subsample |
	growth.fall / growth.fall_se > 3
whole := curve FALL,n=600 | growth.now within 2 * half.growth.fall_se of half.growth.then
curve FALL,n=600 --sample 300 | growth.rows = 600 |
	growth.then within 3 * half.growth.fall_se of whole.growth.now
fits := estimate --method fits --engine exact OVERLAP | FITS
retrain --method single --resamples 400 --seed 5 --no-points OVERLAP | standard_error / test_error < 0.1 |
	test_error within 4 * standard_error + 4 * fits.monte_carlo_se of fits.left_out_error
fits := estimate --method fits --engine exact NUMERIC | FITS
retrain --method single --resamples 400 --seed 5 --no-points NUMERIC | standard_error / test_error < 0.1 |
	test_error within 4 * standard_error + 4 * fits.monte_carlo_se of fits.left_out_error
heavy := estimate COUNTED y --drop z,label,kind,g,s --loss square --noise 0.3 --bias --refine 400 | n = 30
retrain COUNTED y --drop z,label,kind,g,s --loss square --noise 0.3 --bias --resamples 1000 --method single |
	test_error within 4 * standard_error + 4 * heavy.monte_carlo_se of heavy.left_out_error
heavy := estimate COUNTED label --drop y,z,kind,g,s HINGE --refine 400 --metrics all |
	metrics.error = test_error
retrain COUNTED label --drop y,z,kind,g,s HINGE --resamples 1000 --method single |
	test_error within 4 * standard_error + 4 * heavy.monte_carlo_se of heavy.left_out_error
heavy := estimate COUNTED label --drop y,z,kind,g,s --loss logistic --C 2 --refine 400 | n = 30
retrain COUNTED label --drop y,z,kind,g,s --loss logistic --C 2 --resamples 1000 --method single |
	test_error within 4 * standard_error + 4 * heavy.monte_carlo_se of heavy.left_out_error
train iris --model DIR/sets.json | format = json
predict --model DIR/sets.json --test iris --sets --level 0.9 | sets.method = left-out folds |
	sets.coverage > 0.85 | sets.mean_size < 1.2
train iris --loss hinge --C 1 --multiclass ovo --no-error --model DIR/sets.json | none error
predict --model DIR/sets.json --test iris --sets --level 0.98 | sets.coverage > 0.95 | sets.mean_size > 0.95
train iris --no-error --model DIR/sets.json | none error
predict --model DIR/sets.json --test iris --sets | refused has no left-out scores
train synthetic:friedman1,n=60 --no-error --model DIR/bare.json | none error
predict --model DIR/bare.json --test synthetic:friedman1,n=60 | none points.lower
train synthetic:friedman1,n=60 --loss square --noise 1 --no-error --model DIR/bare.json | none error
predict --model DIR/bare.json --test synthetic:friedman1,n=60 | points.lower.0 < points.upper.0
file := train synthetic:friedman1,n=60 --model DIR/u.json | format = json
predict --model DIR/u.json --test synthetic:friedman1,n=60 | test_error = file.apparent_error
file := train synthetic:text,n=60,d=2000 --loss hinge --C 1 --kernel linear --model DIR/u.json | d = 2000
predict --model DIR/u.json --test synthetic:text,n=60,d=2000 | test_error = file.apparent_error
file := train crabs --loss perceptron --kernel linear --model DIR/u.json | exit = 3
predict --model DIR/u.json --test crabs | test_error = file.apparent_error
`

// factWords are the words of facts: files, models, and what several lines have in common.
func factWords(t *testing.T) *strings.Replacer {
	rng := rand.New(rand.NewPCG(1, 2))
	table, two, three, copies := csvOf, "a,b,y\n", "a,b,y\n", ""
	for range 80 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		class := map[bool]string{true: "yes", false: "no"}[a+0.7*rng.NormFloat64() > 0.8]
		two += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
		if class == "no" && b > 0 {
			class = "never"
		}
		three += fmt.Sprintf("%.3f,%.3f,%s\n", a, b, class)
		copies += fmt.Sprintf("%.3f,%.3f,%c\n", a, b, "np"[rng.IntN(2)])
	}
	row := func(positives int) string {
		return table("a,site,y", 20, func(i int) []any {
			return []any{i*i%97 - 200*((i+positives)/20), fmt.Sprint("s", i), i >= 20-positives}
		})
	}
	rows, _ := goldenRows()
	counted := otherRows["counted"](rows)
	dir := folder(t, map[string]string{
		"row1.csv": row(1), "row10.csv": row(10),
		"counted.csv": table("w,g,s,a,b,y,z,label,kind", len(rows), func(i int) []any { return counted[i] }),
		"rare2.csv":   two, "rare3.csv": three, "copies.csv": "a,b,y\n" + strings.Repeat(copies, 3),
		"flowers.csv": flowers,
		"012.csv":     strings.NewReplacer("ash", "0", "elm", "1", "oak", "2").Replace(flowers),
		"cut.json":    `{"format":"bootbench model",`, "old.json": `{"schema": 2, "model": {"loss": "hard"}}`,
		"d.csv":     "id;y;a;sex\nr1;no;1,5;m\nr2;yes;2,5;f\nr3;no;;m\nr4;yes;0,5;f\nr5;no;1;m\n",
		"new.txt":   "\tsex\ta\twhen\nBerlin\tf\t2\tnow\nRome\tx\t2\tnow\n",
		"codes.csv": "month,size,kind\n1,1,red\n2,2,blue\n1,4,green\n3,5,red\n2,3,red\n",
		"zero.svm":  "1 0:1\n-1 1:1\n1 0:2 1:1\n", "bare.data": "1 2 3\n4 5 7\n3 1 2\n",
		"tabs.tsv":   "a\ty\n1\t1.5\n2.125\t2\n3.375\t0\n4\t3\n5\t2.5\n6.625\t1\n",
		"grades.csv": "a,y\n1,1\n2,2\n3,1\n4,2\n5,1\n6,other\n7,2\n8,1\n9,other\n",
		"na.csv":     "a,b,y\nn.a.,1,2\n2,5,3\n3,2,5\n4,4,1\n5,3,7\n",
		"units.csv": table("g,h,one,w,x,y", 40, func(i int) []any {
			return []any{i % 3, max(0, i-36), "z", max(1, 1e5*float64(2-i)), rng.NormFloat64(),
				rng.NormFloat64()}
		}),
		"visits.csv": table("patient,a,y", 80, func(i int) []any {
			of := i / 4
			return []any{fmt.Sprint("p", of), of * of % 23, math.Sin(float64(of)) + 0.1*float64(i*i%7)}
		}),
		"houses.csv": houseTable(rand.New(rand.NewPCG(1, 1)).Perm(60)),
		"sold.csv": table("a,b,sold", 40, func(i int) []any {
			x, y, sold := float64(i), [3]float64{0, 1, 0}[i%3], [3]string{"no", "yes", "no"}[i%3]
			return []any{math.Sin(x) + y - 0.5, math.Cos(3 * x), sold}
		}),
		"few.csv":    table("x,y", 12, func(i int) []any { return []any{i, math.Sin(float64(i))} }),
		"single.csv": "a,b,y\n" + strings.Repeat("1,2,no\n2,1,no\n3,1,no\n5,2,no\n", 6) + "9,9,yes\n",
		"four.csv":   "a,b,y\n1,2,no\n2,1,no\n3,1,yes\n5,2,yes\n",
		"map.csv":    "a,b,y\n1,2,0\n2,1,1\n3,3,1\n0,0.5,0\n",
		"third.csv":  "a,b,y\n1,2,2\n",
		"trees.tsv": strings.ReplaceAll(table("a,b,kind", 40, func(i int) []any {
			return []any{i % 10, (3 * i) % 7, []string{"oak", "ash"}[min(1, i%10/6)]}
		}), ",", "\t"),
		"patients.csv": table("patient,site,a,b,kind", 60, func(i int) []any {
			kind := map[bool]string{true: "rare", false: "often"}[i%10 == 3]
			return []any{fmt.Sprint("p", i/5), fmt.Sprint("s", i%3), i * i % 17, i * i * i % 23, kind}
		}),
	})
	svm, dat := " --loss hinge --C 1", dir+"/"
	return strings.NewReplacer("SMALL", small, "DIR", dir, "OUT", filepath.Join(dir, "out"),
		"HARD", "synthetic:blobs,n=200 --loss hard --gamma 0.5 --no-bias --no-points",
		"PATIENTS", dat+"patients.csv"+svm, "COPIES", dat+"copies.csv --loss hinge",
		"FLOWERS", dat+"flowers.csv",
		"PEOPLE", dat+"d.csv --loss hinge --drop id", "SVM", "--loss hinge --gamma 0.2",
		"FALL", "--loss square --noise 1 --gamma 0.05 --no-points synthetic:friedman1,seed=1",
		"OVERLAP", "synthetic:blobs,n=250,d=3,noise=0.7 --loss hinge --C 1 --gamma 0.3",
		"NUMERIC", "synthetic:friedman1,n=250 --loss square --noise 1 --gamma 0.1",
		"FITS", "none test_error | status = complete | time.theory > 0",
		"COUNTED", dat+"counted.csv --weights w --target", "RARE", "--loss hinge --C 1 --no-points",
		"SOLD", dat+"sold.csv --loss logistic --gamma 0.4",
		"UNITS", dat+"units.csv --loss square --noise 0.5 --groups",
		"WAVES", "synthetic:friedman1,n=1200 --loss square --noise 1",
		"LIKE", "best = 1 | none results.1.difference | none results.0.examples | "+
			"results.0.difference.by = jackknife",
		"THREE", "len classes = 3 | error < 0.4 | error_se > 0 | len points.class = 42 | "+
			"len points.probability.elm = 42 | task = classification | chosen_by has by ",
		"ALL", "len methods = 5 | methods.0.errors = methods.1.errors | methods.1.errors = errors | "+
			"methods.0.retrained = 200 | methods.2.errors > methods.0.errors - 1",
		"BAYESIAN", "none error | none test_error | none quality | status = converged",
		"WITHIN", "interval = observation | len points.lower = 12 | coverage > -1 | said lacks takes 19 | "+
			"points.lower.0 < points.upper.0",
		"BEYOND", "interval = observation | none coverage | said has takes 19 of them | none points.lower.0")
}

// commandLists are commands, DATA and the rest of a line that is for several commands, and needed the flags
// that some of them must have.
var (
	commandLists = regexp.MustCompile(`(?m)^(\w+(?:,\w+)+) (\S+)(.*)$`)
	needed       = map[string]string{"predict": "--test DATA", "train": "--model DATA.json",
		"curve": "--ratio 1,2", "retrain": "--resamples 20"}
)

// eachCommand has a line for each command of a list.
func eachCommand(lines string) string {
	return commandLists.ReplaceAllStringFunc(lines, func(line string) (all string) {
		parts := commandLists.FindStringSubmatch(line)
		for command := range strings.SplitSeq(parts[1], ",") {
			own := strings.ReplaceAll(needed[command], "DATA", parts[2])
			all += strings.Join([]string{command, parts[2], own, parts[3], "\n"}, " ")
		}
		return all
	})
}

// TestFacts: all facts hold.
func TestFacts(t *testing.T) {
	words, tables, named := factWords(t), goldenTables(t, nil), map[string]any{}
	lines := words.Replace(strings.ReplaceAll(strings.TrimSpace(facts), "\n\t", " "))
	for line := range strings.Lines(eachCommand(lines)) {
		name, line, isNamed := strings.Cut(strings.TrimSpace(line), " := ")
		if !isNamed {
			name, line = "", name
		}
		all := strings.Split(goldenLine(tables, line), " | ")
		if all[0] == "LONG" && testing.Short() {
			break
		} else if all[0] == "" || all[0] == "LONG" {
			continue
		}
		answer, o := map[string]any{}, outcome{}
		document := filepath.Join(t.TempDir(), "answer")
		if own := strings.LastIndex(all[0], "--json "); own >= 0 {
			o, document = drive(t, "", all[0]), all[0][own+len("--json "):]
		} else {
			o = drive(t, "", all[0], "--json", document)
		}
		answer["said"], answer["screen"] = o.stderr, o.stdout
		if text, err := os.ReadFile(document); err == nil {
			if text[0] == '[' {
				text = fmt.Appendf(nil, `{"rows": %s}`, text)
			}
			testutil.Check(t, json.Unmarshal(text, &answer))
		}
		answer["exit"] = float64(o.status)
		if o.status == exitUsage && o.stdout == "" && strings.Count(o.stderr, "\n") == 1 {
			answer["refused"] = o.stderr
		}
		named[name] = answer
		scope := maps.Clone(named)
		maps.Copy(scope, answer)
		ends := false // the facts say how
		for _, fact := range all[1:] {
			ends = ends || strings.HasPrefix(fact, "exit") || strings.HasPrefix(fact, "refused")
			if got, holds := checkFact(scope, fact); !holds {
				t.Errorf("%s: not %s: %v", all[0], fact, got)
			}
		}
		if !ends && o.status != exitDone {
			t.Errorf("%s: status %d, %s", all[0], o.status, o.stderr)
		}
	}
}

// relation is what a fact says of two terms.
var relation = regexp.MustCompile(`^(.+?) (=|<|>|has|lacks|matches|within) (.*)$`)

// checkFact reports whether a fact holds of an answer, and the value of its first term.
func checkFact(answer any, fact string) (got any, holds bool) {
	if path, ok := strings.CutPrefix(fact, "none "); ok {
		got = within(answer, path)
		return got, got == nil
	}
	parts := relation.FindStringSubmatch(fact)
	if parts == nil {
		return "no fact", false
	}
	got = term(answer, parts[1])
	text := fmt.Sprint(got)
	switch parts[2] {
	case "has":
		return got, strings.Contains(text, parts[3])
	case "lacks":
		return got, !strings.Contains(text, parts[3])
	case "matches":
		return got, regexp.MustCompile(parts[3]).MatchString(text)
	}
	tolerance, right, near := strings.Cut(parts[3], " of ")
	if !near || parts[2] != "within" {
		tolerance, right = "", parts[3]
	}
	want := term(answer, right)
	one, isNumber := got.(float64)
	other, _ := want.(float64)
	switch {
	case !isNumber:
		return got, parts[2] == "=" && text == fmt.Sprint(want)
	case parts[2] == "<":
		return got, one < other
	case parts[2] == ">":
		return got, one > other
	case parts[2] == "=":
		return got, math.Abs(one-other) <= 1e-9*math.Abs(other)
	}
	most, _ := term(answer, tolerance).(float64)
	return got, math.Abs(one-other) <= most
}

// operator is one between numbers.
var operator = regexp.MustCompile(` [-+*/] `)

// term is a number, a value of an answer or a text.
func term(answer any, text string) any {
	if at := operator.FindAllStringIndex(text, -1); at != nil {
		last := at[len(at)-1]
		for _, i := range at { // sums last
			if strings.ContainsAny(text[i[0]:i[1]], "-+") {
				last = i
			}
		}
		one, first := term(answer, text[:last[0]]).(float64)
		other, second := term(answer, text[last[1]:]).(float64)
		if first && second {
			return map[byte]float64{'-': one - other, '+': one + other, '*': one * other,
				'/': one / other}[text[last[0]+1]]
		}
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	function, path, _ := strings.Cut(text, " ")
	switch list, _ := within(answer, path).([]any); function {
	case "len":
		keys, _ := within(answer, path).(map[string]any)
		return float64(len(list) + len(keys))
	case "mean":
		sum := 0.0
		for _, v := range list {
			number, _ := v.(float64)
			sum += number / float64(len(list))
		}
		return sum
	}
	if v := within(answer, text); v != nil {
		return v
	}
	return text
}

// flowers is a table of three kinds.
var flowers = func() string {
	rng := rand.New(rand.NewPCG(1, 2))
	return csvOf("length,width,kind", 42, func(i int) []any {
		return []any{float64(i%3) + 0.5*rng.NormFloat64(), 0.5 * rng.NormFloat64(),
			[]string{"ash", "elm", "oak"}[i%3]}
	})
}()
