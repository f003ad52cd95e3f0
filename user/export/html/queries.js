// SPDX-License-Identifier: Apache-2.0 OR MIT
// The trace of queries, as rustc's -Z profile-queries drew it: boxes in boxes. Passes are green, executed
// queries (misses) red, results found in a cache (hits) blue dots. Important boxes have a label.
//
// A page cannot hold a million boxes, so the largest subtrees are opened first, until there are enough;
// every other box opens on a click. If a box has many children, the first and the important ones are
// shown; each run of others is one "+ 123", which opens on a click too.

const BOXES_AT_FIRST = 1500;
const LEVELS_AT_FIRST = 50; // boxes in boxes: what is deeper takes a browser long to lay out
const BOXES_AT_ONCE = 60; // children of one box, until more are asked for
const FIRST_BOXES = 30; // of them, those that come first; the others are important
const LEAST_HIDDEN = 3; // fewer in a row are shown
const LABEL_ROOM = 60; // characters of a name and a path
const CRUMBS = 12; // ancestors that are named
const EXTREMES = 20; // boxes in each of the lists of the deepest and widest
const FRACTIONS = [50, 40, 30, 20, 10];
// A map, because keys come from the trace and an object has members of its own.
const CLASS_OF_KIND = new Map([[KIND.QUERY, "miss"], [KIND.PASS, "pass"], [KIND.HIT, "hit"]]);

class QueriesView {
	constructor(root, model, app) {
		Object.assign(this, {model, app, root});
		this.leastExtent = 6;
		this.leastPercent = 1;
		this.top = null; // a node to show instead of a process
		this.via = new Set(); // what is to be shown, and open, whatever else is
		this.process = model.processes.reduce((best, p) => p.total > model.processes[best].total ? p.index : best, 0);
		this.tree = element("div", {role: "tree", class: "tree", "aria-label": "Trace of queries",
			onkeydown: (event) => this.key(event), onclick: (event) => this.click(event),
			onfocusin: (event) => this.focused(event), onmousemove: (event) => this.hover(event),
			onmouseleave: () => showTip(null)});
		this.crumbs = element("nav", {class: "crumbs", "aria-label": "Ancestors"});
		this.details = element("div", {class: "details"});
		this.lists = element("div", {class: "lists"});
		root.append(this.tools(), this.legend(), this.crumbs, this.tree, this.details, this.lists);
	}

	tools() {
		const {model} = this;
		this.compiler = select(model.processes.map((p) => p.title), this.process, (value) => {
			this.choose(value);
			this.draw();
		});
		this.find = new FindBar(model, {
			accepts: (i) => this.isHere(i),
			show: (i) => this.showFound(i),
			count: (found) => plural(found.length, "box", "boxes"),
			changed: () => this.markFound(),
		});
		const extent = this.threshold(this.leastExtent, 1, (value) => this.leastExtent = value);
		const percent = this.threshold(this.leastPercent, 0.1, (value) => this.leastPercent = value);
		return element("div", {class: "tools"}, labelled("Compiler", this.compiler),
			element("fieldset", {class: "inline"}, element("legend", {}, "Label boxes with"),
				labelled("boxes directly in them ≥", extent), labelled("or share of the time ≥", percent), " %"),
			element("span", {class: "spring"}), ...this.find.controls);
	}

	threshold(value, step, set) {
		return element("input", {type: "number", min: 0, step, value, onchange: (event) => {
			set(Number(event.target.value));
			this.draw();
		}});
	}

	legend() {
		const sample = (kind, text) => element("span", {}, element("span", {class: "sample " + kind}), " " + text);
		const {sampled} = this.model.about;
		return element("p", {class: "legend"}, sample("pass", "pass"),
			sample("miss", sampled ? "query, an execution that several samples met" : "query, executed"),
			...sampled ? [] : [sample("hit", "query, answered from memory")], sample("other", "waiting, loading, hashing"),
			" — a box lies in the one that called it; 100 % are all that the compiler’s threads did");
	}

