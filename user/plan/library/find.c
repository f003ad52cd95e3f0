// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/library/find.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/first_environ.h"
#include "base/invoker.h"
#include "plan/library/file.h"

#define LIBRARY_BEGIN	"librustc_driver"
#define LIBRARY_END	".so"
#define LIBRARY_PATTERN LIBRARY_BEGIN "*" LIBRARY_END
#define DELETED		" (deleted)"
#define EXIT_NO_COMMAND 127
#define MAPPED_TRIES	100

bool plan_find__is_library(const char *path)
{
	const char *slash = strrchr(path, '/'), *end;

	/* As LIBRARY_PATTERN; each program on the machine maps some ten files. */
	if (!slash || strncmp(slash + 1, LIBRARY_BEGIN, strlen(LIBRARY_BEGIN)))
		return false;
	slash += strlen("/" LIBRARY_BEGIN);
	end = slash + strlen(slash);
	return end - slash >= (ptrdiff_t)strlen(LIBRARY_END) &&
	       !strcmp(end - strlen(LIBRARY_END), LIBRARY_END);
}

/* Cut " (deleted)" off; true if it was there. */
static bool cut_deleted(char *path)
{
	size_t len = strlen(path), cut = strlen(DELETED);

	if (len <= cut || strcmp(path + len - cut, DELETED))
		return false;
	path[len - cut] = '\0';
	return true;
}

int plan_find__in_maps(FILE *maps, char **path, char *range)
{
	_free_ char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, maps)) > 0) {
		_free_ char *bare = NULL;
		int at = 0;

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (sscanf(line, "%39s %*s %*s %*s %*s %n", range, &at) != 1 || !at)
			continue;
		bare = strdup(line + at);
		if (!bare)
			return -ENOMEM;
		cut_deleted(bare);
		if (!plan_find__is_library(bare))
			continue;
		*path = strdup(line + at);
		return *path ? 0 : -ENOMEM;
	}
	return ferror(maps) ? -errno : -ENOENT;
}

/* A process that has exited and was not waited for still has a /proc directory, with no maps. */
static bool has_exited(pid_t pid)
{
	_fclose_ FILE *f = NULL;
	char name[64], text[512], *paren;
	size_t n;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	f = fopen(name, "re");
	if (!f)
		return true;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	paren = strrchr(text, ')'); /* a command's name may contain any character */
	return !paren || !paren[1] || strchr("ZXx", paren[2]);
}

/* A path by which this process can open the file that process `pid` calls `path`. */
static int path_from_here(pid_t pid, const char *path, char **out)
{
	_free_ char *theirs = NULL;
	struct stat here, there;

	if (asprintf(&theirs, "/proc/%d/root%s", pid, path) < 0) {
		theirs = NULL;
		return -ENOMEM;
	}
	if (stat(theirs, &there)) {
		/*
		 * We may lack access to its root directory; the same path is then the best guess.
		 */
		if (access(path, R_OK))
			return -errno;
		*out = strdup(path);
	} else if (!stat(path, &here) && here.st_dev == there.st_dev &&
		   here.st_ino == there.st_ino) {
		*out = strdup(path);
	} else {
		*out = take_ptr(theirs);
	}
	return *out ? 0 : -ENOMEM;
}

/* As plan_find__in_maps(), and -ESRCH: there is no such process. */
static int find_mapped(pid_t pid, char **path, char *range)
{
	_fclose_ FILE *maps = NULL;
	char name[64];
	int err;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return errno == ENOENT ? -ESRCH : -errno;
	err = plan_find__in_maps(maps, path, range);
	return err && has_exited(pid) ? -ESRCH : err;
}

/*
 * A file that is deleted has no path. One in another mount namespace may have a path that leads
 * nowhere: the kernel prints it from the root of that namespace, and the process may have changed
 * its own root. Both are found by the mapping.
 */
