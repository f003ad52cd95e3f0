// SPDX-License-Identifier: Apache-2.0 OR MIT
// A table that is sorted by a column, filtered by a text, and shown in pages.
//
// A column is {title, hint, value(row), text(row), link(row), does(row), node(row), numeric}: rows are ordered by
// value, and show text, or the value itself, as a link if there is an address, as a button if does(row) is a
// function; or an element. An action is {title, does(row), when(row)}. Rows with first(row) come first until another
// order is asked for. A bare table has no line above it unless it has several pages.

const ROWS_PER_PAGE = 50;
const FILE_ROOM = 36; // characters of the path of a file

class DataTable {
	constructor({caption, columns, rows, actions = [], sort = 0, perPage = ROWS_PER_PAGE, filter = true, bare = false,
		first = () => false}) {
		Object.assign(this, {caption, columns, rows, actions, sort, perPage, first});
		this.descending = Boolean(columns[sort].numeric);
		this.wanted = "";
		this.page = 0;
		this.root = element("div", {class: "table"});
		this.heads = columns.map((column, i) => this.head(column, i));
		this.body = element("tbody");
		this.counts = element("span", {class: "counts", role: "status"});
		this.back = button("Previous", () => this.turn(-1));
		this.forth = button("Next", () => this.turn(1));
		this.build(filter, bare);
		this.show();
	}

	build(filter, bare) {
		const input = element("input", {type: "search", placeholder: "part of a name",
			oninput: () => this.filter(input.value)});
		const action = this.actions.length ? element("th", {scope: "col"}, element("span", {class: "hidden"}, "Show")) : null;
		this.root.append(
			bare && !filter && this.rows.length <= this.perPage ? "" : element("div", {class: "tools"},
				filter ? labelled("Filter", input) : null, this.counts, this.back, this.forth),
			element("div", {class: "scroll"}, element("table", {},
				element("caption", {}, this.caption),
				element("thead", {}, element("tr", {}, ...this.heads, action)),
				this.body)));
		this.input = input;
	}

	head(column, i) {
		return element("th", {scope: "col", class: column.numeric ? "number" : undefined},
			button(column.title, () => this.sortBy(i), {title: column.hint}));
	}

	sortBy(i) {
		this.first = () => false;
		this.descending = this.sort === i ? !this.descending : Boolean(this.columns[i].numeric);
		this.sort = i;
		this.page = 0;
		this.show();
		say(`Sorted by ${this.columns[i].title}, ${this.descending ? "descending" : "ascending"}`);
	}

	filter(text) {
		this.wanted = text.toLowerCase();
		this.page = 0;
		this.show();
	}

	turn(by) {
		this.page += by;
		this.show();
	}

	// In the order of the column; equal ones by the first.
	chosen() {
		const {value} = this.columns[this.sort], name = this.columns[0].value;
		const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
		return this.rows
			.filter((row) => !this.wanted || String(name(row)).toLowerCase().includes(this.wanted))
			.sort((a, b) => this.first(b) - this.first(a) || (this.descending ? -1 : 1) * order(value(a), value(b)) || order(name(a), name(b)));
	}

	show() {
		const rows = this.chosen(), from = this.page * this.perPage;
		const shown = rows.slice(from, from + this.perPage);
		this.heads.forEach((head, i) => head.setAttribute("aria-sort",
			i !== this.sort ? "none" : this.descending ? "descending" : "ascending"));
		this.body.replaceChildren(...shown.map((row) => this.row(row)));
		this.counts.textContent = rows.length <= this.perPage ? plural(rows.length, "row") :
			`${formatCount(from + 1)}–${formatCount(from + shown.length)} of ${plural(rows.length, "row")}`;
		this.back.disabled = this.page === 0;
		this.forth.disabled = from + this.perPage >= rows.length;
		this.back.hidden = this.forth.hidden = rows.length <= this.perPage;
	}

	row(row) {
		const cells = this.columns.map((column, i) => this.cell(row, column, i === 0));
		const actions = this.actions.filter((action) => !action.when || action.when(row)).map((action) =>
			button(action.title, () => action.does(row), {class: "link",
				"aria-label": action.title + ": " + shorten(String(this.columns[0].value(row)))}));
		return element("tr", {}, ...cells, this.actions.length ? element("td", {class: "actions"}, ...actions) : null);
	}

