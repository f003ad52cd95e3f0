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
		sort = columns[sort] ? sort : 0;
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

function countColumn(title, value, hint) {
	return {title, hint, value, text: (row) => formatCount(value(row)), numeric: true};
}

function timeColumn(title, value, hint) {
	return {title, hint, value, text: (row) => formatDuration(value(row)), numeric: true, unit: " ns"};
}

// Of which null is unknown.
function knownTimeColumn(title, value, hint) {
	return {title, hint, value: (row) => value(row) ?? -1, numeric: true, unit: " ns",
		text: (row) => value(row) === null || value(row) === undefined ? "-" : formatDuration(value(row))};
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

// ---- Columns that the report describes: [key in the rows, title, unit, help, whole], see view/columns.h --------------

const UNIT_TEXTS = new Map([["ns", [formatDuration, " ns"]], ["bytes", [(n) => n ? formatBytes(n) : "-", " bytes"]],
	["count", [formatCount]], ["percent", [formatPercent, " ns"]], ["id", [String]]]);
const MARKS = new Map([["~", "~"], [">=", "≥ "], [">= ", "≥ "], ["<=", "≤ "]]);
const ESTIMATE = "~";
const SELF = "@self", ON_CPU = "@on the CPU", SHARE = "@CPU %";

function capital(text) {
	return text && text[0].toUpperCase() + text.slice(1);
}

// A number may have a mark. An estimate has none where all are, and is unknown where it is 0; null is unknown.
function describedColumn([key, name, unit, help, whole], rows) {
	const title = capital(name.replace("+-", "±")), hint = capital((help || "").replace(/; (null|missing)\b.*/, ""));
	if (!UNIT_TEXTS.has(unit))
		return {key, title, hint, value: (row) => row[key] ?? ""};
	const [format, of] = UNIT_TEXTS.get(unit);
	const mark = (row) => row["~" + key], value = (row) => row[key] ?? -1;
	const isMixed = rows.some((row) => value(row) > 0 && mark(row) !== ESTIMATE);
	return {key, title, hint, value, numeric: true, unit: of,
		hasEstimates: isMixed && rows.some((row) => value(row) > 0 && mark(row) === ESTIMATE),
		text: (row) => value(row) < 0 || !value(row) && mark(row) === ESTIMATE ? "-" :
			(isMixed || mark(row) !== ESTIMATE ? MARKS.get(mark(row)) || "" : "") + format(value(row), whole)};
}

// Without columns in which no row has a number, and with one column for self time where its part on the CPU is all of it,
// or all that is known.
function describedColumns(descriptions, rows) {
	const sampled = !rows.some(hasIntervals), off = sampled || rows.some((row) => row[SELF] !== row[ON_CPU]);
	return (descriptions || []).map((description) => describedColumn(description, rows))
		.filter((column) => column.key !== (sampled ? SELF : off ? null : ON_CPU) &&
			(!column.numeric || !rows.length || rows.some((row) => column.value(row) > 0)))
		.map((column) => column.key === SHARE && !off ? {...column, title: "Self %"} : column);
}

function columnAt(columns, ...keys) {
	return columns.findIndex(({key}) => keys.includes(key));
}

// By which rows are in order at first: the cost that a report ranks them by.
function costAt(columns) {
	return Math.max(columnAt(columns, SELF), columnAt(columns, ON_CPU));
}

// The meaning of the marks that there are, for a caption.
function markText(columns) {
	return columns.some(({hasEstimates}) => hasEstimates) ? "; ~ is an estimate" : "";
}

// Of items of which LLVM compiles some.
function llvmText(columns) {
	return columnAt(columns, "llvm_ns") < 0 ? "" : "; most with LLVM first";
}
