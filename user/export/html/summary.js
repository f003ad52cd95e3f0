// SPDX-License-Identifier: Apache-2.0 OR MIT
// The first view: what the build cost, what kept it from being faster, its crates, and the queries and items
// that cost most. It is made of `report` and `about` alone, so it is there before the intervals are read.

const MOST_EXPENSIVE = 10; // items, and queries
const CRATES_IN_SIGHT = 25; // of more, a filter finds one
const STEPS_SHOWN = 5; // of the critical path, at once
const NAMED = 3; // crates that a sentence names
const INTERRUPTED = 5; // threads of killed compilers
const OPEN_SHOWN = 3; // intervals that such a thread was in
const LEAST_SHARE = 0.01; // of the build: less is not worth a sentence
const PARTS = [["front_end_ns", "front end", "front"], ["codegen_ns", "codegen", "codegen"], ["link_ns", "link", "link"]];
// Of the critical path.
const PART_TEXTS = new Map([["front_end", "front end"], ["codegen", "codegen"], ["link", "link"], ["exit", "exit"],
	["compile", "compile"], ["build_script_run", "build script runs"]]);
const PART_CLASSES = new Map([["front_end", "front"], ["codegen", "codegen"], ["link", "link"], ["compile", "front"],
	["build_script_run", "script"]]);
const SIGNALS = new Map([[2, "SIGINT"], [3, "SIGQUIT"], [4, "SIGILL"], [6, "SIGABRT"], [7, "SIGBUS"], [8, "SIGFPE"],
	[9, "SIGKILL"], [11, "SIGSEGV"], [13, "SIGPIPE"], [15, "SIGTERM"], [24, "SIGXCPU"], [25, "SIGXFSZ"]]);

const UNENDED = "not seen";

// How a compile that did not end well did; "" if it did.
function endOf({process: p}) {
	if (!p || p.exit === 0)
		return "";
	if (p.killed_for_memory)
		return "killed for want of memory";
	return p.signal ? SIGNALS.get(p.signal) || "signal " + p.signal : p.exit === null ? UNENDED : "failed";
}

class SummaryView {
	constructor(root, model, app) {
		Object.assign(this, {model, app, build: model.report.build});
		this.crates = this.build.crates.map((row) => ({...row, process: this.processOf(row)}));
		root.append(this.figures(), this.interruptions(), this.reasons(), this.crateTable(), this.lists());
	}

	show() {}

	// The compiler of a row, by its pid; a pid can be used again in a long build.
	processOf({pid, crate, wall_ns: wall}) {
		const those = this.model.processes.filter((p) => p.pid === pid);
		return those.find((p) => p.end_ns - p.start_ns === wall) || those.find((p) => p.crate === crate) || those[0];
	}

	// A button that leads to a crate in the timeline, or its name if the page has no interval.
	crateLink(row) {
		const name = shorten(row.name);
		if (!this.model.about.spans || !row.process)
			return element("strong", {}, name);
		return button(name, () => this.showCrate(row), {class: "link"});
	}

	// The action of a click on a name, if the page has intervals.
	does(what) {
		return (row) => this.model.about.spans ? () => what(row) : null;
	}

	showCrate(row) {
		this.app.soon(() => this.app.showProcess(row.process));
	}

	// ---- Figures --------------------------------------------------------------------------------

	figures() {
		const {build} = this, {compiles, failed, killed, unended, killed_for_memory: memory} = build;
		const kills = memory ? `killed, ${formatCount(memory)} of them for want of memory` : "killed";
		const endings = [[failed, "failed"], [killed, kills], [unended, "not seen to end"], [build.cached, "from a cache"]]
			.filter(([n]) => n).map(([n, text]) => `${formatCount(n)} ${text}`);
		const figures = [
			["Wall time", (unended ? "≥ " : "") + formatDuration(build.wall_ns), compiles > 1 ?
				"from the first compiler to the last" : "of the compiler"],
			this.cpuFigure(),
			compiles > 1 || endings.length ? ["Crates compiled", formatCount(compiles), endings.join(", ")] : null,
			this.parallelFigure(),
			this.memoryFigure(),
			this.costFigure(),
			this.countFigure(),
		];
		return element("dl", {class: "figures"}, ...figures.filter(Boolean).map(([title, value, note]) =>
			element("div", {}, element("dt", {}, title), element("dd", {}, value),
				note ? element("dd", {class: "note-of"}, note) : null)));
	}

