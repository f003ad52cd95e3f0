// SPDX-License-Identifier: Apache-2.0 OR MIT
// Flame graphs of stacks merged by query: of the time on the CPU, or with the time off it. By total: a callee lies below its caller and is as
// wide as its time, for each compiler or for all as if they were one. By self: each query is as wide as
// its self time, and its callers lie below it. By item: modules, items in them, and the queries of each item,
// as wide as their self time. The widest are on the left.

const FLAME_ROW = 19;
const LEAST_PX = 0.4;
// Limit the rows, because browsers limit the height of a canvas. Zooming shows deeper rows.
const MOST_ROWS = 400, MOST_CALLERS = 40;
const CALLERS_BY_SELF = 64; // of callers of callers there would be as many as the square of the depth

// The stacks as a tree to be drawn: nodes in columns, the children of each in `children`.
class FlameTree {
	constructor() {
		this.format = formatDuration;
		this.counted = "execution";
		this.names = [];
		this.paths = []; // of nodes that are modules or items
		this.parent = [];
		this.children = [];
		this.total = [];
		this.self = [];
		this.count = [];
	}

	add(name, parent, total, self, count) {
		const i = this.names.length;
		this.names.push(name);
		this.parent.push(parent);
		this.children.push([]);
		this.total.push(total);
		this.self.push(self);
		this.count.push(count);
		if (parent >= 0)
			this.children[parent].push(i);
		return i;
	}

	// The child of a node that has a name by number, which is made if there is none.
	child(found, parent, frame, names) {
		const key = parent * names.length + frame;
		let node = found.get(key);
		if (node === undefined)
			found.set(key, node = this.add(names[frame], parent, 0, 0, 0));
		return node;
	}

	// The largest come first, and `last` behind all others.
	sorted(last = -1) {
		for (const children of this.children)
			children.sort((a, b) => (a === last) - (b === last) || this.total[b] - this.total[a]);
		return this;
	}

	// The whole name.
	title(i) {
		return this.paths[i] || this.names[i];
	}

	// How many rows of it have a node of at least so much time, from node i on.
	height(i, least) {
		let most = 0;
		for (let todo = [[i, 1]]; todo.length;) {
			const [node, depth] = todo.pop();
			most = Math.max(most, depth);
			for (const child of this.children[node])
				if (this.total[child] >= least)
					todo.push([child, depth + 1]);
		}
		return most;
	}
}

function treeByTotal({flame, about}) {
	const tree = new FlameTree(), at = new Int32Array(flame.n);
	const all = flame.total.reduce((sum, total, i) => sum + (flame.depth[i] ? 0 : total), 0);
	tree.add("all compilers", -1, all, 0, 0);
	for (let i = 0; i < flame.n; i++) {
		const name = flame.depth[i] ? about.frames[flame.frame[i]] : about.processes[flame.frame[i]].title;
		const parent = flame.depth[i] ? at[flame.parent[i]] : 0;
		at[i] = tree.add(name, parent, flame.total[i], flame.self[i], flame.count[i]);
	}
	return tree.sorted();
}

function treeOfAll({flame, about}) {
	return mergedTree(flame, about.frames);
}

// Stacks of the processes as if they were one; those of their frames that are wanted.
function mergedTree(flame, frames, wanted = () => true) {
	const tree = new FlameTree(), found = new Map(), at = new Int32Array(flame.n);
	tree.add("all compilers", -1, 0, 0, 0);
	for (let i = 0; i < flame.n; i++) {
		const up = flame.depth[i] ? at[flame.parent[i]] : 0;
		const has = flame.depth[i] && wanted(frames[flame.frame[i]]);
		at[i] = has ? tree.child(found, up, flame.frame[i], frames) : up;
		if (has || !flame.depth[i])
			tree.total[at[i]] += flame.total[i];
		tree.self[at[i]] += flame.self[i];
		tree.count[at[i]] += flame.depth[i] ? flame.count[i] : 0;
	}
	return tree.sorted();
}

// Merge the callers of a query: add the self time of each node to its ancestors.
function treeBySelf({flame, about}) {
	const tree = new FlameTree(), found = new Map();
	// A phase and a query may share a name.
	const firstOf = new Map();
	const first = about.frames.map((name, i) => firstOf.get(name) ?? (firstOf.set(name, i), i));
	tree.add("all compilers", -1, 0, 0, 0);
	for (let i = 0; i < flame.n; i++) {
		const self = flame.self[i];
		if (!flame.depth[i] || !self && !flame.count[i])
			continue;
		tree.total[0] += self;
		let node = 0;
		for (let up = i, n = 0; flame.depth[up] && n <= CALLERS_BY_SELF; up = flame.parent[up], n++) {
			node = tree.child(found, node, first[flame.frame[up]], about.frames);
			tree.total[node] += self;
			tree.count[node] += flame.count[i];
			if (up === i)
				tree.self[node] += self;
		}
	}
	return tree.sorted();
}

