// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "capture/probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Newer than the headers of libbpf 1.1 and of many distributions, so spelled out here: the
 * BPF_LINK_CREATE attributes of a uprobe_multi link, from the kernel's include/uapi/linux/bpf.h.
 */
#define ATTACH_TYPE_UPROBE_MULTI 48

struct uprobe_multi_attr {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t ref_ctr_offsets;
	uint64_t cookies;
	uint32_t count;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

_Static_assert(sizeof(struct uprobe_multi_attr) == 64, "uprobe_multi_attr");

struct probes {
	int multi[PROBES_ROLES]; /* link descriptors, -1 where there is none */
	pthread_t closers[PROBES_ROLES];
	bool closing[PROBES_ROLES]; /* by the closer */
	struct bpf_link **perf;
	size_t n_perf;
};

int probes_multi_attach_type(void)
{
	return ATTACH_TYPE_UPROBE_MULTI;
}

static int link_create(struct uprobe_multi_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, attr, sizeof(*attr));

	return fd < 0 ? -errno : fd;
}

bool probes_have_multi(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = ATTACH_TYPE_UPROBE_MULTI);
	uint64_t offset = 0;
	_close_ int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, 2, &opts);
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)prog,
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};

	/* A directory is no binary: a kernel that knows the link says EBADF, others EINVAL. */
	return prog >= 0 && link_create(&attr) == -EBADF;
}

static uint64_t identify_cookie(const struct plan *plan, const struct plan_site *site, uint8_t lib)
{
	uint32_t number = (uint32_t)(site - plan->sites);
	uint32_t slot = site->slot < 0 ? WIRE_NO_GROUP : (uint32_t)site->slot / 8;

	return wire_cookie(site->role, lib, number, slot, site->reg,
			   site->vtable_offset - 8 * WIRE_SP_BIAS);
}

static uint64_t request_cookie(const struct plan_site *site, uint8_t lib)
{
	/* At a start, what was pushed on the return address is the way to the wrapper's sp. */
	int32_t slot = site->role == WIRE_ROLE_WRAPPER ? site->sp_delta : site->slot;

	return wire_request_cookie(lib, site->query, (uint32_t)site->addr, (uint32_t)slot / 8);
}

uint64_t probes_cookie(const struct plan *plan, const struct plan_site *site, uint8_t lib,
		       bool callers)
{
	uint32_t query = site->query == PLAN_NONE ? WIRE_NO_QUERY : site->query;
	uint32_t group = site->body == PLAN_NONE ? WIRE_NO_GROUP : plan->bodies[site->body].group;

	if (site->role == WIRE_ROLE_IDENTIFY)
		return identify_cookie(plan, site, lib);
	if (site->role == WIRE_ROLE_REQUEST || (site->role == WIRE_ROLE_WRAPPER && callers))
		return request_cookie(site, lib);
	if (site->role == WIRE_ROLE_END)
		query = site->slot < 0 ? WIRE_NO_SLOT : (uint32_t)site->slot / 4;
	return wire_cookie(site->role, lib, query, group, site->reg, site->sp_delta);
}

bool probes_provider(const struct plan *plan, const struct plan_site *site, uint32_t query,
		     uint8_t lib, struct wire_provider_key *key, struct wire_provider *value)
{
	const struct plan_query *q = &plan->queries[query];
	bool own_start = q->start_role != WIRE_ROLE_WRAPPER;

	if (q->body_incr != site->body && q->body_non_incr != site->body)
		return false;
	*key = (struct wire_provider_key){
		.distance = (uint32_t)(q->provider - site->addr),
		.site = (uint16_t)(site - plan->sites),
		.lib = lib,
	};
	*value = (struct wire_provider){
		.query = own_start ? WIRE_NO_QUERY : (uint16_t)query,
		.group = (uint16_t)plan->bodies[site->body].group,
	};
	return true;
}

int probes_fill_providers(int map_fd, const struct plan *plan, const struct plan_site *site,
			  uint8_t lib)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		struct wire_provider_key key;
		struct wire_provider value;

		if (probes_provider(plan, site, i, lib, &key, &value) &&
		    bpf_map_update_elem(map_fd, &key, &value, BPF_ANY))
			return -errno;
	}
	return 0;
}

bool probes_wrappers(const struct plan *plan, uint32_t query, struct wire_wrappers *out)
{
	bool any = false;
	int n = 0;

	*out = (struct wire_wrappers){.group = WIRE_NO_GROUP};
	for (uint32_t i = 0; i < plan->n_sites; i++) {
		const struct plan_site *site = &plan->sites[i];

		if (site->query != query)
			continue;
		if (site->role == WIRE_ROLE_WRAPPER)
			out->group = plan->bodies[site->body].group;
		else if (site->role == WIRE_ROLE_REQUEST && n < 2)
			out->reach[n++] = (uint32_t)(site->slot + 8 - site->sp_delta);
		else
			continue;
		any = true;
	}
	return any;
}

