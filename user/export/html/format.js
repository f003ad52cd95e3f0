// SPDX-License-Identifier: Apache-2.0 OR MIT
// Numbers for people.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// Three digits after rounding: 999,999 ns are 1.00 ms.
function formatDuration(ns) {
	const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size * (size > 1 ? 0.9995 : 1)) || UNITS[3];
	const value = ns / size, digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
	return value.toFixed(size === 1 ? 0 : digits) + " " + unit;
}

const SIZES = [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"], [1, "B"]];

function formatBytes(bytes) {
	const [size, unit] = SIZES.find(([size]) => bytes >= size) || SIZES[3], value = bytes / size;
	return (size === 1 ? value : value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)) + " " + unit;
}

// The self time of a row on the CPU, where that is known. Estimates are of time on the CPU.
function cpuSelfOf(row) {
	const isEstimate = row.self_by !== "spans" && row.best_self_ns !== undefined;
	return isEstimate ? row.best_self_ns : row.self_cpu_ns ?? row.self_ns;
}

// An item's time in the front end and in LLVM.
function withLlvm(row) {
	return cpuSelfOf(row) + (row.llvm_ns || 0);
}

// Whether probes saw intervals of it.
function hasIntervals(row) {
	return row.self_by !== "samples";
}

// Whether views of intervals can show one: of probes, or by samples.
function isShown(row) {
	return hasIntervals(row) || Boolean(row.sampled_max_ns);
}

// Names have any length; space on a page is limited.
const LONGEST_TEXT = 400;

function shorten(text) {
	return text.length <= LONGEST_TEXT ? text : text.slice(0, LONGEST_TEXT) + "…";
}

// The end of a path says most: …::parse::Parser::bump.
function shortPath(path, room) {
	if (path.length <= room)
		return path;
	const segments = path.split("::");
	let text = segments.pop();
	while (segments.length && text.length + segments[segments.length - 1].length + 5 <= room)
		text = segments.pop() + "::" + text;
	return segments.length ? "…::" + text : text;
}

// The end of a file's path.
function shortFile(file, room) {
	const at = file.length <= room ? -1 : file.indexOf("/", file.length - room + 1);
	return at < 0 ? file : "…" + file.slice(at);
}

// A query and its item: "typeck(…::Parser::bump)", or the name alone where a path would have no room.
const LEAST_PATH = 8;

function shortLabel(name, path, room) {
	const forPath = room - name.length - 2;
	if (!path || forPath < Math.min(path.length, LEAST_PATH))
		return name;
	const text = shortPath(path, forPath);
	return `${name}(${text.length <= forPath ? text : text.slice(0, forPath - 1) + "…"})`;
}

function formatCount(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

function formatPercent(part, whole) {
	const percent = whole ? 100 * part / whole : 0;
	return percent.toFixed(percent >= 10 || percent === 0 ? 1 : percent >= 0.1 ? 2 : 3) + " %";
}

function plural(n, one, many) {
	return formatCount(n) + " " + (n === 1 ? one : many || one + "s");
}

// A tick every so many ns: 1, 2 or 5 times a power of ten, at least `least`.
function niceStep(least) {
	const power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1))));
	return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least) || 10 * power;
}

function formatDate(ms) {
	return new Date(ms).toISOString().slice(0, 19).replace("T", " ") + " UTC";
}
