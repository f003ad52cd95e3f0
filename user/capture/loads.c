// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/loads.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

#define LOADS_MOST   32
#define THREADS_MOST 3		    /* beside the one that waits */
#define LICENSE	     "Dual BSD/GPL" /* as bpf/qprof.bpf.c says */

struct load {
	struct bpf_program *prog;
	struct bpf_prog_load_opts *opts;
	struct bpf_insn *insns;
	size_t n_insns;
	void *functions; /* opts->func_info */
	int fd;		 /* the result: or a negative errno */
};

static struct {
	bool begun, all; /* no more are taken */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct load items[LOADS_MOST];
	uint32_t n, n_begun;
	pthread_t threads[THREADS_MOST];
	uint32_t n_threads;
} loads = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

void loads__begin(void)
{
	loads.begun = true;
}

/* Waits for one; NULL: that was the last. */
static struct load *next(void)
{
	_unlock_ pthread_mutex_t *held = locked(&loads.lock);

	while (loads.n_begun == loads.n && !loads.all)
		pthread_cond_wait(&loads.more, &loads.lock);
	return loads.n_begun < loads.n ? &loads.items[loads.n_begun++] : NULL;
}

static void load_all(void)
{
	struct load *l;

	while ((l = next()))
		l->fd = bpf_prog_load(bpf_program__type(l->prog), bpf_program__name(l->prog),
				      LICENSE, l->insns, l->n_insns, l->opts);
}

static void *run(void *unused)
{
	load_all();
	return unused;
}

static int add_load(const struct load *l)
{
	_unlock_ pthread_mutex_t *held = locked(&loads.lock);

	if (loads.n == LOADS_MOST)
		return -E2BIG;
	loads.items[loads.n++] = *l;
	pthread_cond_signal(&loads.more);
	return 0;
}

static void *copy(const void *from, size_t size)
{
	void *to = malloc(size ?: 1);

	return to && size ? memcpy(to, from, size) : to;
}

static void clear(struct load *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->insns);
	free(l->functions);
	free(l->opts);
}

/* libbpf frees what is its own if another program cannot be loaded. Lines are for its log only. */
static int take(struct bpf_program *prog, const struct bpf_prog_load_opts *opts, struct load *l)
{
	size_t n = bpf_program__insn_cnt(prog);

	*l = (struct load){
		.prog = prog,
		.opts = copy(opts, opts->sz),
		.insns = copy(bpf_program__insns(prog), n * sizeof(*l->insns)),
		.n_insns = n,
		.functions = copy(opts->func_info,
				  (size_t)opts->func_info_cnt * opts->func_info_rec_size),
		.fd = -ECANCELED,
	};
	if (!l->opts || !l->insns || !l->functions)
		return -ENOMEM;
	l->opts->func_info = l->functions;
	l->opts->line_info = NULL;
	l->opts->line_info_cnt = 0;
	return add_load(l);
}

int loads__take(struct bpf_program *prog, struct bpf_prog_load_opts *opts)
{
	struct bpf_insn returns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct load l;
	int err;

	if (!loads.begun)
		return 0;
	err = take(prog, opts, &l);
	if (err)
		clear(&l);
	err = err ?: bpf_program__set_insns(prog, returns, N_OF(returns));
	if (err)
		return err;
	opts->func_info = opts->line_info = NULL;
	opts->func_info_cnt = opts->line_info_cnt = 0;
	/* Without a thread, the one that waits does all. */
	if (loads.n_threads < THREADS_MOST && loads.n_threads + 1 < cpus &&
	    !pthread_create(&loads.threads[loads.n_threads], NULL, run, NULL))
		loads.n_threads++;
	return 0;
}

int loads__end(bool failed)
{
	int err = 0;

	pthread_mutex_lock(&loads.lock);
	loads.all = true;
	pthread_cond_broadcast(&loads.more);
	pthread_mutex_unlock(&loads.lock);
	load_all();
	for (uint32_t i = 0; i < loads.n_threads; i++)
		pthread_join(loads.threads[i], NULL);
	for (uint32_t i = 0; i < loads.n; i++) {
		struct load *l = &loads.items[i];

		if (!failed && !err)
			err = l->fd < 0 ? l->fd : 0;
		if (!failed && !err && dup3(l->fd, bpf_program__fd(l->prog), O_CLOEXEC) < 0)
			err = -errno;
		clear(l);
	}
	loads.n = loads.n_begun = loads.n_threads = 0;
	loads.begun = loads.all = false;
	return err;
}
