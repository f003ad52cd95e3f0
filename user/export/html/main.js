// SPDX-License-Identifier: Apache-2.0 OR MIT
// The page as a whole: its head, its tabs, and changes from one view to another.

// By name; the address may contain it.
const VIEWS = new Map([["summary", SummaryView], ["timeline", TimelineView], ["queries", QueriesView],
	["tables", TablesView], ["flame", FlameView]]);

class App {
	constructor(model) {
		this.model = model;
		this.views = {};
		this.waiting = null; // to be done when the intervals have been read
		this.tabs = Array.from(VIEWS.keys(), (name) => byId("tab-" + name));
		for (const tab of this.tabs)
			tab.addEventListener("click", () => this.open(tab.id.slice(4)));
		byId("tabs").addEventListener("keydown", (event) => this.key(event));
		addEventListener("hashchange", () => this.openFromAddress());
		addEventListener("keydown", (event) => event.key === "Escape" && showTip(null));
		this.head();
		this.notes();
		this.openFromAddress();
	}

	// ---- Tabs -----------------------------------------------------------------------------------

	openFromAddress() {
		const name = location.hash.slice(1);
		this.open(VIEWS.has(name) ? name : "summary");
	}

	open(name) {
		for (const tab of this.tabs) {
			const is = tab.id === "tab-" + name;
			tab.setAttribute("aria-selected", is);
			tab.tabIndex = is ? 0 : -1;
			byId("view-" + tab.id.slice(4)).hidden = !is;
		}
		showTip(null);
		// So that the browser's Back leads to the view before.
		if (location.hash.slice(1) !== name)
			history[this.opened ? "pushState" : "replaceState"](null, "", "#" + name);
		this.opened = true;
		this.waiting = null;
		if (name !== "summary" && !this.model.isComplete) {
			this.waiting = () => this.open(name);
			return null;
		}
		this.views[name] = this.views[name] || this.make(name, byId("view-" + name));
		this.views[name].show();
		return this.views[name];
	}

	// Open a view and do something in it: now, or when the intervals have been read.
	soon(does) {
		if (this.model.isComplete)
			return does();
		this.open("timeline");
		this.waiting = does;
	}

	// The model is complete.
	complete() {
		const does = this.waiting;
		this.waiting = null;
		if (does)
			does();
	}

	// An empty page explains why it is empty, and what to do.
	make(name, root) {
		const {report, processes, about} = this.model;
		const has = {
			summary: report.build.compiles || report.queries.length,
			timeline: about.spans || about.memory.length,
			queries: about.spans,
		}[name] ?? report.queries.length;
		if (has)
			return new (VIEWS.get(name))(root, this.model, this);
		const texts = report.samples && !about.left_out && report.queries.length ?
			["No interval was recorded.", "Summary, tables and flame graphs are by samples. A recording with events, " +
				"as without “-e none”, shows intervals, too."] :
			report.queries.length ?
			["No interval is in this page.", "Summary, tables and flame graph are of the whole trace. A page " +
				"with a larger --max-size shows intervals, too."] :
			processes.length ?
				["No query was executed.", `${plural(processes.length, "compiler")} ran, and compiled nothing: ` +
					"version checks (“rustc --version”) and cargo's other questions do not."] :
				["No compiler was recorded.", "The command did not run rustc. What cargo " +
					"finds up to date it does not compile again: touch a source file, or remove the target " +
					"directory, and record again."];
		root.append(element("p", {class: "empty"}, element("strong", {}, texts[0]), texts[1]));
		return {show() {}};
	}

	key(event) {
		const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
		if (!by)
			return;
		const at = this.tabs.indexOf(document.activeElement), n = this.tabs.length;
		const tab = this.tabs[(at + by + n) % n];
		this.open(tab.id.slice(4));
		tab.focus();
	}

	// ---- From view to view ----------------------------------------------------------------------

	showSpan(i) {
		const timeline = this.open("timeline");
		timeline.reveal(i);
		timeline.canvas.focus();
	}

	showName(name) {
		const timeline = this.open("timeline");
		timeline.find.set(name, Search.ofName(this.model, name));
		timeline.find.step(1);
		timeline.canvas.focus();
	}

	// The longest execution about an item, in the timeline or the trace of queries.
	showItem(path, name) {
		const i = this.model.longestOfItems.get(path), view = this.open(name);
		if (i === undefined)
			return say("No execution about this item is in this page.");
		if (name === "queries")
			view.choose(this.model.process(i).index);
		view.find.set(path, Search.ofItem(this.model, path));
		view.find.step(1);
		if (name === "timeline")
			view.canvas.focus();
	}

