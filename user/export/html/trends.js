// SPDX-License-Identifier: Apache-2.0 OR MIT
// The page of `history page`: the changes that were found, the chart of a trend, and all trends.

const METRIC_TITLES = {cpu: "CPU time", wall: "Wall time", count: "Executions", results: "Results",
	memory: "Peak memory"};
const COMMIT_SHOWN = 12;
const LEAST_RANGE = {true: 0.01, false: 0.1}; // the height of a chart, of what it shows; by exactness
const OUTER = 20; // one value in so many, at each end, may be an outlier
const CHART = {width: 1000, height: 300, left: 74, right: 12, top: 26, bottom: 24};
const POINT_PX = 3.2;

function valueText(trend, value) {
	if (value === null)
		return "-";
	return trend.metric === "count" || trend.metric === "results" ? formatCount(Math.round(value)) :
		trend.metric === "memory" ? formatBytes(Math.round(value)) : formatDuration(value);
}

function changeText(change) {
	if (change === null)
		return "new";
	const percent = Math.abs(change) * 100;
	return change >= 9 ? "×" + (change + 1).toPrecision(3) :
		(change < 0 ? "−" : "+") + percent.toFixed(percent >= 0.995 || !change ? 1 : 2) + " %";
}

function sureText(trend, change) {
	return trend.exact ? "exact" : change.confidence > 0.9999 ? "over 99.99 % sure" :
		Math.floor(change.confidence * 10000) / 100 + " % sure";
}

function subjectOf(trend) {
	const inner = trend.query || trend.item || trend.llvm;
	return inner ? inner + (trend.crate ? " in " + trend.crate : "") : trend.crate || "the build";
}

function kindOf(trend) {
	return trend.query ? "query or pass" : trend.item ? "item" : trend.llvm ? "in LLVM" : trend.crate ? "crate" : "build";
}

function commitText(build) {
	return build.commit === null ? "-" : shorten(build.commit).slice(0, COMMIT_SHOWN) + (build.dirty ? "+" : "");
}

function shape(tag, attributes, text) {
	const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	if (text !== undefined)
		made.textContent = text;
	return made;
}

// A range to draw the values in that count: noise does not fill it, and an outlier does not flatten the rest.
function rangeOf(trend) {
	const values = trend.points.filter((point) => point.counts).map((point) => point.value).sort((a, b) => a - b);
	const n = values.length, outer = Math.floor(n / OUTER);
	if (!n)
		return {low: 0, high: 1};
	const margin = (values[n - 1 - outer] - values[outer]) / 4;
	const low = Math.max(values[0], values[outer] - margin), high = Math.min(values[n - 1], values[n - 1 - outer] + margin);
	const least = LEAST_RANGE[trend.exact] * low || 1, more = Math.max(least - (high - low), 0) / 2;
	return {low: Math.max(low - more, 0), high: high + more};
}

function within(value, {low, high}) {
	return Math.min(Math.max(value, low), high);
}

function pathOf(points, x, y) {
	return points.filter((point) => point.counts)
		.map((point, i) => (i ? "L" : "M") + x(point.index).toFixed(1) + " " + y(point.value).toFixed(1)).join("");
}

function sparkOf(trend) {
	const range = rangeOf(trend), {low, high} = range, n = Math.max(trend.points.length - 1, 1);
	const x = (i) => 2 + 196 * i / n, y = (value) => 21 - 18 * (within(value, range) - low) / (high - low || 1);
	const made = shape("svg", {class: "spark", viewBox: "0 0 200 24", preserveAspectRatio: "none", role: "img",
		"aria-label": plural(trend.points.length, "build")});
	for (const change of trend.changes)
		made.append(shape("line", {class: "mark", x1: x(change.point), x2: x(change.point), y1: 0, y2: 24}));
	made.append(shape("path", {class: "line", d: pathOf(trend.points, x, y)}));
	return made;
}

class ChartView {
	constructor(root, page) {
		this.root = root;
		this.page = page;
	}

	show(trend) {
		const {root} = this;
		root.replaceChildren(
			element("h2", {id: "chart-title"}, `${METRIC_TITLES[trend.metric]} of ${shorten(subjectOf(trend))}`),
			this.drawing(trend), this.sentences(trend),
			...trend.notes.map((note) => element("p", {class: "note"}, shorten(note) + ".")),
			this.table(trend));
	}