	cell(row, column, first) {
		const value = column.value(row), text = column.text ? column.text(row) : shorten(String(value));
		const link = column.link ? column.link(row) : null;
		const parts = column.numeric ? [text] : breakable(text);
		const does = column.does ? column.does(row) : null;
		const shown = column.node ? [column.node(row)] :
			does ? [element("button", {type: "button", class: "link", onclick: does}, ...parts)] :
				link ? [element("a", {href: link}, ...parts)] : parts;
		return element(first ? "th" : "td", {
			scope: first ? "row" : undefined,
			class: column.numeric ? "number" : column.node ? "picture" : "name",
			"data-value": value,
			title: column.numeric && column.text ? value < 0 ? "unknown" : formatCount(value) + (column.unit || "") :
				column.link ? shorten(value) : undefined,
		}, ...shown);
	}
}

// A name that may be broken behind its segments and words, and nowhere else if there is room.
function breakable(text) {
	return text.split(/(?<=::|[/_-])/).flatMap((part, i) => i ? [element("wbr"), part] : [part]);
}

function nameColumn(title, value) {
	return {title, value};
}

// Of every table that has it.
const PEAK_HINT = "The most that was resident at a time";
const CPU_TITLE = "On the CPU", OFF_TITLE = "Off the CPU";
const OFF_HINT = "The other part of the self time: waiting, or ready but waiting for a CPU";
const SELF_HINT = "Without the queries that it called";

function countColumn(title, value, hint) {
	return {title, hint, value, text: (row) => formatCount(value(row)), numeric: true};
}

function timeColumn(title, value, hint) {
	return {title, hint, value, text: (row) => formatDuration(value(row)), numeric: true, unit: " ns"};
}

// Of items of which LLVM compiles some.
function llvmText(rows) {
	return rows.some((row) => row.llvm_ns) ? "; most with LLVM first" : "";
}

// A self time, with a mark where it is not exact. What no sample met has none.
function selfColumn(title, value, hint, allSampled) {
	return {...timeColumn(title, value, hint), text: (row) => row.self_by === "samples" && !value(row) ? "-" :
		selfMark(row, allSampled) + formatDuration(value(row))};
}

// Of which null is unknown.
function knownCountColumn(title, value, hint) {
	return {title, hint, value: (row) => value(row) ?? -1, numeric: true,
		text: (row) => value(row) === null ? "-" : formatCount(value(row))};
}

// Executions of a query. Of a query without probes they are those in the compiler's tables, whose results may be no executions of
// some queries, and of which some may not have been read.
function executionsColumn() {
	const most = (row) => row.count || row.results || (hasIntervals(row) ? 0 : null);
	const {text, ...column} = knownCountColumn("Executions", most, "≤ is the number of results, which may have other origins; ≥: there may be more");
	const mark = (row) => row.results_at_least ? "≥ " : "≤ ";
	return {...column, text: (row) => (!row.count && row.results ? mark(row) : "") + text(row)};
}

// Of an item.
function itemExecutionsColumn() {
	const {text, ...column} = knownCountColumn("Executions", (row) => row.executions, "≥: there may be more");
	return {...column, text: (row) => (row.executions_at_least && row.executions !== null ? "≥ " : "") + text(row)};
}

// Likewise.
function knownTimeColumn(title, value, hint) {
	return {title, hint, value: (row) => value(row) ?? -1, numeric: true, unit: " ns",
		text: (row) => value(row) === null || value(row) === undefined ? "-" : formatDuration(value(row))};
}

// Of which 0 is unknown.
function bytesColumn(title, value, hint) {
	return {title, hint, value, text: (row) => value(row) ? formatBytes(value(row)) : "-", numeric: true, unit: " bytes"};
}

function shareColumn(title, value, whole, hint) {
	return {title, hint, value, text: (row) => formatPercent(value(row), whole), numeric: true, unit: " ns"};
}

// Where an item is in the source.
function placeColumn(model) {
	const place = (row) => model.place(row.name);
	const value = (row) => place(row)?.text || "";
	return {title: "Where", value, text: (row) => shortFile(value(row), FILE_ROOM), link: (row) => place(row)?.url};
}
