// SPDX-License-Identifier: Apache-2.0 OR MIT
// A table that is sorted by a column, filtered by a text, and shown in pages.
//
// A column is {title, value(row), text(row), link(row), numeric}: rows are ordered by value, and show text,
// or the value itself, as a link if there is an address. An action is {title, does(row)}.

const ROWS_PER_PAGE = 50;

class DataTable {
	constructor({caption, columns, rows, actions = [], sort = 0, perPage = ROWS_PER_PAGE, filter = true}) {
		Object.assign(this, {caption, columns, rows, actions, sort, perPage});
		this.descending = Boolean(columns[sort].numeric);
		this.wanted = "";
		this.page = 0;
		this.root = element("div", {class: "table"});
		this.heads = columns.map((column, i) => this.head(column, i));
		this.body = element("tbody");
		this.counts = element("span", {class: "counts", role: "status"});
		this.back = button("Previous", () => this.turn(-1));
		this.forth = button("Next", () => this.turn(1));
		this.build(filter);
		this.show();
	}

	build(filter) {
		const input = element("input", {type: "search", placeholder: "part of a name",
			oninput: () => this.filter(input.value)});
		const action = this.actions.length ? element("th", {scope: "col"}, element("span", {class: "hidden"}, "Show")) : null;
		this.root.append(
			element("div", {class: "tools"},
				filter ? labelled("Filter", input) : null, this.counts, this.back, this.forth),
			element("div", {class: "scroll"}, element("table", {},
				element("caption", {}, this.caption),
				element("thead", {}, element("tr", {}, ...this.heads, action)),
				this.body)));
		this.input = input;
	}

	head(column, i) {
		return element("th", {scope: "col", class: column.numeric ? "number" : undefined},
			button(column.title, () => this.sortBy(i)));
	}

	sortBy(i) {
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
			.sort((a, b) => (this.descending ? -1 : 1) * order(value(a), value(b)) || order(name(a), name(b)));
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
		const actions = this.actions.map((action) =>
			button(action.title, () => action.does(row), {class: "link",
				"aria-label": action.title + ": " + shorten(String(this.columns[0].value(row)))}));
		return element("tr", {}, ...cells, actions.length ? element("td", {class: "actions"}, ...actions) : null);
	}

	cell(row, column, first) {
		const value = column.value(row), text = column.text ? column.text(row) : shorten(String(value));
		const link = column.link ? column.link(row) : null;
		return element(first ? "th" : "td", {
			scope: first ? "row" : undefined,
			class: column.numeric ? "number" : "name",
			"data-value": value,
			title: column.numeric && column.text ? formatCount(value) + (column.unit || "") :
				column.link ? shorten(value) : undefined,
		}, link ? element("a", {href: link}, text) : text);
	}
}

function nameColumn(title, value) {
	return {title, value};
}

function countColumn(title, value) {
	return {title, value, text: (row) => formatCount(value(row)), numeric: true};
}

function timeColumn(title, value) {
	return {title, value, text: (row) => formatDuration(value(row)), numeric: true, unit: " ns"};
}

// Of which 0 is unknown.
function bytesColumn(title, value) {
	return {title, value, text: (row) => value(row) ? formatBytes(value(row)) : "-", numeric: true, unit: " bytes"};
}

function shareColumn(title, value, whole) {
	return {title, value, text: (row) => formatPercent(value(row), whole), numeric: true, unit: " ns"};
}