	cpuFigure() {
		const {cpu_ns: cpu} = this.build, {cost} = this.model.report;
		return cpu === null ? null : ["CPU time", formatDuration(cpu),
			"of the compilers" + (cost && cost.in_compilers_ns !== null ? ", without what recording added" : "")];
	}

	parallelFigure() {
		const {running, compilers_ns: all, wall_ns: wall, compiles} = this.build;
		const most = running.reduce((most, {compilers, ns}) => ns ? Math.max(most, compilers) : most, 0);
		return compiles > 1 && wall ? ["Compilers at once", (all / wall).toFixed(2), `on average, ${most} at most`] : null;
	}

	memoryFigure() {
		const most = this.crates.reduce((most, row) => (row.peak_bytes || 0) > (most?.peak_bytes || 0) ? row : most, null);
		return most ? ["Peak memory", formatBytes(most.peak_bytes),
			this.crates.length > 1 ? `of one compiler: ${shorten(most.name)}` : "of the compiler"] : null;
	}

	costFigure() {
		const {probes, cost} = this.model.report, {cpu_ns: cpu} = this.build;
		if (cost && cost.share_of_cpu !== null)
			return ["Recording cost", formatPercent(cost.share_of_cpu, 1), `of the compilers’ CPU time: ` +
				`${this.time(cost.added_ns)} more than ${this.time(cost.cpu_ns)}`];
		if (!probes || !probes.probe_ns)
			return null;
		return cpu ? ["Probes cost", formatPercent(probes.probe_ns, cpu), `of the CPU time, ${this.time(probes.probe_ns)}`] :
			["Probes cost", formatDuration(probes.probe_ns), ""];
	}

	countFigure() {
		const {report} = this.model, {activities} = report;
		const {query_executions: executed, unsure_results: unsure} = report;
		return executed ? ["Queries executed", (unsure ? "≥ " : "") + formatCount(executed), activities ? plural(activities, "activity", "activities") : ""] :
			report.samples ? ["Samples", formatCount(report.samples.n), "no query was probed"] : null;
	}

	// ---- What kept it from being faster ---------------------------------------------------------

	reasons() {
		const path = this.path(); // which has the time without a compiler
		const texts = [this.alone(), path.length ? null : this.idle(), this.parts(), this.shares(), this.noLlvm(),
			this.preempted(), this.blocked(), this.reused()].filter(Boolean);
		return texts.length || path.length ? element("section", {class: "reasons"},
			element("h2", {}, this.build.compiles > 1 ? "What kept it from being faster" : "Where its time went"), ...path,
			element("ul", {}, ...texts.map((parts) => element("li", {}, ...parts)))) : "";
	}

	// The compiles, and the parts of them, that each moment of the build waited for.
	path() {
		const {critical_path: path, compiles} = this.build;
		const isPart = path?.steps.some(({chosen}) => chosen !== undefined); // of a larger build
		const steps = path && (compiles > 1 || isPart) ? path.steps.filter(({part}) => part !== "other") : [];
		if (!steps.length)
			return [];
		const crateOf = (step) => this.crates.find((row) => row.pid === step.pid && row.name === step.name);
		const isKnown = (step) => this.model.about.spans && crateOf(step)?.process;
		const [name, ...others] = path["@steps"].map((description) => describedColumn(description, steps));
		return [this.pathStrip(path), this.pathLegend(steps), new DataTable({
			caption: "The critical path: what the build waited for, from its start to its end",
			rows: steps, sort: 3, perPage: STEPS_SHOWN, bare: true, filter: false,
			columns: [
				{...name, value: (step) => (step.chosen ? "▸ " : "") + step.name,
					does: (step) => isKnown(step) ? () => this.showCrate(crateOf(step)) : null},
				...others,
			],
		}).root, element("p", {class: "legend"}, this.pathNotes(path) +
			(isPart ? " It is that of the whole build; ▸ marks what was chosen of it." : ""))];
	}

