#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Inside a small Debian: what docs/ci.md lets a CI machine run, by a user who may use sudo.
set -eu

. /srv/tests/works.sh
recorded

# The commands of the step with this name.
step() {
	awk -v name="- name: $1" '
		index($0, "- name: ") { on = substr($0, index($0, "- ")) == name; run = 0 }
		/^ *- uses:/ { on = 0 }
		on && run && /^          / { print substr($0, 11) }
		on && /^ *run: [|]/ { run = 1 }' /srv/docs/ci.md
}

apt-get -q -y --no-install-recommends install sudo curl || {
	apt-get -q update
	apt-get -q -y --no-install-recommends install sudo curl
}
useradd --create-home runner
echo 'runner ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/runner
job=/home/runner/job
mkdir -p /home/runner/.cargo/bin $job/src
ln -s /srv/rust/bin/* /home/runner/.cargo/bin
cp /tmp/double.rs $job/src/lib.rs
printf '[package]\nname = "double"\nversion = "0.1.0"\nedition = "2021"\n' >$job/Cargo.toml
tarball=$(echo /srv/packages/qprof-bpf-*.tar.gz)
sha256=$(sha256sum "$tarball")
chown -R runner:runner /home/runner

for name in "Get qprof-bpf" "Install qprof-bpf" Record Report; do
	commands=$(step "$name")
	[ -n "$commands" ] || fail "docs/ci.md has no step $name"
	echo "$name:"
	echo "$commands"
	setpriv --reuid=runner --regid=runner --init-groups env HOME=/home/runner RUNNER_TEMP=/home/runner \
		USER=runner PATH=/home/runner/.cargo/bin:/usr/local/bin:/usr/bin:/bin \
		URL="file://$tarball" SHA256="${sha256%% *}" GITHUB_STEP_SUMMARY=$job/summary sh -ec "cd $job; $commands" || fail "the step $name failed"
done
cat $job/report.md
grep -q double $job/report.md || fail "no report"
cmp $job/report.md $job/summary
[ "$(stat -c %U $job/build.qpt)" = runner ] || fail "the trace is not the user's"
[ "$(stat -c %U $job/target/debug/libdouble.rlib)" = runner ] || fail "what was built is not the user's"
