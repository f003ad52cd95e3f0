#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Inside a small Debian: what docs/ci.md lets a CI machine run: its first jobs by a user who may not use
# sudo, the rest by one who may.
set -eu

. /srv/tests/works.sh

# The commands of the step with this name.
step() {
	awk -v name="- name: $1" '
		index($0, "- name: ") { on = substr($0, index($0, "- ")) == name; run = 0 }
		/^ *- uses:/ || /^```/ { on = 0 }
		on && run && /^          / { print substr($0, 11) }
		on && /^ *run: [|]/ { run = 1 }' /srv/docs/ci.md
}

# The commands of such a part of GitLab's job.
part() {
	awk -v part="  $1:" '/^  [a-z]/ || /^```/ { on = $0 == part } on && sub(/^    - /, "") { print }' /srv/docs/ci.md
}

tools="sudo curl git"
# shellcheck disable=SC2086 # a list of words
apt-get -q -y --no-install-recommends install $tools || {
	apt-get -q update
	apt-get -q -y --no-install-recommends install $tools
}
useradd --create-home runner
job=/home/runner/job
mkdir -p /home/runner/.cargo/bin $job/src
ln -s /srv/rust/bin/* /home/runner/.cargo/bin
printf '[package]\nname = "double"\nversion = "0.1.0"\nedition = "2021"\n' >$job/Cargo.toml
echo target >$job/.gitignore
tarball=$(echo /srv/packages/qprof-bpf-*.tar.gz)
sha256=$(sha256sum "$tarball")

functions some 200 >$job/src/lib.rs
chown -R runner:runner /home/runner

as_runner() {
	setpriv --reuid=runner --regid=runner --init-groups env HOME=/home/runner RUNNER_TEMP=/home/runner \
		USER=runner PATH=/home/runner/.cargo/bin:/usr/local/bin:/usr/bin:/bin \
		URL="file://$tarball" SHA256="${sha256%% *}" GITHUB_STEP_SUMMARY=$job/summary \
		QPROF_BPF_URL="file://$tarball" QPROF_BPF_SHA256="${sha256%% *}" \
		GITHUB_JOB=record GITHUB_SHA="${sha:-}" GITHUB_REF_NAME="${ref:-}" GITHUB_HEAD_REF="${head:-}" \
		STORE=/home/runner/history.db sh -ec "cd $job; $1"
}

run() {
	[ -n "$2" ] || fail "docs/ci.md has no $1"
	echo "$1:"
	echo "$2"
	as_runner "$2" || fail "$1 failed"
}

# Run these steps of the page.
take() {
	for name in "$@"; do
		run "step $name" "$(step "$name")"
	done
}

# A report, a page and a trace are there, and the user's; the build begins anew.
kept() {
	cat $job/report.md
	grep -q double $job/report.md || fail "no report"
	for file in "$1"/qprof-bpf/job-*/build-*.qpt "$1"/qprof-bpf/job-*/build-*.html \
		$job/target/debug/libdouble.rlib; do
		[ "$(stat -c %U "$file")" = runner ] || fail "$file is not the user's"
	done
	rm -rf $job/target $job/report.md "$1"/qprof-bpf
}

# A commit, checked out as actions/checkout does: without a branch.
commit() {
	as_runner "git add . && git -c user.name=a -c user.email=a@example.com commit -qm '$1' && git checkout -q --detach"
	sha=$(as_runner "git rev-parse HEAD")
}

state=/home/runner/.local/state
! as_runner "sudo true" || fail "the user may use sudo"
take "Get qprof-bpf" Record Report
cmp $job/report.md $job/summary
grep -q "by looks from outside" $job/report.md || fail "recorded with privileges"
kept $state

rm /home/runner/.cargo/bin/*qprof*
run "before_script" "$(part before_script)"
run "script" "$(part script)"
run "after_script" "$(part after_script)"
kept $state

# ---- With root -----------------------------------------------------------------------------------

recorded
echo 'runner ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/runner
take "Record with root" Report
! grep "from outside" $job/report.md || fail "recorded without privileges"
kept $state

# ---- The gate ------------------------------------------------------------------------------------

as_runner "git init -q -b main"
ref=main
for build in 1 2 3 4 5 6; do
	commit "build $build of main" || fail "git failed"
	take "Record and keep"
	as_runner "rm -r target build.qpt && date +%N >build && git add build"
done
ref=1/merge head=change
functions more 40 >>$job/src/lib.rs
commit "a change"
take "Record and keep"
as_runner 'qprof-bpf history list --store "$STORE"'
status=0
as_runner "$(step Check)" || status=$?
cat $job/check.md
[ $status = 1 ] || fail "the gate let a build of 40 more functions pass: $status"
[ -s $job/check.md ] || fail "the gate printed nothing"
[ "$(stat -c %U /home/runner/history.db)" = runner ] || fail "the history is not the user's"
