// SPDX-License-Identifier: Apache-2.0 OR MIT
// The tables: the rows of `report --json`.

const FILE_ROOM = 36; // characters of the path of a file

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
		// Rows by samples alone have no interval that would say it.
		const isPass = (row) => this.isPass(row.name) || row.self_by === "samples" && row.kind === KIND.PASS;
		const rows = this.model.report.queries.filter((row) => isPass(row) === (kind === KIND.PASS));
		const counted = rows.some((row) => row.count);
		const self = this.model.report.queries.reduce((sum, row) => sum + selfOf(row), 0);
		const extras = [["samples", "Samples", countColumn],
			...counted ? [["sampled_self_ns", "Sampled", timeColumn]] : [], ["sampled_self_error_ns", "±", timeColumn], ["hits", "Hits", countColumn], ["blocked_ns", "Blocked", timeColumn],
			["self_off_ns", "Off CPU", timeColumn], ["loads", "Loads", countColumn],
			["counted", "Counted only", countColumn], ["estimated", "Estimated", countColumn]];
		return new DataTable({
			caption: kind === KIND.PASS ? "Passes and other activities of the compiler" :
				"Queries: all executions of each",
			rows, sort: counted ? 3 : 2,
			columns: [
				nameColumn(kind === KIND.PASS ? "Pass" : "Query", (row) => row.name),
				...counted ? [countColumn("Count", (row) => row.count || 0)] : [],
				timeColumn("Total", (row) => row.total_ns ?? row.sampled_total_ns ?? 0),
				timeColumn("Self", selfOf),
				shareColumn("Self %", selfOf, self),
				...counted ? [timeColumn("Mean", (row) => row.mean_ns || 0), timeColumn("Max", (row) => row.max_ns || 0)] : [],
				...extras.filter(([key]) => rows.some((row) => row[key]))
					.map(([key, title, column]) => column(title, (row) => row[key] || 0)),
			],
			actions: [{title: "Timeline", does: (row) => this.app.showName(row.name)}],
		});
	}

	crates() {
		const rows = this.model.report.groups;
		return new DataTable({
			caption: "Crates: all their compilers",
			rows, sort: 3,
			columns: [
				nameColumn("Crate", (row) => row.name),
				countColumn("Compilers", (row) => row.processes),
				countColumn("Executions", (row) => row.count),
				timeColumn("Wall", (row) => row.wall_ns),
				timeColumn("Self", (row) => row.self_ns),
				timeColumn("Longest", (row) => row.max_ns),
				...rows.some((row) => row.peak_bytes) ? [bytesColumn("Peak memory", (row) => row.peak_bytes || 0)] : [],
			],
			actions: [{title: "Timeline", does: (row) => this.app.showCrate(row.name)}],
		});
	}

	// The three most expensive queries about an item, as in `report --by item`.
	mostIn({queries}) {
		return queries.map((part) => `${part.name} ${formatDuration(part.self_ns).replace(" ", "\u00a0")}`).join(", ");
	}

	placeColumn() {
		const place = (row) => this.model.place(row.name);
		const value = (row) => place(row)?.text || "";
		return {title: "Where", value, text: (row) => shortFile(value(row), FILE_ROOM), link: (row) => place(row)?.url};
	}

	items() {
		const all = this.model.report.items || [], rows = all.filter((row) => row.name !== null);
		if (!rows.length)
			return element("p", {class: "empty"}, "This trace does not say what its queries were about. " +
				"Recordings do, unless made with --no-keys, and so do profiles of " +
				"rustc -Zself-profile-events=default,query-keys, imported with “qprof-bpf import”.");
		const self = all.reduce((sum, row) => sum + row.self_ns, 0);
		const extras = [["instances", "Instances", countColumn]];
		return new DataTable({
			caption: "Items: all queries about each",
			rows, sort: 2,
			columns: [
				nameColumn("Item", (row) => row.name),
				countColumn("Executions", (row) => row.executions),
				timeColumn("Self", (row) => row.self_ns),
				shareColumn("Self %", (row) => row.self_ns, self),
				...extras.filter(([key]) => rows.some((row) => row[key]))
					.map(([key, title, column]) => column(title, (row) => row[key] || 0)),
				timeColumn("Longest", (row) => this.model.durationOfItem(row.name)),
				{title: "Most in", value: (row) => row.queries[0]?.name || "", text: (row) => this.mostIn(row)},
				...this.model.places.size ? [this.placeColumn()] : [],
			],
			actions: [{title: "Timeline", does: (row) => this.app.showItem(row.name, "timeline")},
				{title: "Trace", does: (row) => this.app.showItem(row.name, "queries")}],
		});
	}
}