// Of "a::<b::C>::d": "a", "a::<b::C>", "a::<b::C>::d". Other tools' paths have types in them.
function modulesOf(path) {
	const ends = [];
	for (let i = 0, depth = 0; i < path.length; i++) {
		depth += path[i] === "<" ? 1 : path[i] === ">" ? -1 : 0;
		if (depth <= 0 && path[i] === ":" && path[i + 1] === ":" && i++)
			ends.push(i - 1);
	}
	return [...ends, path.length].map((end) => path.slice(0, end));
}

// Items within their crates, modules and impls; on each lie the queries about it. The sums are those of
// the table of items: what an item is charged with.
function treeByItem({report, hasWaits}) {
	const tree = new FlameTree(), at = new Map();
	let rest = -1;
	tree.add("all items", -1, 0, 0, 0);
	for (const row of report.items || []) {
		let node = 0, before = "";
		for (const path of row.name === null ? [] : modulesOf(row.name)) {
			if (!at.has(path))
				at.set(path, tree.add(before ? path.slice(before.length + 2) : path, node, 0, 0, 0));
			node = at.get(path);
			tree.paths[node] = before = path;
		}
		if (row.name === null)
			node = rest = tree.add("(no item)", 0, 0, 0, 0);
		addItem(tree, node, row, hasWaits ? (of) => of.self_ns : cpuSelfOf);
	}
	return tree.sorted(rest);
}

// The report has the most expensive queries of an item, and its sum.
function addItem(tree, item, row, value) {
	const all = value(row);
	let rest = all;
	tree.self[item] = all;
	tree.count[item] = row.executions;
	for (const part of row.queries) {
		tree.add(part.name, item, value(part), value(part), 0);
		rest -= value(part);
	}
	if (rest > 0)
		tree.add("other queries", item, rest, rest, 0);
	for (let up = item; up >= 0; up = tree.parent[up])
		tree.total[up] += all;
}

// Sampled stacks: functions, with the queries between them.
const STACK_TEXTS = {cpu: "functions: time on the CPU", off_cpu: "functions: waiting", faults: "functions: memory touched"};

function treeOfStacks({frames, flame, cause}) {
	const tree = mergedTree(flame, frames);
	tree.format = cause === "faults" ? formatBytes : formatDuration;
	tree.counted = "sample";
	return tree;
}

// Of these, only the queries and passes.
function treeOfSampledQueries({frames, flame}) {
	const tree = mergedTree(flame, frames, (name) => /^\[[^ ]+\]$/.test(name));
	tree.counted = "sample";
	tree.names = tree.names.map((name) => name.replace(/^\[|\]$/g, ""));
	return tree;
}

const FLAME_MODES = [
	["total time, from callers to callees", treeByTotal],
	["self time, of each query with its callers", treeBySelf],
	["total time, all compilers as one", treeOfAll],
];
const BY_ITEM = FLAME_MODES.length;
FLAME_MODES.push(["self time", treeByItem]);

class FlameView {
	constructor(root, model, app) {
		Object.assign(this, {model, app});
		this.canvas = element("canvas", {class: "flame", tabindex: 0, role: "application",
			"aria-label": "Flame graph. Arrows go to callers, callees and neighbours, Enter zooms, Escape goes " +
				"back. The largest frames are listed below."});
		this.surface = new Surface(this.canvas, (...args) => this.draw(...args));
		this.details = element("div", {class: "details"}, "Click a frame to zoom.");
		this.list = element("div");
		this.trees = [];
		this.waits = false; // with the time off the CPU
		root.append(this.tools(), this.canvas, this.details, this.list);
		this.wanted = null;
		this.listen();
	}

