// SPDX-License-Identifier: Apache-2.0 OR MIT
// The tables: the rows of `report --json`.

class TablesView {
	constructor(root, model, app) {
		this.model = model;
		this.app = app;
		this.place = element("div");
		this.tables = [
			["Queries", () => this.queries(KIND.QUERY)],
			["Crates", () => this.crates()],
			["Passes", () => this.queries(KIND.PASS)],
			["Items", () => this.items()],
		];
		this.choices = element("fieldset", {class: "choices"}, element("legend", {class: "hidden"}, "Rows are"),
			...this.tables.map(([title], i) => this.choice(title, i)));
		root.append(this.choices, this.place);
	}

	choice(title, i) {
		const input = element("input", {type: "radio", name: "table", value: i, onchange: () => this.open(i)});
		return element("label", {}, input, element("span", {}, title));
	}

	open(i) {
		this.choices.querySelectorAll("input")[i].checked = true;
		const table = this.tables[i][1]();
		this.table = table;
		this.place.replaceChildren(table.root || table);
	}

	show() {
		if (!this.table)
			this.open(0);
	}

	// A name whose intervals are all activities is a pass; all others are queries.
	isPass(name) {
		if (!this.passes) {
			const {names, kinds} = this.model;
			this.passes = new Map();
			names.forEach((n, i) => this.passes.set(n, this.passes.get(n) !== false && kinds[i] === KIND.PASS));
		}
		return this.passes.get(name) === true;
	}

	queries(kind) {
		const rows = this.model.report.queries.filter((row) => this.isPass(row.name) === (kind === KIND.PASS));
		const self = this.model.report.queries.reduce((sum, row) => sum + row.self_ns, 0);
		const extras = [["hits", "Hits", countColumn], ["blocked_ns", "Blocked", timeColumn],
			["self_off_ns", "Off CPU", timeColumn], ["loads", "Loads", countColumn],
			["counted", "Counted only", countColumn], ["estimated", "Estimated", countColumn]];
		return new DataTable({
			caption: kind === KIND.PASS ? "Passes and other activities of the compiler" :
				"Queries: all executions of each",
			rows, sort: 3,
			columns: [
				nameColumn(kind === KIND.PASS ? "Pass" : "Query", (row) => row.name),
				countColumn("Count", (row) => row.count),
				timeColumn("Total", (row) => row.total_ns),
				timeColumn("Self", (row) => row.self_ns),
				shareColumn("Self %", (row) => row.self_ns, self),
				timeColumn("Mean", (row) => row.mean_ns),
				timeColumn("Max", (row) => row.max_ns),
				...extras.filter(([key]) => rows.some((row) => row[key]))
					.map(([key, title, column]) => column(title, (row) => row[key] || 0)),
			],
			actions: [{title: "Timeline", does: (row) => this.app.showName(row.name)}],
		});
	}

	crates() {
		return new DataTable({
			caption: "Crates: all their compilers",
			rows: this.model.report.groups, sort: 3,
			columns: [
				nameColumn("Crate", (row) => row.name),
				countColumn("Compilers", (row) => row.processes),
				countColumn("Executions", (row) => row.count),
				timeColumn("Wall", (row) => row.wall_ns),
				timeColumn("Self", (row) => row.self_ns),
				timeColumn("Longest", (row) => row.max_ns),
			],
			actions: [{title: "Timeline", does: (row) => this.app.showCrate(row.name)}],
		});
	}

	// Sums by the item of a query; raw, as a report has no such rows.
	sumItems() {
		const {spans} = this.model, sums = new Map();
		for (let i = 0; i < spans.n; i++) {
			const name = this.model.key(i);
			if (!name)
				continue;
			const row = sums.get(name) || {name, count: 0, self: 0, longest: i};
			row.count++;
			row.self += this.model.selfTime(i);
			if (this.model.duration(i) > this.model.duration(row.longest))
				row.longest = i;
			sums.set(name, row);
		}
		return [...sums.values()];
	}

	items() {
		const rows = this.sumItems();
		if (!rows.length)
			return element("p", {class: "empty"}, "This trace does not record the item of a query. " +
				"Profiles of rustc -Zself-profile-events=default,args, imported with “qprof-bpf import”, do.");
		return new DataTable({
			caption: "Items that queries ran for (times as measured, probes included)",
			rows, sort: 2,
			columns: [
				nameColumn("Item", (row) => row.name),
				countColumn("Executions", (row) => row.count),
				timeColumn("Self", (row) => row.self),
				nameColumn("Longest query", (row) => this.model.name(row.longest)),
				timeColumn("Its time", (row) => this.model.duration(row.longest)),
			],
			actions: [{title: "Timeline", does: (row) => this.app.showSpan(row.longest)}],
		});
	}
}
