/* Times LIBSVM's svm_train on a precomputed kernel matrix.

     libsvm MATRIX C TOLERANCE REPEATS

   MATRIX holds N, N labels and N x N kernel elements, all doubles. Prints the
   least wall time in seconds of the better of shrinking on and off and rho,
   then the N products label times dual weight, a line each. */

#include <libsvm/svm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void quiet(const char *s) { (void)s; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
  FILE *f = argc == 5 ? fopen(argv[1], "rb") : NULL;
  double count;
  if (!f || fread(&count, sizeof count, 1, f) != 1) return 2;
  int n = (int)count;
  double *y = malloc(n * sizeof *y), *row = malloc(n * sizeof *row);
  struct svm_node *nodes = malloc((size_t)n * (n + 2) * sizeof *nodes), **x = malloc(n * sizeof *x);
  if (fread(y, sizeof *y, n, f) != (size_t)n) return 2;
  for (int i = 0; i < n; i++) {
    if (fread(row, sizeof *row, n, f) != (size_t)n) return 2;
    x[i] = nodes + (size_t)i * (n + 2);
    x[i][0].index = 0;
    x[i][0].value = i + 1;
    for (int j = 0; j < n; j++) {
      x[i][j + 1].index = j + 1;
      x[i][j + 1].value = row[j];
    }
    x[i][n + 1].index = -1;
  }
  struct svm_problem problem = {n, y, x};
  struct svm_parameter p = {0};
  p.svm_type = C_SVC;
  p.kernel_type = PRECOMPUTED;
  p.cache_size = 2000;
  p.C = atof(argv[2]);
  p.eps = atof(argv[3]);
  svm_set_print_string_function(quiet);
  double best = 1e300, *weight = calloc(n, sizeof *weight), rho = 0;
  for (int run = 0; run < 2 * atoi(argv[4]); run++) {
    p.shrinking = run % 2;
    double began = now();
    struct svm_model *m = svm_train(&problem, &p);
    double took = now() - began;
    if (took < best) best = took;
    if (run == 0) {
      int *sv = malloc(m->l * sizeof *sv);
      double sign = m->label[0];
      svm_get_sv_indices(m, sv);
      for (int k = 0; k < m->l; k++) weight[sv[k] - 1] = sign * m->sv_coef[0][k];
      rho = sign * m->rho[0];
    }
    svm_free_and_destroy_model(&m);
  }
  printf("%.9g %.17g\n", best, rho);
  for (int i = 0; i < n; i++) printf("%.17g\n", weight[i]);
  return 0;
}
