// SPDX-License-Identifier: Apache-2.0 OR MIT
// Questions of the views: which interval encloses which, and which lie in a range of the time axis. It is made
// of what the summary needs; intervals come later.

const KIND = {
	QUERY: "Query", PASS: "GenericActivity", HIT: "QueryCacheHit", BLOCKED: "QueryBlocked",
	OFF: "OffCpu", LOAD: "IncrementalLoadResult", HASHING: "IncrementalResultHashing",
};

// Kinds of rustc's profiler, in words.
const KIND_TEXTS = new Map([[KIND.QUERY, "query"], [KIND.PASS, "pass"], [KIND.HIT, "answered from memory"],
	[KIND.BLOCKED, "waits for another thread’s execution"], [KIND.OFF, "off the CPU"],
	[KIND.LOAD, "loads a result of the last build"], [KIND.HASHING, "hashes a result"]]);
const OFF_TEXTS = new Map([["<preempted>", "ready but waiting for a CPU"], ["<waiting>", "waiting"],
	["<uninterruptible>", "waiting for a page of memory or a disk"]]);

// Which items belong to which of `n` groups, in their order: those of group g are
// items[offsets[g]] to items[offsets[g + 1] - 1]. Items of group -1 belong to none.
function groupItems(groupOf, n) {
	const offsets = new Uint32Array(n + 1);
	for (let i = 0; i < groupOf.length; i++)
		if (groupOf[i] >= 0)
			offsets[groupOf[i] + 1]++;
	for (let g = 0; g < n; g++)
		offsets[g + 1] += offsets[g];
	const items = new Uint32Array(offsets[n]), next = offsets.slice();
	for (let i = 0; i < groupOf.length; i++)
		if (groupOf[i] >= 0)
			items[next[groupOf[i]]++] = i;
	return {offsets, items};
}

class Model {
	constructor({about, report}) {
		Object.assign(this, {about, report});
		this.kinds = about.kinds;
		this.names = about.names;
		// Queries without a key have "()"; of activities these are arguments, with a separator between them.
		this.paths = about.keys.map((key) => key === "()" ? "" : key.replace(/\u001e/g, ", "));
		this.threads = about.threads.map((t, index) => ({...t, index, depth: 0, firstLane: 0}));
		this.processes = about.processes.map((p, index) => ({
			...report.processes[index], ...p, title: shorten(p.title), index, threads: [], start: Infinity, end: -Infinity,
		}));
		this.readPlaces();
		for (const thread of this.threads)
			this.processes[thread.process].threads.push(thread);
		for (const {process, at, bytes} of about.memory)
			this.processes[process].memory = {at, bytes};
		this.classify();
	}

	// With the other blocks of the page, everything below is known.
	complete({spans, flame, stacks}) {
		Object.assign(this, {spans, flame, stacks});
		this.findParents();
		this.makeLanes();
		this.findExtremes();
	}

	// No query had a probe: only samples and the compilers' tables know of them.
	get samplesQueries() {
		const {queries, samples} = this.report;
		return Boolean(samples) && !queries.some((row) => row.kind === KIND.QUERY && hasIntervals(row));
	}

	get isComplete() {
		return this.spans !== undefined;
	}

	// Where items are in the source, by their paths.
	readPlaces() {
		this.places = new Map();
		this.directories = new Map(); // of crates
		for (const row of this.report.items || [])
			if (row.file && row.name !== null)
				this.places.set(row.name, {file: row.file, line: row.line});
		for (const p of this.processes)
			if (p.crate && p.cwd && !this.directories.has(p.crate))
				this.directories.set(p.crate, p.cwd);
	}

	// {text: "src/lib.rs:12", url} of an item, or null. The url is null if its directory is unknown. It is of a
	// file of this machine: two slashes would begin the name of another one.
	place(path) {
		const place = this.places.get(path);
		if (!place)
			return null;
		const text = place.file + (place.line ? ":" + place.line : "");
		const directory = this.directories.get(path.split("::")[0]);
		const whole = place.file.startsWith("/") ? place.file : directory && directory + "/" + place.file;
		return {text, url: whole && whole.startsWith("/") ?
			"file:///" + whole.replace(/^[/\\]+/, "").split("/").map(encodeURIComponent).join("/") : null};
	}

	// By number of a name: whether spans of it are nodes of the trace of queries.
	classify() {
		const nodes = [KIND.QUERY, KIND.PASS, KIND.HIT];
		this.isNode = Uint8Array.from(this.kinds, (kind) => nodes.includes(kind));
		this.isOff = Uint8Array.from(this.kinds, (kind) => kind === KIND.OFF);
		this.isHit = Uint8Array.from(this.kinds, (kind) => kind === KIND.HIT);
	}

	// Spans come in the order of their ends: one takes those before it that are deeper.
	findParents() {
		const {spans, threads} = this, {n, depth, thread, what} = spans;
		const parent = new Int32Array(n).fill(-1), open = threads.map(() => []);
		this.extent = new Uint32Array(n);
		for (let i = 0; i < n; i++) {
			const waiting = open[thread[i]];
			while (waiting.length && depth[waiting[waiting.length - 1]] > depth[i]) {
				const child = waiting.pop();
				parent[child] = i;
				this.extent[i] += this.isNode[what[child]];
			}
			waiting.push(i);
		}
		this.parent = parent;
		this.children = groupItems(parent, n);
	}