int probes_fill_wrappers(int map_fd, const struct plan *plan, uint8_t lib)
{
	for (uint32_t i = 0; i < plan->n_queries; i++) {
		uint32_t key = wire_wrapper_key(lib, i);
		struct wire_wrappers value;

		if (probes_wrappers(plan, i, &value) &&
		    bpf_map_update_elem(map_fd, &key, &value, BPF_ANY))
			return -errno;
	}
	return 0;
}

struct site_range {
	uint32_t first;
	uint32_t end;
};

/* Sites are sorted by role. */
static struct site_range sites_of_role(const struct plan *plan, uint32_t role)
{
	struct site_range r = {0, 0};

	while (r.first < plan->n_sites && plan->sites[r.first].role < role)
		r.first++;
	for (r.end = r.first; r.end < plan->n_sites && plan->sites[r.end].role == role;)
		r.end++;
	return r;
}

/* What all roles of a library are attached with. */
struct attachment {
	struct bpf_program *const *progs;
	const struct plan *plan;
	uint8_t lib;
	bool callers;
};

static int attach_multi(struct probes *p, const struct attachment *a, uint32_t role)
{
	const struct plan *plan = a->plan;
	struct site_range r = sites_of_role(plan, role);
	uint32_t n = r.end - r.first;
	_free_ uint64_t *offsets = calloc(n + 1, sizeof(*offsets));
	_free_ uint64_t *cookies = calloc(n + 1, sizeof(*cookies));
	struct uprobe_multi_attr attr = {
		.prog_fd = (uint32_t)bpf_program__fd(a->progs[role]),
		.attach_type = ATTACH_TYPE_UPROBE_MULTI,
		.path = (uintptr_t)plan->path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = n,
	};
	int fd;

	if (!offsets || !cookies)
		return -ENOMEM;
	if (!n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		offsets[i] = plan->sites[r.first + i].offset;
		cookies[i] = probes_cookie(plan, &plan->sites[r.first + i], a->lib, a->callers);
	}
	fd = link_create(&attr);
	if (fd < 0)
		return fd;
	p->multi[role] = fd;
	return 0;
}

static int attach_perf(struct probes *p, const struct attachment *a, uint32_t role)
{
	const struct plan *plan = a->plan;
	struct site_range r = sites_of_role(plan, role);

	for (uint32_t i = r.first; i < r.end; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts,
			    .bpf_cookie = probes_cookie(plan, &plan->sites[i], a->lib, a->callers));
		struct bpf_link *link = bpf_program__attach_uprobe_opts(
			a->progs[role], -1, plan->path, plan->sites[i].offset, &opts);

		if (!link)
			return -errno;
		p->perf[p->n_perf++] = link;
	}
	return 0;
}

/*
 * Ends first: a start whose end probe is not there yet would look like a query that was left.
 * (Nothing counts before the capture is enabled; a library found in mid-capture does.) For the same
 * reason requests, which have the highest number, come before all: a start without one would have
 * no caller, while a request without its start harms nobody.
 */
int probes__attach(struct bpf_program *const progs[PROBES_ROLES], const struct plan *plan,
		   uint8_t lib, bool multi, struct probes **out)
{
	struct probes *p = calloc(1, sizeof(*p));
	struct attachment a = {progs, plan, lib, progs[WIRE_ROLE_REQUEST] != NULL};
	int err = 0;

	if (!p)
		return -ENOMEM;
	for (int role = 0; role < PROBES_ROLES; role++)
		p->multi[role] = -1;
	if (!multi) {
		p->perf = calloc(plan->n_sites + 1, sizeof(*p->perf));
		if (!p->perf)
			err = -ENOMEM;
	}
	for (uint32_t role = PROBES_ROLES - 1; role > 0 && !err; role--) {
		if (progs[role])
			err = multi ? attach_multi(p, &a, role) : attach_perf(p, &a, role);
	}
	if (err)
		probes__free(p);
	else
		*out = p;
	return err;
}

static void *close_link(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/*
 * Closing a link waits for the kernel's grace periods, some 40 ms. All links wait for the same ones
 * if they are closed at once.
 */
void probes__begin_free(struct probes *p)
{
	for (int role = 0; p && role < PROBES_ROLES; role++)
		if (p->multi[role] >= 0 && !p->closing[role])
			p->closing[role] = !pthread_create(&p->closers[role], NULL, close_link,
							   &p->multi[role]);
}

void probes__free(struct probes *p)
{
	if (!p)
		return;
	probes__begin_free(p);
	for (int role = 0; role < PROBES_ROLES; role++) {
		if (p->closing[role])
			pthread_join(p->closers[role], NULL);
		else if (p->multi[role] >= 0)
			close(p->multi[role]);
	}
	for (size_t i = 0; i < p->n_perf; i++)
		bpf_link__destroy(p->perf[i]);
	free(p->perf);
	free(p);
}

void probes__abandon(struct probes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_perf; i++) {
		bpf_link__disconnect(p->perf[i]);
		bpf_link__destroy(p->perf[i]);
	}
	free(p->perf);
	free(p);
}
