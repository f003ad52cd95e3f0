// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * Every view and export of traces of each kind, as digests in tests/golden/outputs.txt: a change of
 * the code that is to change no output changes none of them. With OUTPUTS=DIR the outputs are files
 * in DIR as well, so that those of two builds can be compared: diff -r.
 */
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "test.h"
#include "../fixtures/command_line.h"
#include "../fixtures/directory.h"
#include "../fixtures/export_trace.h"
#include "../fixtures/llvm_build.h"
#include "../fixtures/page.h"
#include "../fixtures/sampled_build.h"

/* TRACE stands for the file. Lines up to SOME_LINES are run on damaged traces too. */
static const char *const lines[] = {
	"verify TRACE",
	"dump TRACE",
	"report TRACE",
	"report --json TRACE",
	"report --by query TRACE",
	"export -f perfetto -o - TRACE",
	"export -f folded -o - TRACE",
	"dump --query t* TRACE",
	"report --full TRACE",
	"report --full --json TRACE",
	"report --markdown TRACE",
	"report --cost TRACE",
	"report --by query --json TRACE",
	"report --by query --wide TRACE",
	"report --by query --raw --sort total TRACE",
	"report --by item TRACE",
	"report --by item --json TRACE",
	"report --by module TRACE",
	"report --by module --json TRACE",
	"report --by macro TRACE",
	"report --by macro --json TRACE",
	"report --by cgu TRACE",
	"report --by cgu --json TRACE",
	"report --by pass TRACE",
	"report --by pass --json TRACE",
	"report --by generic TRACE",
	"report --by generic --json TRACE",
	"report --by crate TRACE",
	"report --by crate --json TRACE",
	"report --by process TRACE",
	"report --by process --json TRACE",
	"report --by thread TRACE",
	"report --by thread --json TRACE",
	"report --callers * TRACE",
	"report --callers * --json TRACE",
	"report --functions TRACE",
	"report --functions --json TRACE",
	"report --tree down TRACE",
	"report --tree up --json TRACE",
	"report --memory TRACE",
	"report --memory --json TRACE",
	"report --waits TRACE",
	"report --waits --json TRACE",
	"diff TRACE TRACE",
	"diff --json TRACE TRACE",
	"diff --markdown --metric count TRACE TRACE",
	"diff --by item TRACE TRACE",
	"export -f folded --keys -o - TRACE",
	"export -f folded --by item -o - TRACE",
	"export -f folded --functions -o - TRACE",
	"export -f folded --memory -o - TRACE",
	"export -f folded --waits -o - TRACE",
	"export -f pprof -o - TRACE",
	"export -f speedscope -o - TRACE",
	"export -f counts -o - TRACE",
	"export -f html -o - TRACE",
	"export -f jsonl -o - TRACE",
	"report --wide TRACE",
	"report --wide --full TRACE",
	"report --markdown --full TRACE",
	"report --crate app TRACE",
	"report --crate app --markdown TRACE",
	"report --by item --wide TRACE",
	"report --by macro --wide TRACE",
	"report --by cgu --wide TRACE",
	"report --by pass --wide TRACE",
	"report --by generic --wide TRACE",
	"report --by generic --sort instances TRACE",
	"report --by thread --wide TRACE",
	"report --by crate --wide TRACE",
	"report --llvm * TRACE",
	"report --query * TRACE",
	"report --query * --wide TRACE",
	"report --functions --wide TRACE",
	"report --waits --wide TRACE",
	"report --memory --wide TRACE",
	"diff --schema TRACE TRACE",
	"diff --by pass TRACE TRACE",
	"diff --by generic --json TRACE TRACE",
	"diff --wide --markdown TRACE TRACE",
};

#define SOME_LINES 7

static void write_llvm(const char *path)
{
	llvm_build_write(path, true);
}

static const struct group {
	const char *name, *files;
	void (*write)(const char *path);
} groups[] = {
	{.name = "exact", .write = export_trace_write},
	{.name = "default", .write = sampled_build_write},
	{.name = "LLVM", .write = write_llvm},
	{.name = "good", .files = "tests/golden/good-*.qpt"},
	{.name = "damaged", .files = "tests/golden/bad-*.qpt"},
};