	tools() {
		this.input = element("input", {type: "search", placeholder: "regular expression",
			oninput: () => this.search(this.input.value)});
		this.found = element("span", {class: "counts", role: "status"});
		// As one, when there is but one, it is the first.
		const modes = FLAME_MODES.slice(0, this.model.processes.length > 1 ? BY_ITEM : 2);
		const first = BY_ITEM + 1; // number of the first mode of samples
		this.samples = this.model.stacks.map((stacks) => [STACK_TEXTS[stacks.cause], () => treeOfStacks(stacks)]);
		const cpu = this.model.stacks.find(({cause}) => cause === "cpu");
		if (this.model.samplesQueries && cpu)
			this.samples.unshift(["queries: time on the CPU, by samples", () => treeOfSampledQueries(cpu)]);
		const texts = [...modes, ...this.samples].map(([text]) => text);
		this.first = this.model.samplesQueries && this.samples.length ? modes.length : 0;
		const mode = select(texts, this.first, (value) => this.setMode(this.modeOf(value)));
		this.modeOf = (value) => value < modes.length ? value : first + value - modes.length;
		this.width = labelled("Width is", mode);
		const waits = element("input", {type: "checkbox", onchange: () => this.setWaits(waits.checked)});
		this.switch = labelled("With time off the CPU", waits);
		const by = element("fieldset", {class: "choices"}, element("legend", {class: "hidden"}, "Frames are"),
			this.choice("By query", true, () => this.setMode(this.modeOf(Number(mode.value)))),
			this.choice("By item", false, () => this.setMode(BY_ITEM)));
		by.hidden = !(this.model.report.items || []).some((row) => row.name !== null);
		return element("div", {class: "tools"}, by, this.width, this.switch, labelled("Search", this.input),
			this.found, element("span", {class: "spring"}), button("Show all", () => this.zoomTo(0)));
	}

	choice(text, checked, onchange) {
		const input = element("input", {type: "radio", name: "flame", checked, onchange});
		return element("label", {}, input, element("span", {}, text));
	}

	show() {
		if (!this.tree)
			this.setMode(this.modeOf(this.first));
		else
			this.surface.redraw();
	}

	setWaits(waits) {
		this.waits = waits;
		this.trees = [];
		this.setMode(this.mode);
	}

	// The stacks that trees are made of, but for those of samples.
	get stacks() {
		const {about, report, flame} = this.model;
		return {about, report, flame: this.waits ? withWaits(flame) : flame, hasWaits: this.waits};
	}

	setMode(mode) {
		this.mode = mode;
		this.width.hidden = mode === BY_ITEM;
		this.switch.hidden = mode > BY_ITEM || !this.model.flame.off.some(Boolean);
		this.tree = this.trees[mode] = this.trees[mode] || (mode > BY_ITEM ? this.samples[mode - BY_ITEM - 1][1]() :
			FLAME_MODES[mode][1](this.stacks));
		this.search(this.input.value);
		this.zoomTo(0);
		this.listLargest();
	}

	zoomTo(i) {
		this.top = i;
		this.focus = i;
		this.path = [];
		for (let up = i; up >= 0 && this.path.length <= MOST_CALLERS; up = this.tree.parent[up])
			this.path.unshift(up);
		const least = this.tree.total[i] * LEAST_PX / Math.max(this.surface.width, 1);
		const rows = Math.min(this.path.length - 1 + this.tree.height(i, least), MOST_ROWS);
		this.canvas.style.height = Math.max(120, rows * FLAME_ROW + 4) + "px";
		this.tell(i);
		this.surface.redraw();
	}

	// ---- Search ---------------------------------------------------------------------------------

	search(text) {
		this.wanted = null;
		this.found.textContent = "";
		if (text) {
			try {
				this.wanted = new RegExp(text, "i");
			} catch {
				this.found.textContent = "not a regular expression";
			}
		}
		if (this.wanted)
			this.sumFound();
		this.surface.redraw();
	}

	// Time in a match counts once, however many matches it is in.
	sumFound() {
		const {tree} = this;
		let n = 0, ns = 0;
		for (let todo = [[0, false]]; todo.length;) {
			const [i, within] = todo.pop(), is = i > 0 && this.wanted.test(tree.title(i));
			n += is;
			ns += is && !within ? tree.total[i] : 0;
			for (const child of tree.children[i])
				todo.push([child, within || is]);
		}
		this.found.textContent = `${plural(n, "frame")}, ${tree.format(ns)}, ${formatPercent(ns, tree.total[0])}`;
	}

	// ---- Drawing --------------------------------------------------------------------------------

	draw(context, width) {
		if (!this.tree)
			return;
		this.boxes = [];
		this.dark = isDark();
		this.ink = {label: cssColour("--on-fill"), accent: cssColour("--accent"), found: cssColour("--found"),
			neutral: cssColour("--off")};
		context.font = CANVAS_FONT;
		context.textBaseline = "middle";
		this.path.slice(0, -1).forEach((i, depth) => this.drawBox(context, i, 0, depth, width, 0.5));
		this.drawTree(context, this.top, 0, this.path.length - 1, width);
	}

	drawTree(context, top, x, depth, width) {
		const {tree} = this, scale = tree.total[top] ? width / tree.total[top] : 0;
		for (let todo = [[top, x, depth]]; todo.length;) {
			const [i, left, row] = todo.pop();
			this.drawBox(context, i, left, row, scale ? tree.total[i] * scale : width, 1);
			let at = left;
			for (const child of tree.children[i]) {
				const wide = tree.total[child] * scale;
				if (wide >= LEAST_PX && row + 1 < MOST_ROWS)
					todo.push([child, at, row + 1]);
				at += wide;
			}
		}
	}