	show() {
		if (!this.drawn)
			this.draw();
	}

	// Choose a compiler.
	choose(process) {
		const is = this.process === process;
		this.process = process;
		this.compiler.value = process;
		this.top = null;
		if (!is)
			this.find.recount();
	}

	// Show the node as the root.
	reveal(i) {
		this.choose(this.model.process(i).index);
		this.top = i;
		this.via.clear();
		this.draw();
		this.focus(this.tree.querySelector("[role=treeitem]"));
	}

	// ---- Search ---------------------------------------------------------------------------------

	// Whether it is a node of the compiler that is shown.
	isHere(i) {
		const {spans, threads, isNode} = this.model;
		return isNode[spans.what[i]] === 1 && threads[spans.thread[i]].process === this.process;
	}

	markFound() {
		for (const box of this.tree.querySelectorAll(".box"))
			box.classList.toggle("found", this.find.is(box.span));
	}

	// Open the ancestors of a match.
	showFound(i) {
		const path = this.model.pathOf(i);
		this.top = path.length < LEVELS_AT_FIRST ? null : path[path.length - LEVELS_AT_FIRST + 1];
		this.via = new Set(path);
		this.draw();
		this.focus([...this.tree.querySelectorAll(".box")].find((box) => box.span === i));
	}

	get whole() {
		return this.model.processes[this.process].total;
	}

	draw() {
		if (!this.model.processes.length)
			return;
		const process = this.model.processes[this.process];
		this.drawn = true;
		this.boxes = 0;
		const roots = this.top === null ? this.model.rootsOf(process) : [this.top];
		this.tree.replaceChildren();
		const opened = [];
		this.addBoxes(this.tree, roots, 1, opened);
		this.openLargest(opened);
		const first = this.tree.querySelector("[role=treeitem]");
		if (first)
			first.tabIndex = 0;
		this.drawCrumbs();
		this.drawLists();
	}

	drawCrumbs() {
		this.crumbs.replaceChildren();
		if (this.top === null)
			return;
		const process = this.model.processes[this.process];
		const crumb = (text, does) => this.crumbs.append(button(text, does, {class: "link"}), " › ");
		crumb(process.title, () => {
			this.top = null;
			this.draw();
		});
		const path = this.model.pathOf(this.top).slice(0, -1);
		if (path.length > CRUMBS)
			this.crumbs.append(`${plural(path.length - CRUMBS, "ancestor")} › `);
		for (const i of path.slice(-CRUMBS))
			crumb(this.model.label(i, LABEL_ROOM), () => this.reveal(i));
		this.crumbs.append(this.model.label(this.top, LABEL_ROOM));
	}

	// ---- Boxes ----------------------------------------------------------------------------------

	// Best first: matches of the search are opened first, then the longest boxes.
	openLargest(waiting) {
		const weight = ({i}) => this.via.has(i) ? Infinity : this.model.duration(i);
		while (waiting.length) {
			let best = 0;
			for (let k = 1; k < waiting.length; k++)
				if (weight(waiting[k]) > weight(waiting[best]))
					best = k;
			if (this.boxes >= BOXES_AT_FIRST && weight(waiting[best]) < Infinity)
				return;
			const [{box}] = waiting.splice(best, 1);
			if (box.level < LEVELS_AT_FIRST)
				this.expand(box, waiting);
		}
	}

	// The children that are shown, by index: the first ones, and the longest important ones of the rest.
	chosen(items) {
		const {model} = this, is = new Uint8Array(items.length);
		const room = items.length <= BOXES_AT_ONCE ? items.length : FIRST_BOXES, important = [];
		is.fill(1, 0, room);
		for (let k = room; k < items.length; k++) {
			if (this.via.has(items[k]))
				is[k] = 1;
			else if (this.isImportant(items[k]))
				important.push(k);
		}
		important.sort((a, b) => model.duration(items[b]) - model.duration(items[a]));
		for (const k of important.slice(0, BOXES_AT_ONCE - FIRST_BOXES))
			is[k] = 1;
		return is;
	}

