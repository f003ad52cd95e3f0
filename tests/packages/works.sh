# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Sourced by the scripts that run inside.
# shellcheck shell=sh

fail() {
	echo "$1" >&2
	exit 1
}

[ -e /tmp/double.rs ] || echo 'pub fn double(n: u32) -> u32 { n * 2 }' >/tmp/double.rs

# Functions with this name, and numbers up to this one: so many that their compiler does not end
# between two looks from outside.
functions() {
	i=0
	while [ $i -lt "$2" ]; do
		echo "pub fn $1_$i(n: &[u32]) -> Vec<String> { n.iter().map(|n| format!(\"{n:?}\")).collect() }"
		i=$((i + 1))
	done
}

can_record() {
	[ -e /sys/kernel/btf/vmlinux ]
}

# A recording by the user who calls this, in a directory of their own.
records() {
	out=$(mktemp -d)
	qprof-bpf -q --exact -o "$out/x.qpt" -- rustc --crate-type lib --emit metadata \
		--out-dir "$out" /tmp/double.rs &&
		[ -s "$out/libdouble.rmeta" ] &&
		qprof-bpf report --by query "$out/x.qpt" | grep -q '^typeck  *[1-9]' &&
		qprof-bpf history add --store "$out/history.db" "$out/x.qpt" &&
		qprof-bpf history list --store "$out/history.db" --json | grep -q '"compiles":1,' &&
		qprof-bpf trend --metric count --store "$out/history.db" | grep -q '1 build' &&
		qprof-bpf export -f html -o "$out/x.html" "$out/x.qpt" && [ -s "$out/x.html" ]
}

# Ends a script that needs a recording, where there can be none: the check is skipped, not passed.
recorded() {
	can_record && return
	echo "nothing was recorded: no /sys/kernel/btf/vmlinux"
	exit 77
}

commands() {
	qprof-bpf help "$@" | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p'
}

# Words that bash offers for the last of these, with the completion in directory $1.
offered() {
	bash -c '. "$0/share/bash-completion/completions/qprof-bpf"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_qprof_bpf
		echo "${COMPREPLY[*]}"' "$@"
}

# Each command has a manual page below directory $1, and bash completes it.
documented() {
	all=$(commands) of_history=$(commands history)
	[ -n "$of_history" ] || fail "the help lists no commands of history"
	for command in $all $(for word in $of_history; do echo "history-$word"; done); do
		set -- "$1" "$1/share/man/man1/qprof-bpf-$command.1"*
		[ -s "$2" ] || fail "no manual page of $command"
	done
	set -- "$1" "$1/share/man/man1/cargo-qprof.1"*
	[ -s "$2" ] || fail "no manual page of cargo-qprof"
	cargo-qprof qprof --help | grep -q '^usage: cargo qprof ' || fail "no help of cargo-qprof"
	for command in $all; do
		[ "$(offered "$1" qprof-bpf "$command")" = "$command" ] || fail "$command is not completed"
	done
	[ "$(offered "$1" qprof-bpf history "")" = "$(echo "$of_history" | tr '\n' ' ' | sed 's/ $//')" ] ||
		fail "the commands of history are not completed"
}

# Without libcurl a history on a server is refused with what to do, and nothing else needs it.
works_without_curl() {
	said=$(qprof-bpf history list --store http://127.0.0.1:9/db 2>&1) && fail "a server without libcurl"
	case $said in *libcurl*) ;; *) fail "no word of libcurl: $said" ;; esac
}

works() {
	! ldd "$(command -v qprof-bpf)" | grep 'not found' || fail "a library is missing"
	qprof-bpf --version | grep -x 'qprof-bpf [0-9.]*' || fail "no version"
	can_record || return 0
	qprof-bpf doctor || fail "doctor found a problem"
	records || fail "no recording"
}
