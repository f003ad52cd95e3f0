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
				["LLVM’s passes", () => this.llvmPasses()],
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
		const rows = this.model.report.queries.filter((row) => (row.kind === KIND.PASS) === (kind === KIND.PASS));
		const counted = rows.some((row) => row.count);
		const all = this.model.report.queries, self = all.reduce((sum, row) => sum + cpuSelfOf(row), 0);
		const sampled = !rows.some(hasIntervals), off = !sampled && all.some((row) => row.self_off_ns);
		const extras = [["samples", "Samples", countColumn, "In which it ran itself"],
			...counted && !sampled ? [["sampled_self_ns", "Sampled", timeColumn, "Self time on the CPU, by samples"]] : [],
			["sampled_self_error_ns", "±", timeColumn, "Standard error of the time by samples"],
			["hits", "Hits", countColumn, "Requests answered from memory, without an execution"],
			["blocked_ns", "Blocked", timeColumn, "Waiting for another thread’s execution"],
			["loads", "Loads", countColumn, "Results looked for in the incremental cache"]];
		return new DataTable({
			caption: kind === KIND.PASS ? "Passes and other activities of the compiler" + markText(rows, sampled) :
				sampled ? "Queries: their times are by samples" + (counted ? ", their executions by the compilers’ own tables" : "") :
				"Queries: all executions of each" + markText(rows, sampled),
			rows, sort: (counted ? 3 : 2) + off,
			columns: [
				nameColumn(kind === KIND.PASS ? "Pass" : "Query", (row) => row.name),
				...counted ? [executionsColumn()] : [],
				timeColumn("Total", (row) => row.total_ns ?? row.sampled_total_ns ?? 0, "With the queries that it called"),
				selfColumn(sampled ? CPU_TITLE : "Self", selfOf, SELF_HINT, sampled),
				...off ? [selfColumn(CPU_TITLE, cpuSelfOf, "The part of the self time in which it ran", sampled)] : [],
				shareColumn(off || sampled ? "CPU %" : "Self %", cpuSelfOf, self, "Of all queries and passes"),
				...off ? [knownTimeColumn(OFF_TITLE, (row) => knownOf(row, "self_off_ns"), OFF_HINT)] : [],
				...counted && !sampled ? [knownTimeColumn("Mean", (row) => knownOf(row, "mean_ns"), "Of one execution"),
					knownTimeColumn("Max", (row) => knownOf(row, "max_ns"), "The longest execution")] : [],
				...rows.some((row) => row.sampled_max_ns) ? [knownTimeColumn("Longest", (row) => row.sampled_max_ns,
					"Of the executions that several samples met: from the first to the last")] : [],
				...extras.filter(([key]) => rows.some((row) => row[key]))
					.map(([key, title, column, hint]) => column(title, (row) => row[key] || 0, hint)),
			],
			actions: [{title: "Timeline", does: (row) => this.app.showName(row.name), when: isShown}],
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
				timeColumn("Wall", (row) => row.wall_ns, "Of its compilers, from start to end"),
				timeColumn("Self", (row) => row.self_ns, "Of all its queries and passes"),
				timeColumn("Longest", (row) => row.max_ns, "The longest query or pass"),
				...rows.some((row) => row.peak_bytes) ?
					[bytesColumn("Peak memory", (row) => row.peak_bytes || 0, PEAK_HINT)] : [],
			],
			actions: [{title: "Timeline", does: (row) => this.app.showCrate(row.name)}],
		});
	}

	// Columns of LLVM's time, which is by samples.
	llvmTimes() {
		return [timeColumn("CPU time", (row) => row.self_ns, "Of the samples in it"),
			timeColumn("±", (row) => row.error_ns, "Standard error of that"),
			shareColumn("LLVM %", (row) => row.self_ns, this.model.report.llvm.total_ns, "Of all samples in LLVM")];
	}

	llvmPasses() {
		return new DataTable({
			caption: "Passes of LLVM, by samples",
			rows: this.model.report.llvm.passes, sort: 1,
			columns: [
				nameColumn("Pass", (row) => row.name ?? "(unknown)"),
				...this.llvmTimes(),
				{title: "For", value: (row) => row.for.replace("_", " ")},
			],
		});
	}

	// "app 20 ms, dep 6 ms, and 3 more"
	usedIn({crates, crate_count: n}) {
		return crates.map(({name, self_ns: ns}) => (name ?? "(unknown)") +
			(n > 1 ? ` ${formatDuration(ns).replace(" ", "\u00a0")}` : "")).join(", ") +
			(n > crates.length ? `, and ${n - crates.length} more` : "");
	}

	llvmFunctions() {
		const {generics: rows, generic_count: n, component_ns: first} = this.model.report.llvm;
		return new DataTable({
			caption: "Functions that LLVM compiles, with all their instances, by samples" +
				(n > rows.length ? `: the first ${formatCount(rows.length)} of ${formatCount(n)}` : "") +
				(first ? `; ${formatDuration(first)} of it as the first of functions that call each other` : ""),
			rows, sort: 1,
			columns: [
				nameColumn("Function", (row) => row.path),
				...this.llvmTimes(),
				{title: "Instances", numeric: true, value: (row) => row.instances, hint: "≥: there may be more",
					text: (row) => (row.instances_at_least ? "≥ " : "") + formatCount(row.instances)},
				{title: "Defined in", value: (row) => row.crate ?? ""},
				{title: "Used in", value: (row) => row.crates[0]?.name ?? "", text: (row) => this.usedIn(row)},
			],
		});
	}

	// With these, functions add up to all of LLVM.
	llvmRests() {
		const {no_function: rests, unknown_function_ns: unknown, no_function_ns: none} = this.model.report.llvm;
		return new DataTable({
			caption: `What LLVM does for no function, by samples: ${formatDuration(none)}` +
				(unknown ? `; for functions that are not known ${formatDuration(unknown)}` : ""),
			rows: rests, sort: 1,
			columns: [
				nameColumn("Work, pass or function of LLVM", (row) => row.name),
				...this.llvmTimes(),
			],
		});
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
		const self = all.reduce((sum, row) => sum + cpuSelfOf(row), 0);
		const off = all.some((row) => row.self_cpu_ns !== undefined), sampled = rows.every((row) => row.self_by === "samples");
		const counted = rows.some((row) => row.executions !== null);
		const when = (row) => !sampled || this.model.longestOfItems.has(row.name);
		const extras = [["llvm_ns", "LLVM", knownTimeColumn], ["instances", "Instances", knownCountColumn]];
		return new DataTable({
			caption: "Items: all queries about each" + (sampled ? ", by samples" : markText(rows)) + llvmText(rows),
			rows, sort: 1 + counted + (!sampled && off), first: withLlvm,
			columns: [
				nameColumn("Item", (row) => row.name),
				...counted ? [itemExecutionsColumn()] : [],
				selfColumn(sampled ? CPU_TITLE : "Self", selfOf, "Of the queries about it", sampled),
				...off ? [selfColumn(CPU_TITLE, cpuSelfOf, "The part of the self time in which they ran")] : [],
				shareColumn(off || sampled ? "CPU %" : "Self %", cpuSelfOf, self),
				...extras.filter(([key]) => rows.some((row) => row[key]))
					.map(([key, title, column]) => column(title, (row) => row[key] || null)),
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