	// Insert in the order of time.
	addBoxes(place, all, level, opened, before = null) {
		const {isOff} = this.model, {what} = this.model.spans;
		const items = all.filter((i) => !isOff[what[i]]), is = this.chosen(items);
		for (let k = 0; k < items.length;) {
			let end = k + 1;
			while (end < items.length && is[end] === is[k])
				end++;
			const part = items.slice(k, end);
			if (is[k] || part.length < LEAST_HIDDEN)
				this.addRow(place, part, level, opened, before);
			else
				place.insertBefore(this.more(part, level), before);
			k = end;
		}
	}

	addRow(place, items, level, opened, before) {
		for (const i of items) {
			const box = this.box(i, level);
			place.insertBefore(box, before);
			if (opened && box.hasAttribute("aria-expanded"))
				opened.push({i, box});
		}
		this.boxes += items.length;
	}

	// The element that stands for a run of boxes, and opens it.
	more(items, level) {
		const more = element("span", {role: "treeitem", class: "more", tabindex: -1, "aria-level": level,
			"aria-label": `${formatCount(items.length)} more`}, `+ ${formatCount(items.length)}`);
		more.opens = () => {
			const place = more.parentElement, last = more.previousElementSibling;
			this.addBoxes(place, items, level, null, more);
			more.remove();
			this.focus(last ? last.nextElementSibling : place.firstElementChild);
		};
		return more;
	}

	box(i, level) {
		const {model} = this, {what} = model.spans;
		const label = this.isImportant(i) ? this.label(i) : "";
		const box = element("div", {role: "treeitem", tabindex: -1, "aria-level": level,
			"aria-label": this.spoken(i), class: this.classes(i, Boolean(label))});
		box.span = i;
		box.level = level;
		if (model.childrenOf(i).some((child) => !model.isOff[what[child]]))
			box.setAttribute("aria-expanded", "false");
		if (label)
			box.append(element("span", {class: "label"}, label));
		return box;
	}

	percent(i) {
		return this.whole ? 100 * this.model.duration(i) / this.whole : 0;
	}

	isImportant(i) {
		return this.model.extent[i] >= this.leastExtent || this.percent(i) >= this.leastPercent;
	}

	classes(i, important) {
		const kind = this.model.kind(i), percent = this.percent(i);
		const fraction = FRACTIONS.find((least) => percent >= least);
		return ["box", CLASS_OF_KIND.get(kind) || "other", important ? "important" : "",
			fraction ? "frac-" + fraction : "", this.find.is(i) ? "found" : ""].filter(Boolean).join(" ");
	}

	label(i) {
		return `${shorten(this.model.label(i, LABEL_ROOM))} ${formatPercent(this.model.duration(i), this.whole)}`;
	}

	spoken(i) {
		const {model} = this;
		return `${shorten(model.label(i))}, ${model.kindText(i)}, ${formatDuration(model.duration(i))}, ` +
			`${formatPercent(model.duration(i), this.whole)}, ${this.around(i)}`;
	}

	around(i) {
		const {model} = this;
		return `${plural(model.extent[i], "box", "boxes")} directly in it, ${formatCount(model.spans.depth[i])} around it`;
	}

	expand(box, opened = null) {
		if (box.getAttribute("aria-expanded") !== "false")
			return;
		const group = element("div", {role: "group", class: "group"});
		this.addBoxes(group, Array.from(this.model.childrenOf(box.span)), box.level + 1, opened);
		box.append(group);
		box.setAttribute("aria-expanded", "true");
	}

	collapse(box) {
		const group = box.querySelector(":scope > [role=group]");
		if (!group)
			return;
		group.remove();
		box.setAttribute("aria-expanded", "false");
	}

	toggle(box) {
		if (box.opens)
			box.opens();
		else if (box.getAttribute("aria-expanded") === "true")
			this.collapse(box);
		else
			this.expand(box);
	}