	// A lane is one depth of one thread; what lies in it does not overlap, and is in order.
	makeLanes() {
		const {n, depth, thread, start, end} = this.spans;
		for (let i = 0; i < n; i++) {
			const t = this.threads[thread[i]], p = this.processes[t.process];
			t.depth = Math.max(t.depth, depth[i] + 1);
			p.start = Math.min(p.start, start[i]);
			p.end = Math.max(p.end, end[i]);
		}
		for (const p of this.processes.filter((p) => p.memory)) {
			p.start = Math.min(p.start, p.memory.at[0]);
			p.end = Math.max(p.end, p.memory.at[p.memory.at.length - 1]);
		}
		let lanes = 0;
		for (const t of this.threads) {
			t.firstLane = lanes;
			lanes += t.depth;
		}
		const laneOf = new Int32Array(n);
		for (let i = 0; i < n; i++)
			laneOf[i] = this.threads[thread[i]].firstLane + depth[i];
		this.lanes = groupItems(laneOf, lanes);
	}

	findExtremes() {
		const used = this.processes.filter((p) => p.end >= p.start);
		this.start = used.reduce((least, p) => Math.min(least, p.start), Infinity);
		this.end = used.reduce((most, p) => Math.max(most, p.end), -Infinity);
		if (!used.length)
			this.start = this.end = 0;
		// "Total" of the trace of queries: what threads spent in their outermost intervals.
		for (const p of this.processes)
			p.total = this.rootsOf(p).reduce((sum, i) => sum + this.duration(i), 0);
		this.total = this.processes.reduce((sum, p) => sum + p.total, 0);
	}

	// The longest execution about each item, by its path. Executions that the page has not are in none.
	get longestOfItems() {
		if (this.longestByPath)
			return this.longestByPath;
		const {spans, kinds} = this, best = new Int32Array(this.paths.length).fill(-1);
		for (let i = 0; i < spans.n; i++) {
			const key = spans.key[i];
			if (key !== NO_KEY && kinds[spans.what[i]] === KIND.QUERY &&
				(best[key] < 0 || this.duration(i) > this.duration(best[key])))
				best[key] = i;
		}
		this.longestByPath = new Map();
		best.forEach((i, key) => i >= 0 && this.longestByPath.set(this.paths[key], i));
		return this.longestByPath;
	}

	durationOfItem(path) {
		const i = this.longestOfItems.get(path);
		return i === undefined ? null : this.duration(i);
	}

	// The bytes that page faults had made resident in a process by a time; 0 before the first sample.
	touchedBy(process, time) {
		const {at, bytes} = process.memory, k = firstWhere(0, at.length, (m) => at[m] > time);
		return k ? bytes[k - 1] : 0;
	}

	duration(i) {
		return this.spans.end[i] - this.spans.start[i];
	}

	name(i) {
		return this.names[this.spans.what[i]];
	}

	kind(i) {
		return this.kinds[this.spans.what[i]];
	}

	kindText(i) {
		return KIND_TEXTS.get(this.kind(i)) || this.kind(i);
	}

	// Whether samples met it; else a probe saw it begin and end.
	isSampled(i) {
		return (this.spans.flags[i] & 8) !== 0;
	}

	// Its name, in words if it is no name of the compiler's.
	title(i) {
		return this.isOff[this.spans.what[i]] && OFF_TEXTS.get(this.name(i)) || this.name(i);
	}

	// The path of the item that it was about, or "".
	key(i) {
		const key = this.spans.key[i];
		return key === NO_KEY ? "" : this.paths[key];
	}

	// "typeck(regex_syntax::ast::parse)", with as much of the path as there is room for.
	label(i, room = Infinity) {
		return shortLabel(this.title(i), this.key(i), room);
	}

	process(i) {
		return this.processes[this.threads[this.spans.thread[i]].process];
	}

	threadTitle(t) {
		return (t.name || "thread") + " " + t.tid;
	}

	childrenOf(i) {
		const {offsets, items} = this.children;
		return items.subarray(offsets[i], offsets[i + 1]);
	}

	lane(number) {
		const {offsets, items} = this.lanes;
		return items.subarray(offsets[number], offsets[number + 1]);
	}

	// Without time off the CPU, which is nobody's child.
	selfTime(i) {
		let self = this.duration(i);
		for (const child of this.childrenOf(i))
			if (!this.isOff[this.spans.what[child]])
				self -= this.duration(child);
		return Math.max(self, 0);
	}

	// Root intervals, without off-CPU intervals. Children of lost parents count as roots.
	rootsOf(process) {
		return process.threads.flatMap((t) => this.rootsOfThread(t));
	}

	rootsOfThread(thread) {
		const roots = [];
		for (let d = 0; d < thread.depth; d++)
			for (const i of this.lane(thread.firstLane + d))
				if (this.parent[i] < 0 && !this.isOff[this.spans.what[i]])
					roots.push(i);
		return roots.sort((a, b) => this.spans.start[a] - this.spans.start[b]);
	}

	// Its ancestors from the outermost on, and itself.
	pathOf(i) {
		const path = [];
		for (; i >= 0; i = this.parent[i])
			path.unshift(i);
		return path;
	}

	// The `most` nodes with the greatest values, the greatest first.
	greatest(most, value, wanted) {
		const best = [];
		for (let i = 0; i < this.spans.n; i++) {
			const v = value(i);
			if (best.length === most && v <= best[most - 1].v || !wanted(i))
				continue;
			const at = firstWhere(0, best.length, (k) => best[k].v < v);
			best.splice(at, 0, {i, v});
			best.length = Math.min(best.length, most);
		}
		return best.map((entry) => entry.i);
	}
}
