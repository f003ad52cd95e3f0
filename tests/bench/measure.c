// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * measure FILE COMMAND...: run a command and write its wall and CPU time (ns, from just before its
 * exec to its exit) to FILE. The benchmark uses it both inside and outside of the profiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static long long ns_of(struct timeval tv)
{
	return tv.tv_sec * 1000000000LL + tv.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	long long start;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3)
		return 2;
	out = fopen(argv[1], "w");
	if (!out)
		return 2;
	start = now_ns();
	pid = vfork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 2;
	fprintf(out, "%lld %lld\n", now_ns() - start,
		ns_of(usage.ru_utime) + ns_of(usage.ru_stime));
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