	// ---- Pointer and keys -----------------------------------------------------------------------

	itemOf(event) {
		return event.target.closest("[role=treeitem]");
	}

	click(event) {
		const box = this.itemOf(event);
		if (!box)
			return;
		this.focus(box);
		this.toggle(box);
	}

	hover(event) {
		const box = this.itemOf(event);
		showTip(box && box.span !== undefined ? this.describe(box.span).join("\n") : null, event);
	}

	focus(box) {
		if (box)
			box.focus();
	}

	focused(event) {
		const box = this.itemOf(event);
		for (const other of this.tree.querySelectorAll("[tabindex='0']"))
			other.tabIndex = -1;
		box.tabIndex = 0;
		if (box.span !== undefined)
			this.showDetails(box.span);
	}

	key(event) {
		const box = this.itemOf(event);
		const actions = {
			ArrowRight: () => this.inwards(box),
			ArrowLeft: () => this.outwards(box),
			ArrowDown: () => this.focus(this.neighbour(box, 1)),
			ArrowUp: () => this.focus(this.neighbour(box, -1)),
			Home: () => this.focus(this.tree.querySelector("[role=treeitem]")),
			End: () => this.focus([...this.tree.querySelectorAll("[role=treeitem]")].pop()),
			Enter: () => this.toggle(box),
			" ": () => this.toggle(box),
		};
		if (!box || !actions[event.key])
			return;
		event.preventDefault();
		actions[event.key]();
	}

	inwards(box) {
		if (box.getAttribute("aria-expanded") === "false")
			this.expand(box);
		else
			this.focus(box.querySelector("[role=treeitem]"));
	}

	outwards(box) {
		if (box.getAttribute("aria-expanded") === "true")
			this.collapse(box);
		else
			this.focus(box.parentElement.closest("[role=treeitem]"));
	}

	neighbour(box, by) {
		const all = [...this.tree.querySelectorAll("[role=treeitem]")];
		return all[all.indexOf(box) + by];
	}

	// ---- Details of nodes ------------------------------------------------------------------------

	describe(i, place = this.model.place(this.model.key(i))) {
		const {model} = this;
		return [
			`${shorten(model.title(i))}   ${shorten(model.kindText(i))}`,
			shorten(model.key(i)),
			place && shorten(place.text),
			`${formatDuration(model.duration(i))} (${formatPercent(model.duration(i), this.whole)}), ` +
				`self ${formatDuration(model.selfTime(i))}`,
			model.isSampled(i) && "from the first to the last sample that met it",
			this.around(i),
		].filter(Boolean);
	}

	showDetails(i) {
		this.details.replaceChildren(
			element("span", {}, this.describe(i, null).join(" · ")),
			placeLink(this.model.place(this.model.key(i))) || "",
			button("Show in the timeline", () => this.app.showSpan(i)),
			button("Show alone", () => this.reveal(i)));
	}

	// For incremental compilation it is good if both stay small: a change then makes few queries run again.
	drawLists() {
		const extent = (i) => this.model.extent[i], depth = (i) => this.model.spans.depth[i];
		this.lists.replaceChildren(
			element("h2", {}, "Deepest and widest boxes"),
			this.extremes("Widest: the most boxes are directly in these",
				countColumn("Directly in it", extent), countColumn("Around it", depth)),
			this.extremes("Deepest: the most boxes are around these",
				countColumn("Around it", depth), countColumn("Directly in it", extent)));
	}

	extremes(caption, column, other) {
		const {model} = this;
		return new DataTable({
			caption, sort: 1, filter: false, rows: model.greatest(EXTREMES, column.value, (i) => this.isHere(i)),
			columns: [nameColumn("Box", (i) => model.label(i)), column, other,
				timeColumn("Total", (i) => model.duration(i))],
			actions: [{title: "Trace", does: (i) => this.reveal(i)},
				{title: "Timeline", does: (i) => this.app.showSpan(i)}],
		}).root;
	}
}
