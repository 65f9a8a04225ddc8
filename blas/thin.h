#ifndef BOOTBENCH_THIN_H
#define BOOTBENCH_THIN_H

#define THIN_SITES 240 // a multiple of all COLUMNS

// thin is R' in parts of so many rows, the last of which may have fewer; rows of a part are a stride apart.
struct thin {
	int rank, height;
	long stride;
	const double *const *parts;
};

static inline const double *thin_row(const struct thin *m, int q) { return m->parts[q / m->height] + (long)(q % m->height) * m->stride; }

#endif