	// The steps side by side, in the order of time.
	pathStrip({steps, wall_ns: wall}) {
		const strip = element("span", {class: "bar", "aria-hidden": "true"});
		for (const {name, part: what, ns} of steps) {
			const text = what === "other" ? "no compiler worked" : `${shorten(name)}: ${PART_TEXTS.get(what) || what}`;
			const part = element("span", {class: "part step " + (PART_CLASSES.get(what) || ""),
				title: `${text}, ${formatDuration(ns)}`});
			part.style.flexGrow = 1000 * ns / wall;
			strip.append(part);
		}
		return strip;
	}

	pathLegend(steps) {
		const used = new Set(steps.map(({part}) => PART_CLASSES.get(part)));
		const texts = [...PARTS.map(([, text, kind]) => [text, kind]), ["a build script runs", "script"]];
		return element("p", {class: "legend"}, ...texts.filter(([, kind]) => used.has(kind)).map(([text, kind]) =>
			element("span", {}, element("span", {class: "sample " + kind}), " " + text)));
	}

	pathNotes({jobs, unlimited_ns: unlimited, scheduled_ns: scheduled, steps, cut_commands: cut}) {
		const other = steps.reduce((sum, {part, ns}) => sum + (part === "other" ? ns : 0), 0);
		const more = unlimited * 1.01 < scheduled ? `With any number of compilers at once the build would take ` +
			`${this.time(unlimited)} instead of ${this.time(scheduled)}.` : "More compilers at once would save nothing.";
		return `“Saves” is computed for ${plural(jobs, "compiler")} at once. ${more}` +
			(other ? ` For ${this.time(other)} the build waited for no compiler.` : "") +
			(cut ? ` Not all arguments of ${plural(cut, "compile")} could be read, which may have waited for more.` : "");
	}

	isMuch(ns, whole = this.build.wall_ns) {
		return ns > 0 && ns >= LEAST_SHARE * whole;
	}

	// "x", "x and y", or "x, y and z", of elements.
	listed(elements) {
		return elements.flatMap((each, i) => i === 0 ? [each] : [i + 1 < elements.length ? ", " : " and ", each]);
	}

	// The longest of the crates, with the time of each.
	longest(value) {
		const rows = this.crates.filter((row) => value(row) > 0).sort((a, b) => value(b) - value(a)).slice(0, NAMED);
		return this.listed(rows.map((row) => element("span", {}, this.crateLink(row), ` (${this.time(value(row))})`)));
	}

	// Without a line's end between a number and its unit.
	time(ns) {
		return formatDuration(ns).replace(" ", "\u00a0");
	}

	share(ns, whole) {
		return `${this.time(ns)} (${formatPercent(ns, whole).replace(" ", "\u00a0")})`;
	}

	// Killed compilers, with what their threads were in.
	interruptions() {
		const all = this.build.interrupted.map((thread) => {
			const open = thread.open.slice(0, OPEN_SHOWN).map(({name, ns}) => `${shorten(name)} (${this.time(ns)})`);
			const ending = thread.signal === null ? "was still running, or its end was not seen" :
				thread.killed_for_memory ? "was killed for want of memory" :
				`was killed by ${SIGNALS.get(thread.signal) || "signal " + thread.signal}`;
			return [element("strong", {}, shorten(thread.name)),
				` ${ending}. Its thread ${shorten(thread.thread || String(thread.tid))} was in ${open.join(", in ")}.`];
		});
		const rest = all.splice(INTERRUPTED).length;
		if (rest)
			all.push([`${plural(rest, "more thread")} of such compilers ran something.`]);
		return all.length ? element("section", {class: "reasons"}, element("h2", {}, "What was interrupted"),
			element("ul", {}, ...all.map((parts) => element("li", {}, ...parts)))) : "";
	}