int plan_find__of_pid(pid_t pid, char **path)
{
	_free_ char *mapped = NULL, *link = NULL;
	char range[40];
	int err = find_mapped(pid, &mapped, range);

	if (err)
		return err;
	if (!cut_deleted(mapped) && !path_from_here(pid, mapped, path))
		return 0;
	if (asprintf(&link, "/proc/%d/map_files/%s", pid, range) < 0) {
		link = NULL;
		return -ENOMEM;
	}
	/* access(2) would ignore the capabilities of our executable. */
	if (faccessat(AT_FDCWD, link, R_OK, AT_EACCESS))
		return -errno;
	*path = take_ptr(link);
	return 0;
}

int plan_find__check_mapped(pid_t pid, const struct library_file *file)
{
	/* The loader maps the whole file first, then splits that range segment by segment. */
	for (int i = 0; i < MAPPED_TRIES; i++) {
		_free_ char *path = NULL;
		char name[96], range[40];
		struct stat st;
		int err = find_mapped(pid, &path, range);

		if (err)
			return err;
		snprintf(name, sizeof(name), "/proc/%d/map_files/%s", pid, range);
		if (!stat(name, &st))
			return library_file__is_inode(file, st.st_dev, st.st_ino) ? 0 : -ESTALE;
		if (errno != ENOENT)
			return errno == EPERM || errno == EACCES ? 0 : -errno;
	}
	return -EAGAIN;
}

/* True if the executable names the library, as its dynamic section does. */
static bool mentions(const char *exe, const char *library)
{
	const char *name = strrchr(library, '/') + 1;
	_close_ int fd = library_file__open_regular(exe);
	_free_ char *bytes = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > 64 << 20)
		return false;
	bytes = malloc(st.st_size);
	/* read(2) returns all of a regular file at once. */
	return bytes && read(fd, bytes, st.st_size) == st.st_size &&
	       memmem(bytes, st.st_size, name, strlen(name) + 1);
}

/*
 * A system's /usr/lib may hold several libraries: pick the one that its rustc was linked to, else
 * the first.
 */
static int pick_library(const char *sysroot, char *const found[], size_t n, char **path)
{
	_free_ char *exe = NULL;
	const char *pick = found[0];

	if (asprintf(&exe, "%s/bin/rustc", sysroot) < 0) {
		exe = NULL;
		return -ENOMEM;
	}
	for (size_t i = 0; n > 1 && i < n; i++) {
		if (mentions(exe, found[i])) {
			pick = found[i];
			break;
		}
	}
	*path = realpath(pick, NULL);
	return *path ? 0 : -errno;
}

static int find_in_sysroot(const char *sysroot, char **path)
{
	/* Debian puts it below the architecture's directory. */
	static const char *const places[] = {"lib", "lib64", "lib/*-linux-*"};
	int err = -ENOENT;

	for (size_t i = 0; err == -ENOENT && i < N_OF(places); i++) {
		_free_ char *pattern = NULL;
		glob_t found = {};

		if (asprintf(&pattern, "%s/%s/" LIBRARY_PATTERN, sysroot, places[i]) < 0) {
			pattern = NULL;
			return -ENOMEM;
		}
		if (!glob(pattern, 0, NULL, &found))
			err = pick_library(sysroot, found.gl_pathv, found.gl_pathc, path);
		globfree(&found);
	}
	return err;
}

int plan_find__of_exe(const char *exe, char **path)
{
	_free_ char *real = realpath(exe, NULL);
	char *slash;

	if (!real)
		return -errno;
	slash = strrchr(real, '/');
	*slash = '\0';
	slash = strrchr(real, '/');
	if (!slash || strcmp(slash, "/bin"))
		return -ENOENT;
	*slash = '\0';
	return find_in_sysroot(real, path);
}

/* A program that is run for its standard output. */
struct question {
	const char *argv[5];
	bool quiet; /* its errors are of no use: there is another way, or a command that has them */
	bool installs; /* rustup may download a toolchain to answer it */
};

