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
			...model.report.llvm?.known ? [
				["LLVM’s passes", () => this.llvm("passes", "Passes of LLVM, by samples")],
				["LLVM’s functions", () => this.llvmFunctions()],
				["LLVM, no function", () => this.llvmRests()]] : [],
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

	queries(kind) {
		const {report} = this.model, isPass = kind === KIND.PASS;
		const rows = report.queries.filter((row) => (row.kind === KIND.PASS) === isPass);
		const counted = rows.some((row) => row.count), sampled = !rows.some(hasIntervals);
		const [name, ...others] = describedColumns(report["@queries"], rows)
			.filter(({key}) => key !== "sampled_self_ns" || counted && !sampled);
		const columns = [{...name, title: isPass ? "Pass" : name.title}, ...others];
		return new DataTable({
			caption: isPass ? "Passes and other activities of the compiler" + markText(columns) :
				sampled ? "Queries: their times are by samples" + (counted ? ", their executions by the compilers’ own tables" : "") :
				"Queries: all executions of each" + markText(columns),
			rows, sort: costAt(columns), columns,
			actions: [{title: "Timeline", does: (row) => this.app.showName(row.name), when: isShown}],
		});
	}

	crates() {
		const {groups: rows, "@groups": described} = this.model.report, columns = describedColumns(described, rows);
		return new DataTable({
			caption: "Crates: all their compilers",
			rows, sort: columnAt(columns, "wall_ns"), columns,
			actions: [{title: "Timeline", does: (row) => this.app.showCrate(row.name)}],
		});
	}

	// A table of LLVM's time, which is by samples.
	llvm(list, caption, ...more) {
		const {[list]: rows, ["@" + list]: described} = this.model.report.llvm;
		return new DataTable({caption, rows, sort: 1, columns: [...describedColumns(described, rows), ...more]});
	}

	// "app 20 ms, dep 6 ms, and 3 more"
	usedIn({crates, crate_count: n}) {
		return crates.map(({name, self_ns: ns}) => (name ?? "(unknown)") +
			(n > 1 ? ` ${formatDuration(ns).replace(" ", "\u00a0")}` : "")).join(", ") +
			(n > crates.length ? `, and ${n - crates.length} more` : "");
	}

	llvmFunctions() {
		const {generics: rows, generic_count: n, component_ns: first} = this.model.report.llvm;
		return this.llvm("generics", "Functions that LLVM compiles, with all their instances, by samples" +
			(n > rows.length ? `: the first ${formatCount(rows.length)} of ${formatCount(n)}` : "") +
			(first ? `; ${formatDuration(first)} of it as the first of functions that call each other` : ""),
		{title: "Used in", value: (row) => row.crates[0]?.name ?? "", text: (row) => this.usedIn(row)});
	}

	// With these, functions add up to all of LLVM.
	llvmRests() {
		const {unknown_function_ns: unknown, no_function_ns: none} = this.model.report.llvm;
		return this.llvm("no_function", `What LLVM does for no function, by samples: ${formatDuration(none)}` +
			(unknown ? `; for functions that are not known ${formatDuration(unknown)}` : ""));
	}

	// The three most expensive queries about an item, as in `report --by item`.
	mostIn({queries}) {
		return queries.map((part) => `${part.name} ${formatDuration(cpuSelfOf(part)).replace(" ", "\u00a0")}`).join(", ");
	}

	items() {
		const all = this.model.report.items || [], rows = all.filter((row) => row.name !== null);
		if (!rows.length)
			return element("p", {class: "empty"}, "This trace does not say what its queries were about. " +
				"Recordings do, unless made with --no-keys, and so do profiles of " +
				"rustc -Zself-profile-events=default,query-keys, imported with “qprof-bpf import”.");
		const sampled = rows.every((row) => row.self_by === "samples"), columns = describedColumns(this.model.report["@items"], rows);
		const when = (row) => !sampled || this.model.longestOfItems.has(row.name);
		return new DataTable({
			caption: "Items: all queries about each" + (sampled ? ", by samples" : markText(columns)) + llvmText(columns),
			rows, sort: costAt(columns), first: withLlvm,
			columns: [
				...columns,
				...sampled && !this.model.about.sampled ? [] :
					[knownTimeColumn("Longest", (row) => this.model.durationOfItem(row.name))],
				{title: "Most in", value: (row) => row.queries[0]?.name || "", text: (row) => this.mostIn(row)},
				...this.model.places.size ? [placeColumn(this.model)] : [],
			],
			actions: [{title: "Timeline", does: (row) => this.app.showItem(row.name, "timeline"), when},
				{title: "Trace", does: (row) => this.app.showItem(row.name, "queries"), when}],
		});
	}
}
