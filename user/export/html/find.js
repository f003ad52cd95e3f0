// SPDX-License-Identifier: Apache-2.0 OR MIT
// Finding intervals: by the name of a query ("typeck"), by the path of an item ("ast::parse"), or by both
// ("typeck(regex_syntax::ast"). A search tests names and paths once; testing an interval is two look-ups.

class Search {
	constructor(model, isName, isPath, both) {
		this.model = model;
		this.names = Uint8Array.from(model.names, (name) => isName(name) ? 1 : 0);
		this.paths = Uint8Array.from(model.paths, (path) => path && isPath(path) ? 1 : 0);
		this.both = both;
	}

	// Intervals whose name or path has a text in it.
	static ofText(model, text) {
		const wanted = text.trim().toLowerCase(), open = wanted.indexOf("(");
		const name = open > 0 ? wanted.slice(0, open) : wanted;
		const path = open > 0 ? wanted.slice(open + 1).replace(/\)$/, "") : wanted;
		if (!wanted)
			return null;
		if (open > 0 && !path)
			return new Search(model, (other) => other.toLowerCase().endsWith(name), () => true, true);
		return new Search(model,
			(other) => open > 0 ? other.toLowerCase().endsWith(name) : other.toLowerCase().includes(name),
			(other) => other.toLowerCase().includes(path), open > 0);
	}

	static ofName(model, name) {
		return new Search(model, (other) => other === name, () => false, false);
	}

	static ofItem(model, path) {
		return new Search(model, () => false, (other) => other === path, false);
	}

	is(i) {
		const {what, key} = this.model.spans, name = this.names[what[i]];
		const path = key[i] !== NO_KEY && this.paths[key[i]];
		return Boolean(this.both ? name && path : name || path);
	}

	// All that it finds, in a plain loop: there may be millions of intervals, and a search at each key press.
	all() {
		const {names, paths, both} = this, {n, what, key} = this.model.spans, found = [];
		for (let i = 0; i < n; i++) {
			const name = names[what[i]], path = key[i] === NO_KEY ? 0 : paths[key[i]];
			if (both ? name & path : name | path)
				found.push(i);
		}
		return found;
	}
}

// The field, "Previous", "Next", and the number of what was found. `use` has accepts(i), which of the
// intervals may be found; show(i); count(found), a text; and changed().
class FindBar {
	constructor(model, use) {
		Object.assign(this, {model, use});
		this.search = null;
		this.found = [];
		this.input = element("input", {type: "search", placeholder: "query, path, or query(path)",
			oninput: () => this.set(this.input.value),
			onkeydown: (event) => event.key === "Enter" && this.step(event.shiftKey ? -1 : 1)});
		this.counts = element("span", {class: "counts", role: "status"});
		this.controls = [labelled("Find", this.input), button("Previous", () => this.step(-1)),
			button("Next", () => this.step(1)), this.counts];
	}

	set(text, search = Search.ofText(this.model, text)) {
		this.input.value = text;
		this.search = search;
		this.recount();
	}

	// Call it when other intervals may be found.
	recount() {
		this.order = null;
		this.found = this.search ? this.search.all().filter((i) => this.use.accepts(i)) : [];
		this.text = this.search ? this.use.count(this.found) : "";
		this.counts.textContent = this.text;
		this.use.changed();
	}

	get active() {
		return this.search !== null;
	}

	is(i) {
		return this.search !== null && this.use.accepts(i) && this.search.is(i);
	}

	// The longest come first.
	step(by) {
		const {model} = this;
		if (!this.found.length)
			return;
		if (!this.order) {
			this.order = this.found.sort((a, b) => model.duration(b) - model.duration(a) || a - b);
			this.at = by > 0 ? -1 : 0;
		}
		const n = this.order.length;
		this.at = (this.at + by + n) % n;
		this.counts.textContent = `${formatCount(this.at + 1)} of ${this.text}`;
		this.use.show(this.order[this.at]);
	}
}
