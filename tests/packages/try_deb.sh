#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# Inside a small Debian: installs the package, tries it, gives the capabilities to the group, installs
# it once more, removes and purges it.
set -eu

. /srv/tests/works.sh
package=$(echo "$1"/qprof-bpf_*.deb)
install="apt-get -q -y --no-install-recommends install"

# The mirror may have newer packages than the lists.
$install "$package" || {
	apt-get -q update
	$install "$package"
}
works
works_without_curl
documented /usr
[ -z "$(dpkg --verify qprof-bpf)" ] || fail "installed files differ from the package's"
[ "$(stat -c '%U %a' /var/cache/qprof-bpf)" = "root 755" ] || fail "/var/cache/qprof-bpf is not root's"
for file in bin/qprof-bpf share/bash-completion/completions/qprof-bpf \
	share/zsh/vendor-completions/_qprof-bpf share/fish/vendor_completions.d/qprof-bpf.fish \
	bin/cargo-qprof share/bash-completion/completions/cargo-qprof \
	share/zsh/vendor-completions/_cargo-qprof share/fish/vendor_conf.d/cargo-qprof.fish \
	lib/systemd/system/qprof-bpf.service share/doc/qprof-bpf/qprof-bpf.spdx.json; do
	[ -s "/usr/$file" ] || fail "no /usr/$file"
done
[ -z "$(find /etc/systemd -name 'qprof-bpf*')" ] || fail "the service is enabled"

# ---- The group, as README.Debian has it ----------------------------------------------------------

for name in alice bob; do
	useradd --create-home "$name"
done
adduser --quiet alice qprof
as() {
	setpriv --reuid="$1" --regid="$1" --init-groups env HOME=/home/"$1" sh -c ". /srv/tests/works.sh; $2"
}
may_record() {
	getcap /usr/bin/qprof-bpf | grep -q 'cap_perfmon,cap_bpf[=+]ep'
}

dpkg-statoverride --update --add root qprof 0750 /usr/bin/qprof-bpf
dpkg-reconfigure qprof-bpf 2>&1 | grep "install libcap2-bin" || fail "no word of setcap"
$install libcap2-bin
dpkg-reconfigure qprof-bpf
may_record || fail "the program has no capabilities"
$install --reinstall "$package"
may_record || fail "the program lost its capabilities"
! can_record || as alice records || fail "a member of the group cannot record"
! as bob "qprof-bpf --version" || fail "others can run the program"

# ---- Removal -------------------------------------------------------------------------------------

# dpkg removes directories that are empty.
touch /var/cache/qprof-bpf/kept
mkdir -p /var/lib/qprof-bpf
touch /var/lib/qprof-bpf/kept
apt-get -q -y remove qprof-bpf
[ ! -e /usr/bin/qprof-bpf ] || fail "the program is still there"
[ -e /var/cache/qprof-bpf/kept ] || fail "removal took the plans"
[ -e /var/lib/qprof-bpf/kept ] || fail "removal took the traces of the service"
deluser --quiet alice qprof
apt-get -q -y purge qprof-bpf
left=$(find / -xdev -name '*qprof*' ! -path '/var/cache/apt/*' ! -path '/home/*')
[ -z "$left" ] || fail "purging left $left"
! getent group qprof || fail "purging left the group"
! dpkg-statoverride --list /usr/bin/qprof-bpf || fail "purging left the override"
dpkg --audit
recorded
