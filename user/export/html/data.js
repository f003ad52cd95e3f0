// SPDX-License-Identifier: Apache-2.0 OR MIT
// The blocks as columns. export/html_spans.h and export/html.c say what is in them.

const NO_KEY = 0xffffffff;

class Spans {
	constructor(n) {
		this.n = n;
		this.start = new Float64Array(n); // ns since the capture began
		this.end = new Float64Array(n);
		this.thread = new Uint32Array(n);
		this.what = new Uint32Array(n);
		this.depth = new Uint16Array(n);
		this.flags = new Uint8Array(n);
		this.key = new Uint32Array(n);
	}
}

// Reads batches one after another. It keeps the values that differences in the next batch refer to.
class SpanReader {
	constructor(bytes, n) {
		this.numbers = new Numbers(bytes);
		this.spans = new Spans(n);
		this.read = 0;
		this.lastEnd = 0;
		this.lastDepth = 0;
		this.lastKey = 0;
	}

	all() {
		for (let n; (n = this.numbers.next()) > 0;)
			this.batch(n);
		return this.spans;
	}

	batch(n) {
		const numbers = this.numbers, spans = this.spans, from = this.read;
		const runs = this.runs(numbers.next());
		this.depths(from, n);
		numbers.fill(spans.what.subarray(from, from + n), n);
		spans.flags.set(numbers.slice(n), from);
		this.keys(from, n);
		const a = this.times(n), b = this.times(n);
		let at = 0;
		for (const run of runs) {
			this.run(run, from, at, a, b);
			at += run.n;
		}
		this.read += n;
	}

	runs(n) {
		const runs = [];
		for (let i = 0; i < n; i++)
			runs.push({thread: this.numbers.next(), n: this.numbers.next(), gap: this.numbers.signed()});
		return runs;
	}

	depths(from, n) {
		for (let i = from; i < from + n; i++)
			this.spans.depth[i] = this.lastDepth += this.numbers.signed();
	}

	keys(from, n) {
		for (let i = from; i < from + n; i++) {
			const v = this.numbers.next();
			this.spans.key[i] = v ? this.lastKey += 1 + unzigzag(v - 1) : NO_KEY;
		}
	}

	times(n) {
		const low = this.numbers.slice(n), to = new Float64Array(n);
		for (let i = 0; i < n; i++)
			to[i] = unzigzag(low[i] + 256 * this.numbers.next());
		return to;
	}

	// The spans of one thread that come together. Open are those that a later one may enclose.
	run(run, from, at, a, b) {
		const spans = this.spans, depths = [], starts = [];
		this.lastEnd += run.gap;
		for (let k = at; k < at + run.n; k++) {
			const i = from + k, depth = spans.depth[i];
			let first = null;
			while (depths.length && depths[depths.length - 1] > depth) {
				depths.pop();
				first = starts.pop();
			}
			const start = first === null ? this.lastEnd + a[k] : first - a[k];
			const end = first === null ? start + b[k] : this.lastEnd + b[k];
			if (!depths.length || depths[depths.length - 1] !== depth) {
				depths.push(depth);
				starts.push(start);
			}
			spans.start[i] = start;
			spans.end[i] = this.lastEnd = end;
			spans.thread[i] = run.thread;
		}
	}
}

// Merged stacks, callers first, on the CPU. Depth 0 is a process; `total` is computed here.
function readFlame(bytes) {
	const numbers = new Numbers(bytes), n = numbers.next();
	const flame = {
		n,
		depth: new Uint32Array(n),
		parent: new Int32Array(n),
		frame: null, count: null, self: null, off: null,
		total: null,
	};
	const open = [];
	let depth = 0;
	for (let i = 0; i < n; i++) {
		flame.depth[i] = depth += numbers.signed();
		flame.parent[i] = depth ? open[depth - 1] : -1;
		open[depth] = i;
	}
	flame.frame = numbers.fill(new Uint32Array(n), n);
	flame.count = numbers.fill(new Float64Array(n), n);
	flame.self = numbers.fill(new Float64Array(n), n);
	flame.off = new Float64Array(n);
	for (let i = 0; i < n; i++)
		flame.off[i] = numbers.signed();
	return withTotals(flame);
}

function withTotals(flame) {
	const {n, parent, self} = flame, total = flame.total = new Float64Array(n);
	for (let i = n - 1; i >= 0; i--) {
		total[i] += self[i];
		if (parent[i] >= 0)
			total[parent[i]] += total[i];
	}
	return flame;
}

// The same stacks with the time off the CPU.
function withWaits(flame) {
	return withTotals({...flame, self: flame.self.map((ns, i) => ns + flame.off[i])});
}

// The data of the summary, which are small next to the intervals.
async function readSums() {
	return {about: await readDocument("about"), report: await readDocument("report")};
}

async function readIntervals(about) {
	const spans = new SpanReader(await readBlock("spans"), about.spans).all();
	const flame = readFlame(await readBlock("flame"));
	const stacks = [];
	for (const {cause, frames} of about.stacks)
		stacks.push({cause, frames, flame: readFlame(await readBlock("stacks-" + cause))});
	return {spans, flame, stacks};
}