	drawing(trend) {
		const {width, height, left, right, top, bottom} = CHART, range = rangeOf(trend), {low, high} = range;
		const n = Math.max(trend.points.length - 1, 1);
		const x = (i) => left + (width - left - right) * i / n;
		const y = (value) => height - bottom - (height - top - bottom) * (within(value, range) - low) / (high - low || 1);
		const made = shape("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
			"aria-labelledby": "chart-title"});
		for (const value of [low, (low + high) / 2, high])
			made.append(shape("line", {class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value)}),
				shape("text", {x: left - 6, y: y(value) + 4, "text-anchor": "end"}, valueText(trend, value)));
		this.dates(made, trend, x, height);
		for (const change of trend.changes)
			this.mark(made, trend, change, x, y);
		for (const point of trend.points)
			if (point.value !== null)
				made.append(this.point(trend, point, x, y, this.classOf(trend, point, range)));
		return made;
	}

	dates(made, trend, x, height) {
		const {points} = trend, last = points.length - 1;
		for (const [i, anchor] of last > 0 ? [[0, "start"], [last, "end"]] : [[0, "start"]])
			if (points[i])
				made.append(shape("text", {x: x(i), y: height - 6, "text-anchor": anchor},
					formatDate(points[i].build.start_ms).slice(0, 10)));
	}

	// The change, and the level before and after it.
	mark(made, trend, change, x, y) {
		const i = trend.changes.indexOf(change), before = trend.changes[i - 1], next = trend.changes[i + 1];
		const at = x(change.point), end = next ? next.former : trend.points.length - 1;
		made.append(shape("line", {class: "mark", x1: at, x2: at, y1: CHART.top - 6, y2: CHART.height - CHART.bottom}),
			shape("text", {class: "changed", x: at, y: CHART.top - 10,
				"text-anchor": at > CHART.width / 2 ? "end" : "start"},
			`${changeText(change.change)} ${commitText(trend.points[change.point].build)}`));
		for (const [from, to, level] of [[before ? before.point : 0, change.former, change.before],
			[change.point, end, change.after]])
			made.append(shape("path", {class: "level", d: `M${x(from)} ${y(level)}L${x(to)} ${y(level)}`}));
	}

	// A point that does not count, or is an outlier at the edge, is a ring.
	classOf(trend, point, range) {
		const changed = trend.changes.some((change) => change.point === point.index);
		const inside = within(point.value, range) === point.value;
		return "point" + (changed ? " changed" : point.counts && inside ? "" : " out");
	}

	point(trend, point, x, y, name) {
		const made = shape("circle", {class: name, cx: x(point.index).toFixed(1), cy: y(point.value).toFixed(1), r: POINT_PX});
		const {build} = point;
		const text = [valueText(trend, point.value), `${commitText(build)} ${build.branch || ""}`.trim(),
			formatDate(build.start_ms), build.toolchain, build.label, point.left_out && "not counted: " + point.left_out];
		made.addEventListener("pointermove", (event) => showTip(text.filter(Boolean).map(shorten).join("\n"), event));
		made.addEventListener("pointerleave", () => showTip(null));
		return made;
	}

	sentences(trend) {
		if (!trend.changes.length)
			return element("p", {class: "empty"}, "No change beyond noise was found.");
		return element("ul", {class: "changes-list"}, ...trend.changes.map((change) => {
			const now = trend.points[change.point].build, former = trend.points[change.former].build;
			return element("li", {}, element("span", {class: change.change < 0 ? "less-of" : "more-of"},
				changeText(change.change)), ` since ${commitText(now)} of ${formatDate(now.start_ms)}: ` +
				`${valueText(trend, change.after)}, before ${valueText(trend, change.before)}; ${sureText(trend, change)}. ` +
				`The last build before is of ${commitText(former)}.` +
				(change.other_toolchain ? ` The compiler is another one there: ${shorten(now.toolchain || "-")}.` : ""));
		}));
	}

	table(trend) {
		return new DataTable({
			caption: "Builds of this trend",
			columns: [
				nameColumn("Commit", (point) => commitText(point.build)),
				{title: "Date", value: (point) => point.build.start_ms, text: (point) => formatDate(point.build.start_ms),
					numeric: true},
				{title: METRIC_TITLES[trend.metric], value: (point) => point.value ?? -1,
					text: (point) => valueText(trend, point.value), numeric: true},
				nameColumn("Branch", (point) => point.build.branch || "-"),
				nameColumn("Compiler", (point) => point.build.toolchain || "-"),
				nameColumn("Not counted", (point) => point.left_out || ""),
			],
			rows: trend.points, sort: 1, perPage: 10,
		}).root;
	}
}