	alone() {
		const {running, wall_ns: wall, compiles, tail_ns: tail} = this.build;
		const one = running.find(({compilers}) => compilers === 1);
		if (compiles < 2 || !one || !this.isMuch(one.ns))
			return null;
		const end = this.isMuch(tail) ? ` It was one at a time for the last ${this.time(tail)}.` : "";
		return [`Only one compiler ran for ${this.share(one.ns, wall)}: `, ...this.longest((row) => row.alone_ns), "." + end];
	}

	idle() {
		const {running, wall_ns: wall, compiles} = this.build, none = running.find(({compilers}) => compilers === 0);
		return compiles > 1 && none && this.isMuch(none.ns) ?
			[`No compiler ran for ${this.share(none.ns, wall)}: build scripts, the build tool itself, or what else the ` +
				"command did."] : null;
	}

	// How long compiles were in their parts, and a bar of them.
	parts() {
		const sums = PARTS.map(([key]) => this.crates.reduce((sum, row) => sum + (row[key] || 0), 0));
		const whole = sums.reduce((sum, ns) => sum + ns, 0);
		if (!whole)
			return null;
		const texts = PARTS.flatMap(([, text], k) => sums[k] ? [`${text} ${this.share(sums[k], whole)}`] : []);
		return [this.crates.length > 1 ? "The compiles together: " : "The compile: ", texts.join(", "), ".",
			this.bar(sums, whole)];
	}

	// By samples, which also show LLVM.
	shares() {
		const {sampled} = this.build;
		const parts = sampled ? [["front_end_ns", "front end"], ["codegen_ns", "codegen"], ["llvm_ns", "LLVM"],
			["unknown_ns", "unknown"]].filter(([key]) => sampled[key]) : [];
		const whole = parts.reduce((sum, [key]) => sum + sampled[key], 0);
		return whole ? ["CPU time by samples: ", parts.map(([key, text]) => `${text} ${this.share(sampled[key], whole)}`)
			.join(", "), "."] : null;
	}

	noLlvm() {
		const {llvm} = this.model.report;
		return llvm?.why_unknown && !llvm.known ? [`LLVM’s passes and functions are not known: ${llvm.why_unknown}.`] : null;
	}

	preempted() {
		const {preempted_ns: ready, cpu_ns: cpu} = this.build;
		return ready && this.isMuch(ready, cpu + ready) ?
			[`Threads were ready but waiting for a CPU for ${this.time(ready)}, and ran for ${this.time(cpu)}.`] :
			null;
	}

	blocked() {
		const {blocked_ns: ns} = this.build;
		return this.isMuch(ns) ? [`Threads waited ${this.time(ns)} for queries that another thread executed.`] : null;
	}

	reused() {
		const {incremental: reuse} = this.build;
		return reuse ? [`${plural(reuse.executed, "query execution")} in ${plural(reuse.compiles, "incremental compile")}` +
			(reuse.loaded === null ? "." : `; ${plural(reuse.loaded, "result")} came from the last build.`)] : null;
	}

	// ---- Crates ---------------------------------------------------------------------------------

	// Stacked parts of a compile. Numbers stand beside it, so readers of text skip it.
	bar(parts, whole) {
		const bar = element("span", {class: "bar", "aria-hidden": "true"});
		parts.forEach((ns, k) => {
			const part = element("span", {class: "part " + PARTS[k][2]});
			part.style.width = 100 * ns / whole + "%";
			bar.append(part);
		});
		return bar;
	}

