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
tar -tzf "$tarball" | sed -n 's|^[^/]*/\(.*[^/]\)$|/usr/local/\1|p' | xargs rm
left=$(find /usr/local -type f -o -name '*qprof*')
[ -z "$left" ] || fail "removal left $left"
recorded
