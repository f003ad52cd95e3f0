// SPDX-License-Identifier: Apache-2.0 OR MIT
/*
 * vfork_maps LIBRARY: the main thread sits in vfork(), where it does not stop for a tracer, while a
 * second thread maps the library, prints a line, and sleeps. Both end when stdin does.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int is_in_vfork;

static void *map(void *path)
{
	int fd = open(path, O_RDONLY);

	while (!is_in_vfork)
		usleep(1000);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	puts("mapped");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char byte;

	if (argc < 2 || pthread_create(&thread, NULL, map, argv[1]))
		return 1;
	if (!vfork()) {
		is_in_vfork = 1;
		while (read(STDIN_FILENO, &byte, 1) > 0)
			;
		_exit(0);
	}
	_exit(0);
}