	drawBox(context, i, x, depth, width, alpha) {
		const y = depth * FLAME_ROW, name = this.tree.names[i];
		const is = this.wanted && this.wanted.test(this.tree.title(i));
		this.boxes.push({i, x, y, width});
		context.globalAlpha = this.wanted && !is ? 0.35 * alpha : alpha;
		const isQuery = i > 0 && (this.mode > 0 || this.tree.parent[i] > 0) && name !== "(no item)";
		context.fillStyle = is ? this.ink.found : isQuery ? colourOf(name, this.dark) : this.ink.neutral;
		context.fillRect(x, y, Math.max(width - 0.7, 0.3), FLAME_ROW - 1);
		const text = width > 26 ? fitText(name, width) : "";
		context.fillStyle = this.ink.label;
		if (text)
			context.fillText(text, x + 4, y + FLAME_ROW / 2);
		context.globalAlpha = 1;
		if (i === this.focus && document.activeElement === this.canvas) {
			context.strokeStyle = this.ink.accent;
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), FLAME_ROW - 3);
		}
	}

	// ---- Pointer and keys -----------------------------------------------------------------------

	listen() {
		const {canvas} = this;
		canvas.addEventListener("click", (event) => {
			const i = this.boxAt(event);
			if (i >= 0)
				this.zoomTo(i);
		});
		canvas.addEventListener("pointermove", (event) => {
			const i = this.boxAt(event);
			showTip(i < 0 ? null : this.describe(i), event);
		});
		canvas.addEventListener("pointerleave", () => showTip(null));
		canvas.addEventListener("keydown", (event) => this.key(event));
		for (const type of ["focus", "blur"])
			canvas.addEventListener(type, () => this.surface.redraw());
	}

	boxAt({offsetX: x, offsetY: y}) {
		const box = (this.boxes || []).find((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + FLAME_ROW);
		return box ? box.i : -1;
	}

	key(event) {
		const {tree, focus} = this, siblings = focus ? tree.children[tree.parent[focus]] : [0];
		const widest = tree.children[focus].reduce((best, c) => best < 0 || tree.total[c] > tree.total[best] ? c : best, -1);
		const actions = {
			ArrowDown: () => widest, ArrowUp: () => tree.parent[focus],
			ArrowLeft: () => siblings[siblings.indexOf(focus) - 1], ArrowRight: () => siblings[siblings.indexOf(focus) + 1],
		};
		if (event.key === "Enter")
			this.zoomTo(focus);
		else if (event.key === "Escape")
			this.zoomTo(0);
		else if (actions[event.key])
			this.go(actions[event.key]());
		else
			return;
		event.preventDefault();
	}

	go(i) {
		if (i === undefined || i < 0)
			return;
		this.focus = i;
		this.tell(i);
		say(this.describe(i));
		this.surface.redraw();
	}

	// ---- Details of frames ----------------------------------------------------------------------

	describe(i) {
		const {tree} = this, count = tree.count[i] ? `, ${plural(tree.count[i], tree.counted)}` : "";
		return `${shorten(tree.title(i))}: ${tree.format(tree.total[i])}, ${formatPercent(tree.total[i], tree.total[0])}, ` +
			`self ${tree.format(tree.self[i])}${count}`;
	}

	tell(i) {
		const path = this.tree.paths[i], place = path && this.model.place(path);
		this.details.replaceChildren(element("span", {}, this.describe(i)));
		if (place)
			this.details.append(placeLink(place));
		if (path && this.model.longestOfItems.has(path))
			this.details.append(button("Show in the timeline", () => this.app.showItem(path, "timeline")));
	}

	// For readers who cannot see the canvas. The sums by query are those of the tables.
	listLargest() {
		const {tree} = this;
		const rows = tree.names.map((_, i) => i).slice(1).sort((a, b) => tree.total[b] - tree.total[a]).slice(0, 300);
		this.list.replaceChildren(new DataTable({
			caption: "Largest frames", rows, sort: 1, perPage: 15,
			columns: [
				nameColumn("Frame", (i) => tree.title(i)),
				{...timeColumn("Total", (i) => tree.total[i]), text: (i) => tree.format(tree.total[i])},
				shareColumn("Total %", (i) => tree.total[i], tree.total[0]),
				{...timeColumn("Self", (i) => tree.self[i]), text: (i) => tree.format(tree.self[i])},
				countColumn(tree.counted === "sample" ? "Samples" : "Executions", (i) => tree.count[i]),
				nameColumn("Below", (i) => tree.title(tree.parent[i])),
			],
			actions: [{title: "Zoom", does: (i) => this.zoomTo(i)}],
		}).root);
	}
}