static void exec_question(const struct invoker *inv, const struct question *q, char **env, int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	/* rustup may have to download a toolchain first: let signals interrupt it. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	/*
	 * rustc must not use our input. It may be a background process of the terminal: reading
	 * from that would stop it, and so can writing ("stty tostop"), while we wait for it.
	 */
	signal(SIGTTOU, SIG_IGN);
	if (dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    (q->quiet && dup2(null, STDERR_FILENO) < 0) || invoker__become(inv))
		_exit(1);
	environ = env;
	/* Later than 1.27, rustup takes it, and downloads when the user's own command asks it. */
	if (!q->installs)
		setenv("RUSTUP_AUTO_INSTALL", "0", 1);
	execvp(q->argv[0], (char *const *)q->argv);
	_exit(errno == ENOENT ? EXIT_NO_COMMAND : 1);
}

/*
 * As fork(2), but in a process group of its own if another thread may have to end it; -EINTR:
 * another thread has.
 */
static pid_t fork_asked(struct plan_find_asked *asked)
{
	pid_t pid;

	if (!asked)
		return fork();
	pthread_mutex_lock(&asked->lock);
	errno = EINTR;
	pid = asked->given_up ? -1 : fork();
	/* Set by both processes, as either may run first. */
	if (pid >= 0)
		setpgid(pid, 0);
	if (pid > 0)
		asked->group = pid;
	if (pid)
		pthread_mutex_unlock(&asked->lock);
	return pid;
}

