#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
#
# The first process of a virtual machine that boot.py starts: the files of the host, read-only, with
# what must be written in memory; then the command that waits in the results directory; then off.
bb=/bin/busybox
$bb mkdir -p /proc /sys /dev /host
$bb mount -t proc proc /proc
$bb mount -t sysfs sys /sys
$bb mount -t devtmpfs dev /dev

while read -r module; do
	$bb insmod "/modules/$module"
done </modules/order

share() {
	$bb mount -t 9p -o "trans=virtio,version=9p2000.L,msize=524288,$3" "$1" "$2"
}

off() {
	$bb sync
	$bb poweroff -f
	$bb sleep 60
}

# Loose caching suits what does not change; results are written through.
share host /host ro,cache=loose || off
for dir in tmp run var/tmp; do
	$bb mount -t tmpfs -o mode=1777 tmpfs "/host/$dir"
done
$bb mkdir -p /host/tmp/results /host/tmp/home
share results /host/tmp/results rw || off
$bb mount --move /dev /host/dev
$bb mount --move /sys /host/sys
$bb mount -t proc proc /host/proc
$bb mkdir -p /host/dev/pts /host/dev/shm
$bb mount -t devpts devpts /host/dev/pts
$bb mount -t tmpfs shm /host/dev/shm
$bb mount -t debugfs debugfs /host/sys/kernel/debug
$bb mount -t securityfs securityfs /host/sys/kernel/security
$bb mount -t tracefs tracefs /host/sys/kernel/tracing
$bb mount -t bpf bpf /host/sys/fs/bpf
$bb mount -t cgroup2 cgroup2 /host/sys/fs/cgroup
$bb ip link set lo up 2>/dev/null
$bb hostname guest

$bb chroot /host /bin/sh /tmp/results/command >/host/tmp/results/log 2>&1
$bb echo $? >/host/tmp/results/status
off
