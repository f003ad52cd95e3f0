#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Inside a small Debian, to which nothing is added: unpacks the tarball, tries it, and removes it by
# its own list.
set -eu

. /srv/tests/works.sh
tarball=$(echo "$1"/qprof-bpf-*.tar.gz)

tar -xzf "$tarball" -C /usr/local --strip-components=1
works
works_without_curl
documented /usr/local
for file in share/man/man1/qprof-bpf-record.1 share/bash-completion/completions/qprof-bpf \
	share/zsh/site-functions/_qprof-bpf share/fish/vendor_completions.d/qprof-bpf.fish \
	bin/cargo-qprof share/bash-completion/completions/cargo-qprof \
	share/zsh/site-functions/_cargo-qprof share/fish/vendor_conf.d/cargo-qprof.fish \
	lib/systemd/system/qprof-bpf.service share/doc/qprof-bpf/qprof-bpf.spdx.json \
	share/doc/qprof-bpf/licences/libdw-dev share/doc/qprof-bpf/README.md; do
	[ -s "/usr/local/$file" ] || fail "no /usr/local/$file"
done

# ---- A new user without privileges: record, look, change, compare, page --------------------------

useradd --create-home ann
mkdir -p /home/ann/app/src
printf '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n' >/home/ann/app/Cargo.toml
functions app 200 >/home/ann/app/src/lib.rs
chown -R ann:ann /home/ann
as_ann() {
	setpriv --reuid=ann --regid=ann --init-groups env HOME=/home/ann sh -ec "cd /home/ann/app; $1" 2>&1
}
says() {
	said=$(as_ann "$1") || fail "$1 failed: $said"
	echo "$said"
	case $said in *"$2"*) ;; *) fail "$1: no word of $2" ;; esac
}
says "qprof-bpf -o ../first.qpt -- cargo build" "recording from outside, as CAP_BPF, CAP_PERFMON are missing"
says "qprof-bpf report --by item ../first.qpt" "app::app_"
as_ann "rm -r target"
says "cargo qprof build" "times are by looks from outside"
says "cargo qprof report" "compile   app: "
says "cargo clean; echo 'pub fn more() {}' >>src/lib.rs; cargo qprof build" "next: cargo qprof page"
says "cargo qprof diff" "wall time: "
says "cargo qprof page" "/home/ann/.local/state/qprof-bpf/app-"
[ -s "$(as_ann "cargo qprof page" | tail -n 1)" ] || fail "there is no page"

tar -tzf "$tarball" | sed -n 's|^[^/]*/\(.*[^/]\)$|/usr/local/\1|p' | xargs rm
left=$(find /usr/local -type f -o -type l -name '*qprof*')
[ -z "$left" ] || fail "removal left $left"
recorded