	crateTable() {
		const {crates} = this, longest = crates.reduce((most, row) => Math.max(most, row.wall_ns), 1);
		if (!crates.length)
			return "";
		const columns = describedColumns(this.build["@crates"], crates).filter(({key}) => crates.length > 1 || key !== "alone_ns");
		const known = columnAt(columns, ...PARTS.map(([key]) => key)) >= 0;
		columns[0].does = this.does((row) => this.showCrate(row));
		columns.splice(Math.max(columnAt(columns, "wall_ns"), 0) + 1, 0,
			...crates.some(endOf) ? [{title: "End", value: endOf}] : [],
			...known ? [{title: "Parts", value: (row) => row.wall_ns, isPicture: true,
				node: (row) => this.bar(PARTS.map(([key]) => row[key] || 0), longest)}] : []);
		return element("section", {}, element("h2", {}, crates.length > 1 ? "Crates" : "Crate"), known ? this.partsLegend() : null,
			new DataTable({
				caption: "What was compiled, " + (crates.some(endOf) ? "first what did not end well, then the longest" :
					"the longest first") + (this.model.about.spans ? "; a name leads to the timeline" : ""),
				rows: crates, sort: 1, first: (row) => endOf(row) !== "", bare: true, filter: crates.length > CRATES_IN_SIGHT,
				columns,
			}).root);
	}

	partsLegend() {
		return element("p", {class: "legend"}, ...PARTS.map(([, text, kind]) =>
			element("span", {}, element("span", {class: "sample " + kind}), " " + text)));
	}

	// ---- What cost most -------------------------------------------------------------------------

	lists() {
		return element("div", {class: "most"}, this.items(), this.queries());
	}

	ten(rows, value) {
		return rows.slice().sort((a, b) => value(b) - value(a)).slice(0, MOST_EXPENSIVE).filter((row) => value(row) > 0);
	}

	// The table of a list has these of the report's columns: the name, what it cost, and more.
	most(list, rows, title, ...more) {
		const columns = describedColumns(this.model.report["@" + list], rows);
		const of = (...keys) => columns.filter(({key}) => keys.includes(key));
		return [{...columns[0], title}, ...of(SELF, ON_CPU).slice(-1), ...more.flatMap((key) => of(key))];
	}

	// Where the time on the CPU is known, a query that waits is not expensive.
	queries() {
		const rows = this.ten(this.model.report.queries, cpuSelfOf);
		if (!rows.length)
			return "";
		const columns = this.most("queries", rows, "Query or pass", SHARE, "@off the CPU", "@executions");
		columns[0].does = (row) => isShown(row) ? this.does(() => this.app.soon(() => this.app.showName(row.name)))(row) : null;
		return element("section", {}, element("h2", {}, "Queries that cost most"), new DataTable({
			caption: (columns[1].key === ON_CPU ? "By time on the CPU, without the queries that they called" :
				"By self time: without the queries that they called") + markText(columns), rows, sort: 1, bare: true, filter: false,
			columns,
		}).root);
	}

	// Of the crates that the user works on, if there are such: of other crates nothing can be changed.
	items() {
		const own = new Set(this.model.processes.filter((p) => p.own && p.crate).map((p) => p.crate));
		const all = (this.model.report.items || []).filter((row) => row.name !== null);
		const mine = all.filter((row) => own.has(row.name.split("::")[0]));
		const rows = this.ten(mine.length ? mine : all, withLlvm), sampled = all.every((row) => row.self_by === "samples");
		if (!rows.length)
			return "";
		const columns = this.most("items", rows, "Item", "llvm_ns");
		columns[0].does = sampled ? undefined : this.does((row) => this.app.soon(() => this.app.showItem(row.name, "timeline")));
		return element("section", {}, element("h2", {}, "Items that cost most"), new DataTable({
			caption: (mine.length && mine.length < all.length ? "Functions, types and modules of your own crates" :
				"Functions, types and modules") + `, with all queries about each${sampled ? ", by samples" : markText(columns)}` + llvmText(columns),
			rows, sort: 1, first: withLlvm, bare: true, filter: false,
			columns: [
				...columns,
				{title: "Most in", value: (row) => row.queries[0]?.name || ""},
				...this.model.places.size ? [placeColumn(this.model)] : [],
			],
		}).root);
	}
}