/* Clear the group before reaping: afterwards its number may belong to another process. */
static int wait_for_asked(struct plan_find_asked *asked, pid_t pid, int *status)
{
	siginfo_t info;

	while (asked && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT)) {
		if (errno != EINTR)
			return -errno;
	}
	if (asked) {
		pthread_mutex_lock(&asked->lock);
		asked->group = 0;
		pthread_mutex_unlock(&asked->lock);
	}
	while (waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

void plan_find__give_up(struct plan_find_asked *asked, int sig)
{
	pthread_mutex_lock(&asked->lock);
	asked->given_up = true;
	if (asked->group)
		kill(-asked->group, sig);
	pthread_mutex_unlock(&asked->lock);
}

/*
 * Read the first line of a program into `text`, of PATH_MAX + 1 bytes. Once the program `ended`,
 * all that it printed is in the pipe: a process that keeps that open is not waited for.
 */
static void read_line(int from, int ended, char *text)
{
	struct pollfd fds[] = {{.fd = from, .events = POLLIN}, {.fd = ended, .events = POLLIN}};
	size_t len = 0;

	while (len < PATH_MAX && !memchr(text, '\n', len)) {
		int ready = poll(fds, N_OF(fds), -1);
		ssize_t n;

		if (ready < 0 && errno == EINTR)
			continue;
		n = ready > 0 && fds[0].revents ? read(from, text + len, PATH_MAX - len) : 0;
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	text[len] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* Read the first line that it prints, an absolute path, into `text`, of PATH_MAX + 1 bytes. */
static int ask(const struct invoker *inv, char **env, const struct question *q,
	       struct plan_find_asked *asked, char *text)
{
	_close_ int from = -1, out = -1, ended = -1;
	int err, pipes[2], status;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	from = pipes[0];
	out = pipes[1];
	pid = fork_asked(asked);
	if (pid < 0)
		return -errno;
	if (pid == 0)
		exec_question(inv, q, env, out);
	close(take_fd(out));
	ended = (int)syscall(SYS_pidfd_open, pid, 0);
	read_line(from, ended, text);
	/* The rest of what it prints is not waited for. */
	close(take_fd(from));
	err = wait_for_asked(asked, pid, &status);
	if (err)
		return err;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_COMMAND)
		return -ENOENT;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE)
		status = 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && *text == '/' ? 0 : -EIO;
}

static const char *path_variable(char *const env[])
{
	while (*env && strncmp(*env, "PATH=", 5))
		env++;
	return *env ? *env + 5 : "";
}

/*
 * The rustup of which `rustc` is a proxy: the same program, beside it. False if it is none. `path`
 * has PATH_MAX bytes.
 */
static bool find_rustup(const char *rustc, char *const env[], char *path)
{
	const char *dirs = strchr(rustc, '/') ? "" : path_variable(env), *slash;
	struct stat proxy, rustup;
	bool found = false;

	for (int len; !found; dirs += len + 1) {
		len = (int)strcspn(dirs, ":");
		snprintf(path, PATH_MAX, "%.*s%s%s", len, dirs, len ? "/" : "", rustc);
		found = !access(path, X_OK) && !stat(path, &proxy) && S_ISREG(proxy.st_mode);
		if (!dirs[len])
			break;
	}
	slash = strrchr(path, '/');
	if (!found || !slash || slash - path > PATH_MAX - 8)
		return false;
	strcpy(path + (slash - path), "/rustup");
	return !stat(path, &rustup) && proxy.st_dev == rustup.st_dev &&
	       proxy.st_ino == rustup.st_ino;
}

/* The sysroot by the place of its rustc. */
static int ask_rustup(const struct invoker *inv, char **env, const char *rustup, const char *plus,
		      struct plan_find_asked *asked, char *text)
{
	const struct question with = {{rustup, plus, "which", "rustc"}, true, !asked},
			      without = {{rustup, "which", "rustc"}, true, !asked};
	int err = ask(inv, env, plus ? &with : &without, asked, text);
	size_t len = err ? 0 : strlen(text), cut = strlen("/bin/rustc");

	if (!err && (len <= cut || strcmp(text + len - cut, "/bin/rustc")))
		err = -EIO;
	if (!err)
		text[len - cut] = '\0';
	return err;
}

static int find_for(const struct invoker *inv, char **env, const char *rustc, const char *plus,
		    struct plan_find_asked *asked, char **path)
{
	const struct question with = {{rustc, plus, "--print", "sysroot"}, asked, !asked},
			      without = {{rustc, "--print", "sysroot"}, asked, !asked};
	char rustup[PATH_MAX], sysroot[PATH_MAX + 1];
	bool proxy;
	int err = invoker__take_file_rights(inv);

	if (err)
		return err;
	proxy = find_rustup(rustc, env, rustup);
	invoker__return_file_rights(inv);
	if (asked)
		atomic_store(&asked->rustup, proxy);
	/*
	 * rustup answers in a quarter of the time that the toolchain's rustc takes to load its
	 * libraries and to print its sysroot.
	 */
	if (!proxy || ask_rustup(inv, env, rustup, plus, asked, sysroot))
		err = ask(inv, env, plus ? &with : &without, asked, sysroot);
	/* Errors must not reveal to the invoker which files exist where only root may look. */
	err = err ?: invoker__take_file_rights(inv);
	if (err)
		return err;
	err = find_in_sysroot(sysroot, path);
	invoker__return_file_rights(inv);
	return err == -ENOENT ? -ENODATA : err;
}

int plan_find__of_toolchain(const char *rustc, const char *toolchain, struct plan_find_asked *asked,
			    char **path)
{
	_invoker_ struct invoker inv = {};
	_environ_ char **env = NULL;
	_free_ char *plus = NULL;
	int err = invoker__get(&inv) ?: invoker__environ(&inv, environ_before_sudo(), &env);

	if (!err && toolchain && asprintf(&plus, "+%s", toolchain) < 0) {
		plus = NULL;
		err = -ENOMEM;
	}
	return err ?: find_for(&inv, env, rustc, plus, asked, path);
}

const char *plan_find__toolchain_error(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no rustc in your PATH; install one from https://rustup.rs, or "
		       "name a librustc_driver file";
	case -EIO:
		return "`rustc --print sysroot` failed; run it yourself to see why";
	case -ETIME:
		return "`rustc --print sysroot` does not answer; see which rustc is the first in "
		       "your PATH";
	case -ENODATA:
		return "rustc's sysroot holds no librustc_driver-*.so; a toolchain from "
		       "https://rustup.rs has it";
	default:
		return strerror(-err);
	}
}
