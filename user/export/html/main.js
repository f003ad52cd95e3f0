// SPDX-License-Identifier: Apache-2.0 OR MIT
// The page as a whole: what it says at its top, its tabs, and the way from one view to another.

const VIEWS = {queries: QueriesView, timeline: TimelineView, tables: TablesView, flame: FlameView};

class App {
	constructor(model) {
		this.model = model;
		this.views = {};
		this.tabs = Object.keys(VIEWS).map((name) => byId("tab-" + name));
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
		this.open(VIEWS[name] ? name : "queries");
	}

	open(name) {
		for (const tab of this.tabs) {
			const is = tab.id === "tab-" + name;
			tab.setAttribute("aria-selected", is);
			tab.tabIndex = is ? 0 : -1;
			byId("view-" + tab.id.slice(4)).hidden = !is;
		}
		showTip(null);
		this.views[name] = this.views[name] || new VIEWS[name](byId("view-" + name), this.model, this);
		this.views[name].show();
		if (location.hash.slice(1) !== name)
			history.replaceState(null, "", "#" + name);
		return this.views[name];
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
		const i = this.model.longest(name), timeline = this.open("timeline");
		timeline.findName(name);
		if (i >= 0)
			timeline.reveal(i);
		timeline.canvas.focus();
	}

	// A crate's compilers; what has no crate goes by its command, as in the table.
	showCrate(name) {
		const processes = this.model.processes.filter((p) => p.end >= p.start &&
			(p.crate === name || !p.crate && (p.command || "").startsWith(name)));
		const timeline = this.open("timeline");
		if (processes.length)
			timeline.revealProcesses(processes);
	}

	showTree(i) {
		this.open("queries").reveal(i);
	}

	// ---- The top of the page --------------------------------------------------------------------

	head() {
		const {about, report, processes, start, end} = this.model;
		const crates = [...new Set(processes.map((p) => p.crate).filter(Boolean))];
		const title = crates.length === 1 ? crates[0] : plural(crates.length, "crate");
		document.title = `${title} — qprof-bpf`;
		byId("title").textContent = `Where the compiler’s time went: ${title}`;
		const executions = report.queries.reduce((sum, row) => sum + row.count, 0);
		const rustc = [...new Set(processes.map((p) => p.rustc_version).filter(Boolean))].join(", ");
		const facts = [
			["Compilers", formatCount(processes.length)],
			["Time span", formatDuration(end - start)],
			["Executions", formatCount(executions)],
			["Intervals in this page", formatCount(about.spans)],
			["Self time", formatDuration(report.queries.reduce((sum, row) => sum + row.self_ns, 0))],
			["Compiler", rustc],
			["Recorded", about.realtime_start_ms ? formatDate(about.realtime_start_ms) : ""],
		];
		byId("summary").append(...facts.filter(([, value]) => value)
			.map(([key, value]) => element("div", {}, element("dt", {}, key), element("dd", {}, value))));
		byId("privacy").textContent = about.privacy.replace("this file", "This page") +
			`. It loads nothing. Made by ${about.tool} of a trace from ${about.host}.`;
	}

	// What one has to know before one believes a number.
	notes() {
		const {about, report} = this.model, {probes} = report;
		const unrecorded = report.queries.reduce((sum, row) => sum + (row.counted || 0) + (row.estimated || 0), 0);
		const others = (report.budget?.others || []).map((row) => row.name === "<all>" ? row.kind : row.name);
		const notes = [
			about.note && `This page is reduced: ${about.note}. Extents count only what is in it; tables and ` +
				"flame graph are of the whole trace.",
			about.adjusted && `${plural(about.adjusted, "interval")} overlapped others without being in them, ` +
				"and were cut.",
			report.problem && `The trace is not whole: ${report.problem}. The page shows what could be read.`,
			report.lost && `${plural(report.lost, "record")} were lost while it was recorded.`,
			unrecorded && `To keep within a budget, ${plural(unrecorded, "execution")} were counted or estimated, ` +
				"not recorded: they have no interval, and the times of who called them have theirs.",
			others.length && "To keep within a budget, these were not watched all the time, and what there was " +
				`of them is missing: ${others.join(", ")}.`,
			probes && probes.taken_off && "Tables and flame graph are without what the probes took; single " +
				"intervals (trace of queries, timeline) are as they were measured.",
		];
		byId("notes").append(...notes.filter(Boolean).map((text) => element("p", {class: "note"}, text)));
	}
}

async function main() {
	try {
		const model = new Model(await readPage());
		byId("page").hidden = false;
		byId("loading").remove();
		globalThis.app = new App(model);
		// For tests: everything is there, and how long it took.
		document.documentElement.dataset.ready = Math.round(performance.now());
	} catch (error) {
		byId("loading").textContent = "This page cannot be shown: " + error.message +
			(globalThis.DecompressionStream ? "" : " (it needs Chromium 80, Firefox 113, Safari 16.4, or later)");
		throw error;
	}
}

main();