static uint32_t digest_of(uint32_t digest, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		digest = (digest ^ ((const uint8_t *)bytes)[i]) * 16777619u;
	return digest;
}

static size_t size_of(int fd)
{
	return (size_t)lseek(fd, 0, SEEK_END);
}

static char *content_of(int fd)
{
	size_t size = size_of(fd);
	char *bytes = calloc(1, size + 1);

	assert_int_equal(pread(fd, bytes, size, 0), size);
	return bytes;
}

/* Another zlib may pack in another way, so packed bytes are compared unpacked. */
static uint32_t digest_unpacked(uint32_t digest, const char *bytes, size_t size)
{
	static const char block[] = "<script type=\"text/plain\" id=";
	uint8_t *unpacked;

	if (!strncmp(bytes, "\x1f\x8b", 2)) {
		unpacked = page_inflate((const uint8_t *)bytes, size, &size);
		digest = digest_of(digest, unpacked, size);
		free(unpacked);
		return digest;
	}
	for (const char *at = bytes; (at = strstr(at, block)); at++) {
		unpacked = page_unpack(strchr(at, '>') + 1, &size);
		digest = digest_of(digest, unpacked, size);
		free(unpacked);
	}
	return digest;
}

static void keep(const char *line, const char *trace, int fd)
{
	_free_ char *path = NULL, *bytes = content_of(fd);
	_fclose_ FILE *f = NULL;

	assert_true(asprintf(&path, "%s/%s %s", getenv("OUTPUTS"), line, strrchr(trace, '/') + 1) >
		    0);
	f = fopen(path, "we");
	assert_non_null(f);
	fwrite(bytes, 1, size_of(fd), f);
}

/* What the line prints on stdout and stderr, with its status, added to the digest. */
static uint32_t digest_line(uint32_t digest, const char *line, const char *trace)
{
	bool packed = strstr(line, "html") || strstr(line, "pprof");
	char copy[128], *argv[16] = {"qprof-bpf"};
	int fd[2], saved[2], n = 1, status;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[n++] = strcmp(word, "TRACE") ? word : (char *)trace;
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		fd[i] = memfd_create("output", MFD_CLOEXEC);
		saved[i] = dup(i + 1);
		assert_true(dup2(fd[i], i + 1) >= 0);
	}
	status = command_line_run(argv);
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		_free_ char *bytes = content_of(fd[i]);

		assert_true(dup2(saved[i], i + 1) >= 0);
		close(saved[i]);
		/* stderr has the size of what is packed. */
		if (!packed)
			digest = digest_of(digest, bytes, size_of(fd[i]));
		else if (!i)
			digest = digest_unpacked(digest, bytes, size_of(fd[i]));
	}
	if (getenv("OUTPUTS"))
		keep(line, trace, fd[0]);
	close(fd[0]);
	close(fd[1]);
	return digest_of(digest, &status, sizeof(status));
}

static uint32_t digest_group(const struct group *g, const char *line)
{
	uint32_t digest = 2166136261u;
	glob_t found;

	if (g->write) {
		char path[32];

		snprintf(path, sizeof(path), "./%s", g->name);
		return digest_line(digest, line, path);
	}
	assert_int_equal(glob(g->files, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		digest = digest_line(digest, line, found.gl_pathv[i]);
	globfree(&found);
	return digest;
}

/* Outputs name traces, so their paths are always the same. */
TEST_CASE(no_output_has_changed)
{
	_free_ char *text = NULL, *top = getcwd(NULL, 0);
	_free_ char *tests = realpath("tests", NULL);
	size_t size;
	FILE *f = open_memstream(&text, &size);

	setenv("TZ", "UTC", 1);
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(symlink(tests, "tests"), 0);
	for (size_t g = 0; g < N_OF(groups); g++)
		if (groups[g].write)
			groups[g].write(groups[g].name);
	for (size_t i = 0; i < N_OF(lines); i++) {
		for (size_t g = 0; g < N_OF(groups); g++)
			if (i < SOME_LINES || strcmp(groups[g].name, "damaged"))
				fprintf(f, "%-8s %08x  %s\n", groups[g].name,
					digest_group(&groups[g], lines[i]), lines[i]);
	}
	fclose(f);
	assert_int_equal(chdir(top), 0);
	assert_golden("outputs.txt", text);
}

TEST_MAIN(directory_make, directory_remove)