	// All compiles of a name, which is in their titles before the pid.
	showCrate(name) {
		const processes = this.model.processes.filter((p) => p.end >= p.start &&
			p.title.replace(/ \(\d+\)$/, "") === name);
		const timeline = this.open("timeline");
		if (processes.length)
			timeline.revealProcesses(processes);
	}

	// One compiler in the timeline.
	showProcess(process) {
		const timeline = this.open("timeline");
		if (process.end < process.start)
			return say("No interval of this compiler is in this page.");
		timeline.revealProcesses([process]);
		timeline.canvas.focus();
	}

	showTree(i) {
		this.open("queries").reveal(i);
	}

	// ---- The top of the page --------------------------------------------------------------------

	head() {
		const {about, report, processes} = this.model, {crates} = report.build;
		const title = crates.length === 1 ? crates[0].name : crates.length ? plural(crates.length, "crate") :
			processes.length ? plural(processes.length, "compiler") : "nothing recorded";
		document.title = `${shorten(title)} — qprof-bpf`;
		byId("title").textContent = `Where the compiler’s time went: ${shorten(title)}`;
		const rustc = [...new Set(processes.map((p) => p.rustc_version).filter(Boolean))].join(", ");
		const facts = [
			["Compiler", shorten(rustc)],
			["Recorded", about.realtime_start_ms ? formatDate(about.realtime_start_ms) : ""],
			["Intervals in this page", about.spans || !report.samples ? formatCount(about.spans) : ""],
		];
		byId("facts").append(...facts.filter(([, value]) => value)
			.map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, value))));
		byId("privacy").textContent = about.privacy.replace("this file", "This page") +
			`. It loads nothing from the network. Made by ${about.tool} of a trace from ${about.host}.`;
	}

	// Notes on the accuracy of the numbers.
	notes() {
		const {about, report} = this.model, {probes} = report;
		const notes = [
			about.chosen && "This page has only the compilers that --crate or --process chose.",
			about.note && `This page is reduced: ${about.note}. Boxes and intervals are only those in it; ` +
				"summary, tables and flame graph are of the whole trace.",
			about.adjusted && `${plural(about.adjusted, "interval")} overlapped others without being in them, ` +
				"and were cut.",
			report.problem && `The trace is not whole: ${report.problem}. The page shows what could be read.`,
			report.lost && `${plural(report.lost, "record")} were lost while it was recorded.`,
			report.samples && !about.spans && "No interval was recorded: times are by samples, and the number of " +
				`executions is ${report.query_executions ? "that of the compilers’ own tables" : "unknown"}.`,
			this.model.samplesQueries && about.spans && "Times of queries are by samples, and their executions are counted " +
				"by the compilers’ own tables. Build timeline and trace of queries have the passes" + (about.sampled ?
					", and of the queries the executions that several samples met, from the first sample to the last" : "") +
				"; --exact records each execution, and hits.",
		];
		byId("notes").append(...notes.filter(Boolean).map((text) => element("p", {class: "note"}, text)));
		if (about.spans && report.queries.length && probes && probes.taken_off)
			byId("privacy").before(element("p", {}, "Summary, tables and flame graph are without the time that the " +
				"probes took; single intervals (timeline, trace of queries) are as they were measured."));
	}
}

// Let the browser draw what is there. In a tab that is not shown no frame comes.
function painted() {
	return new Promise((done) => {
		requestAnimationFrame(() => setTimeout(done));
		setTimeout(done, 200);
	});
}

async function main() {
	const {dataset} = document.documentElement, loading = byId("loading");
	try {
		const model = new Model(await readSums());
		const app = globalThis.app = new App(model);
		byId("page").hidden = false;
		loading.textContent = "Reading the intervals of this page …";
		// For tests: what is there, and how long it took.
		dataset.summary = Math.round(performance.now());
		await painted();
		model.complete(await readIntervals(model.about));
		app.complete();
		loading.remove();
		dataset.ready = Math.round(performance.now());
	} catch (error) {
		loading.textContent = (globalThis.app ? "The intervals of this page" : "This page") +
			" cannot be shown: " + error.message +
			(globalThis.DecompressionStream ? "" : " (it needs Chromium 80, Firefox 113, Safari 16.4, or later)");
		throw error;
	}
}

main();
