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

tools="sudo curl git"
# shellcheck disable=SC2086 # a list of words
apt-get -q -y --no-install-recommends install $tools || {
	apt-get -q update
	apt-get -q -y --no-install-recommends install $tools
}
useradd --create-home runner
echo 'runner ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/runner
job=/home/runner/job
mkdir -p /home/runner/.cargo/bin $job/src
ln -s /srv/rust/bin/* /home/runner/.cargo/bin
cp /tmp/double.rs $job/src/lib.rs
printf '[package]\nname = "double"\nversion = "0.1.0"\nedition = "2021"\n' >$job/Cargo.toml
echo target >$job/.gitignore
tarball=$(echo /srv/packages/qprof-bpf-*.tar.gz)
sha256=$(sha256sum "$tarball")
chown -R runner:runner /home/runner

as_runner() {
	setpriv --reuid=runner --regid=runner --init-groups env HOME=/home/runner RUNNER_TEMP=/home/runner \
		USER=runner PATH=/home/runner/.cargo/bin:/usr/local/bin:/usr/bin:/bin \
		URL="file://$tarball" SHA256="${sha256%% *}" GITHUB_STEP_SUMMARY=$job/summary \
		GITHUB_JOB=record GITHUB_SHA="${sha:-}" GITHUB_REF_NAME="${ref:-}" GITHUB_HEAD_REF="${head:-}" \
		STORE=/home/runner/history.db sh -ec "cd $job; $1"
}

# Run these steps of the page.
take() {
	for name in "$@"; do
		commands=$(step "$name")
		[ -n "$commands" ] || fail "docs/ci.md has no step $name"
		echo "$name:"
		echo "$commands"
		as_runner "$commands" || fail "the step $name failed"
	done
}

# A commit, checked out as actions/checkout does: without a branch.
commit() {
	as_runner "git add . && git -c user.name=a -c user.email=a@example.com commit -qm '$1' && git checkout -q --detach"
	sha=$(as_runner "git rev-parse HEAD")
}

take "Get qprof-bpf" "Install qprof-bpf" Record Report
cat $job/report.md
grep -q double $job/report.md || fail "no report"
cmp $job/report.md $job/summary
[ "$(stat -c %U $job/build.qpt)" = runner ] || fail "the trace is not the user's"
[ "$(stat -c %U $job/target/debug/libdouble.rlib)" = runner ] || fail "what was built is not the user's"
rm -rf $job/target $job/*.qpt $job/report.md

take "Record by cargo"
grep -q double $job/report.md || fail "no report of cargo qprof"
[ "$(stat -c %U $job/target/debug/libdouble.rlib)" = runner ] || fail "what cargo qprof built is not the user's"
rm -rf $job/target $job/report.md

# ---- The gate ------------------------------------------------------------------------------------

as_runner "git init -q -b main"
ref=main
for build in 1 2 3 4 5 6; do
	commit "build $build of main" || fail "git failed"
	take "Record and keep"
	as_runner "rm -r target build.qpt && date +%N >build && git add build"
done
ref=1/merge head=change
i=0
while [ $i -lt 40 ]; do
	echo "pub fn more_$i(n: &[u32]) -> Vec<String> { n.iter().map(|n| format!(\"{n:?}\")).collect() }" >>$job/src/lib.rs
	i=$((i + 1))
done
commit "a change"
take "Record and keep"
qprof-bpf history list --store /home/runner/history.db
status=0
as_runner "$(step Check)" || status=$?
cat $job/check.md
[ $status = 1 ] || fail "the gate let a build of 40 more functions pass: $status"
[ -s $job/check.md ] || fail "the gate printed nothing"
[ "$(stat -c %U /home/runner/history.db)" = runner ] || fail "the history is not the user's"