class TrendsPage {
	constructor(data) {
		this.trends = data.trends.map((trend) => this.read(trend, data.builds));
		this.chart = new ChartView(byId("chart"), this);
		this.head(data);
		this.changes();
		this.all();
		addEventListener("hashchange", () => this.openFromAddress());
		addEventListener("keydown", (event) => event.key === "Escape" && showTip(null));
		this.openFromAddress();
	}

	read(trend, builds) {
		const points = trend.points.map(([build, value, left_out], index) => ({
			build: builds[build], value, left_out, index, counts: left_out === null && value !== null}));
		return {...trend, points};
	}

	head(data) {
		const {builds} = data, day = (build) => formatDate(build.start_ms).slice(0, 10);
		const facts = [["Builds", formatCount(builds.length)], ["Branch", data.branch || "any"],
			["Compiler", data.toolchain || "any"], ["History", data.store]];
		if (builds.length)
			facts.splice(1, 0, ["From", day(builds[0])], ["To", day(builds[builds.length - 1])]);
		byId("facts").append(...facts.map(([title, text]) =>
			element("div", {}, element("dt", {}, title), element("dd", {}, shorten(text)))));
	}

	changes() {
		const rows = this.trends.flatMap((trend) => trend.changes.map((change) => ({trend, change})));
		const root = byId("changes");
		root.append(element("h2", {}, "What changed, and since which commit"));
		if (!rows.length) {
			root.append(element("p", {class: "empty"}, "No change beyond noise was found in these trends."));
			return;
		}
		const build = ({trend, change}) => trend.points[change.point].build;
		root.append(new DataTable({
			caption: "Changes, the largest first",
			columns: [
				{title: "Of", value: ({trend}) => subjectOf(trend), does: ({trend}) => () => this.open(trend)},
				nameColumn("Kind", ({trend}) => kindOf(trend)),
				nameColumn("Number", ({trend}) => METRIC_TITLES[trend.metric]),
				{title: "Change", value: ({change}) => Math.abs(change.change ?? Infinity), numeric: true,
					text: ({change}) => changeText(change.change)},
				{title: "Before", value: ({change}) => change.before, numeric: true,
					text: ({trend, change}) => valueText(trend, change.before)},
				{title: "After", value: ({change}) => change.after, numeric: true,
					text: ({trend, change}) => valueText(trend, change.after)},
				nameColumn("Since", (row) => commitText(build(row))),
				{title: "Date", value: (row) => build(row).start_ms, numeric: true,
					text: (row) => formatDate(build(row).start_ms)},
				nameColumn("Sure", ({trend, change}) => sureText(trend, change)),
			],
			rows, sort: 3, perPage: 10,
		}).root);
	}

	all() {
		const newest = (trend) => trend.points.findLast((point) => point.counts)?.value ?? null;
		byId("all").append(element("h2", {}, "All trends"), new DataTable({
			caption: "The build, its crates, and queries of all crates",
			columns: [
				{title: "Of", value: subjectOf, does: (trend) => () => this.open(trend)},
				nameColumn("Kind", kindOf),
				nameColumn("Number", (trend) => METRIC_TITLES[trend.metric]),
				{title: "Newest", value: (trend) => newest(trend) ?? -1, numeric: true,
					text: (trend) => valueText(trend, newest(trend))},
				{title: "Changes", value: (trend) => trend.changes.length, numeric: true},
				{title: "Trend", value: (trend) => trend.points.length, node: sparkOf},
			],
			rows: this.trends, sort: 4, perPage: 25,
		}).root);
	}

	open(trend) {
		const address = "#" + this.trends.indexOf(trend);
		if (location.hash !== address)
			location.hash = address;
		else
			this.chart.show(trend);
	}

	openFromAddress() {
		const trend = this.trends[Number(location.hash.slice(1)) || 0];
		showTip(null);
		if (!trend)
			return;
		this.chart.show(trend);
		say(byId("chart-title").textContent);
		if (location.hash)
			byId("chart").scrollIntoView({block: "nearest"});
	}
}

async function main() {
	const loading = byId("loading");
	try {
		globalThis.app = new TrendsPage(await readDocument("trends"));
		byId("page").hidden = false;
		loading.remove();
		document.documentElement.dataset.ready = Math.round(performance.now());
	} catch (error) {
		loading.textContent = "This page cannot be shown: " + error.message +
			(globalThis.DecompressionStream ? "" : " (it needs Chromium 80, Firefox 113, Safari 16.4, or later)");
		throw error;
	}
}

main();
