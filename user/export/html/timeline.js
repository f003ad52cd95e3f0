// SPDX-License-Identifier: Apache-2.0 OR MIT
// The build on a time axis: processes, their threads, and in each thread a lane for each depth. Names
// are on the left. A folded process is one row: the intervals of its first thread on a bar of its run time.
// An unfolded one also has a curve of the memory that it has touched, where page faults were sampled.
//
// Pixels bound the work of a frame, not intervals: in a lane, bisection skips all intervals that end
// within the pixel of the last one drawn. So a million intervals take as long as a hundred. Intervals
// narrower than a pixel go into a strip of pixels, which is drawn at once for the whole lane.

const LANE = 16, HEADER = 20, GAP = 6, OVERVIEW = 44, AXIS = 20, MEMORY = 40;
const TOP = OVERVIEW + AXIS; // where rows begin
const LEAST_VIEW_NS = 50;
const LISTED = 15; // intervals in the list below

class TimelineView {
	constructor(root, model, app) {
		Object.assign(this, {model, app});
		this.from = model.start;
		this.to = Math.max(model.end, model.start + 1);
		this.top = 0;
		this.selected = -1;
		const folded = model.processes.length > 1;
		this.folded = model.processes.map(() => folded);
		this.canvas = element("canvas", {class: "timeline", tabindex: 0, role: "application",
			"aria-label": "Build timeline. Left and right arrows pan, plus and minus zoom, 0 shows all, up and " +
				"down scroll, n and p step through intervals, i and o go into one and out of it, Enter zooms to " +
				"it, f folds or unfolds a compiler. Intervals in view are listed below."});
		this.surface = new Surface(this.canvas, (...args) => this.draw(...args));
		this.details = element("div", {class: "details"}, "Click an interval, or find one by its name or path.");
		this.list = element("div");
		this.find = new FindBar(model, {
			accepts: () => true,
			show: (i) => this.reveal(i),
			count: (found) => `${plural(found.length, "interval")}, self ` +
				formatDuration(found.reduce((sum, i) => sum + model.selfTime(i), 0)),
			changed: () => this.surface.redraw(),
		});
		root.append(this.tools(), this.canvas, this.legend(), this.details, this.list);
		this.listen();
		this.layout();
	}

	tools() {
		return element("div", {class: "tools"}, ...this.find.controls,
			element("span", {class: "spring"}),
			button("Zoom in", () => this.zoom(0.5)), button("Zoom out", () => this.zoom(2)),
			button("Show all", () => this.showAll()),
			button("Fold or unfold all", () => this.foldAll()));
	}

	legend() {
		const sample = (kind, text) => element("span", {}, element("span", {class: "sample " + kind}), " " + text);
		return element("p", {class: "legend"}, sample("pass", "pass"), sample("coloured", "query, a colour each"),
			sample("hit", "answered from memory"), sample("blocked", "waits for another thread’s execution"),
			sample("off", "off the CPU"),
			" — the wheel zooms, dragging moves, Shift and the wheel scroll; a click on a compiler’s name unfolds it");
	}

	show() {
		this.surface.redraw();
		this.listVisible();
	}

	// ---- Rows -----------------------------------------------------------------------------------

	// Row layout: one row for a folded process, else a header and its threads. y counts from the top of
	// all rows.
	layout() {
		this.rows = [];
		this.allHeight = 0;
		const used = this.model.processes.filter((p) => p.memory || p.threads.some((t) => t.depth));
		for (const process of used.sort((a, b) => a.start - b.start)) {
			const threads = process.threads.filter((t) => t.depth);
			if (this.folded[process.index]) {
				this.addRow({process, thread: threads[0], lanes: threads.length ? 1 : 0, title: true}, HEADER);
				continue;
			}
			this.addRow({process, title: true}, HEADER);
			if (process.memory)
				this.addRow({process, memory: process.memory}, MEMORY);
			for (const thread of threads)
				this.addRow({process, thread, lanes: thread.depth}, thread.depth * LANE + GAP);
		}
		// At most the height of the rows, and of most of a window.
		this.canvas.style.height = `min(60vh, ${TOP + Math.max(this.allHeight, 4 * HEADER) + GAP}px)`;
	}

	addRow(row, height) {
		this.rows.push({...row, y: this.allHeight, height});
		this.allHeight += height;
	}

	get rowsHeight() {
		return this.surface.height - TOP;
	}

	// The width of names, and the width that is left for time.
	get gutter() {
		return Math.round(Math.max(84, Math.min(210, this.surface.width * 0.2)));
	}

	get plotWidth() {
		return Math.max(this.surface.width - this.gutter, 1);
	}

	scrollTo(y) {
		this.top = Math.max(0, Math.min(y, this.allHeight - this.rowsHeight));
		this.changed();
	}

	toggleFold(process) {
		this.folded[process.index] = !this.folded[process.index];
		this.layout();
		this.scrollTo(this.top);
	}

	// The lane of the selected interval, or the uppermost in view.
	foldOne() {
		const row = this.rows.find((r) => r.y + r.height > this.top);
		const process = this.selected >= 0 ? this.model.process(this.selected) : row && row.process;
		if (!process)
			return;
		this.toggleFold(process);
		say(`${process.title} ${this.folded[process.index] ? "folded" : "unfolded"}`);
	}

	foldAll() {
		const folded = !this.folded.some(Boolean);
		this.folded.fill(folded);
		this.layout();
		this.scrollTo(this.top);
		say(folded ? "All compilers folded" : "All compilers unfolded");
	}

	// ---- Time -----------------------------------------------------------------------------------

	setRange(from, to) {
		const {start, end} = this.model, whole = Math.max(end - start, 1);
		const width = Math.max(LEAST_VIEW_NS, Math.min(to - from, whole));
		this.from = Math.max(start, Math.min(from, start + whole - width));
		this.to = this.from + width;
		this.changed();
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		this.setRange(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(part) {
		const by = (this.to - this.from) * part;
		this.setRange(this.from + by, this.to + by);
	}

	showAll() {
		this.setRange(this.model.start, this.model.end);
	}

	timeAt(x) {
		return this.from + x / this.plotWidth * (this.to - this.from);
	}

	changed() {
		this.surface.redraw();
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.listVisible(), 250);
	}

	// ---- To an interval -------------------------------------------------------------------------

	// Select an interval and show it, with its width as margin on both sides.
	reveal(i) {
		const {model} = this, {spans} = model, duration = Math.max(model.duration(i), LEAST_VIEW_NS);
		const thread = model.threads[spans.thread[i]];
		this.folded[thread.process] = false;
		this.layout();
		this.selected = i;
		this.setRange(spans.start[i] - duration, spans.end[i] + duration);
		const row = this.rows.find((r) => r.thread === thread);
		const y = row.y + spans.depth[i] * LANE;
		if (y < this.top || y > this.top + this.rowsHeight - 2 * LANE)
			this.scrollTo(y - this.rowsHeight / 2);
		this.showDetails(i);
	}

	revealProcesses(processes) {
		for (const process of processes)
			this.folded[process.index] = false;
		this.layout();
		this.setRange(processes.reduce((least, p) => Math.min(least, p.start), Infinity),
			processes.reduce((most, p) => Math.max(most, p.end), -Infinity));
		const row = this.rows.find((r) => r.process === processes[0]);
		this.scrollTo(row ? row.y : 0);
	}

	// ---- Drawing --------------------------------------------------------------------------------

	prepareColours() {
		const dark = isDark(), {model} = this;
		if (this.coloursAreDark === dark)
			return;
		this.coloursAreDark = dark;
		const special = new Map([[KIND.PASS, cssColour("--pass-fill")], [KIND.HIT, cssColour("--hit")],
			[KIND.BLOCKED, cssColour("--blocked")], [KIND.OFF, cssColour("--off")]]);
		this.colours = model.names.map((name, k) => special.get(model.kinds[k]) || colourOf(name, dark));
		this.ink = {text: cssColour("--ink"), muted: cssColour("--muted"), line: cssColour("--line"),
			panel: cssColour("--panel"), accent: cssColour("--accent"), page: cssColour("--page"),
			label: cssColour("--on-fill")};
		this.pixels = pixelsOf([...this.colours, this.ink.accent]);
		this.accentPixel = this.pixels[this.colours.length];
	}

	draw(context, width, height) {
		const {gutter, plotWidth} = this;
		this.prepareColours();
		this.prepareStrip(plotWidth);
		this.scale = plotWidth / (this.to - this.from);
		context.font = CANVAS_FONT;
		context.textBaseline = "middle";
		context.fillStyle = this.ink.panel;
		context.fillRect(0, 0, width, height);
		context.fillStyle = this.ink.page;
		context.fillRect(0, 0, gutter, height);
		context.save();
		context.beginPath();
		context.rect(0, TOP, width, height - TOP);
		context.clip();
		this.drawRows(context, gutter, plotWidth, height);
		context.restore();
		context.save();
		context.translate(gutter, 0);
		this.drawGrid(context, plotWidth, height, true);
		this.drawOverview(context, plotWidth);
		context.restore();
		this.drawScrollbar(context, width, height);
		if (!this.rows.length) {
			context.fillStyle = this.ink.muted;
			context.fillText("No interval to show", gutter + 8, TOP + HEADER);
		}
	}

	drawRows(context, gutter, width, height) {
		const visible = this.rows.map((row) => ({row, y: row.y - this.top + TOP}))
			.filter(({row, y}) => y < height && y + row.height > TOP);
		context.save();
		context.translate(gutter, 0);
		this.drawGrid(context, width, height, false);
		for (const {row, y} of visible)
			this.drawRow(context, row, y, width);
		context.restore();
		for (const {row, y} of visible)
			this.drawName(context, row, y, gutter);
	}

	drawRow(context, row, y, width) {
		if (row.memory)
			this.drawMemory(context, row.process, y, width);
		if (row.title)
			this.drawProcess(context, row, y, width);
		const top = row.title ? y + 1 : y;
		for (let depth = 0; depth < (row.lanes || 0); depth++)
			this.drawLane(context, row.thread.firstLane + depth, top + depth * LANE, width);
	}

	// A bar of its run time, and the time beside it if there is room.
	drawProcess(context, {process, thread}, y, width) {
		const left = Math.max(0, (process.start - this.from) * this.scale);
		const right = Math.min(width, (process.end - this.from) * this.scale);
		const text = formatDuration(process.end - process.start);
		if (right < 0 || left > width)
			return;
		context.fillStyle = thread ? this.ink.line : this.ink.page;
		context.fillRect(thread ? left : 0, y + 1, Math.max(thread ? right - left : width, 2), HEADER - 4);
		context.fillStyle = this.ink.muted;
		if (!thread)
			context.fillText(text, left + 4, y + HEADER / 2 - 1);
		else if (right + (text.length + 1) * CHARACTER_PX < width)
			context.fillText(text, right + 5, y + HEADER / 2 - 1);
	}

	// A curve in steps, as high as the row at its end: each pixel has the sum of its end.
	drawMemory(context, process, y, width) {
		const {at, bytes} = process.memory, most = bytes[bytes.length - 1], height = MEMORY - GAP;
		const left = Math.max(0, Math.floor((at[0] - this.from) * this.scale));
		const right = Math.min(width, (process.end - this.from) * this.scale);
		context.fillStyle = this.ink.muted;
		for (let x = left, k = 0; x < right; x++) {
			k = firstWhere(k, at.length, (m) => at[m] > this.from + (x + 1) / this.scale);
			const part = k ? bytes[k - 1] / most * height : 0;
			context.fillRect(x, y + height - part, 1, part);
		}
	}

	drawName(context, {title, process, thread, memory}, y, gutter) {
		if (memory) {
			context.fillStyle = this.ink.muted;
			context.fillText(fitText("memory touched", gutter - 18), 18, y + 8);
			context.fillText(fitText(formatBytes(memory.bytes[memory.bytes.length - 1]), gutter - 18), 18, y + 24);
			return;
		}
		const sign = this.folded[process.index] ? "▸" : "▾";
		context.fillStyle = title ? this.ink.text : this.ink.muted;
		const text = title ? `${sign} ${process.title}` : this.model.threadTitle(thread);
		const x = title ? 4 : 18;
		context.fillText(fitText(text, gutter - x), x, y + (title ? HEADER : LANE) / 2 - 1);
	}

	// Items are in order: skip those that end left of x.
	drawLane(context, number, y, width) {
		const items = this.model.lane(number), {start, end} = this.model.spans;
		const {from, to, scale} = this;
		let k = firstWhere(0, items.length, (m) => end[items[m]] >= from), slivers = false;
		while (k < items.length && start[items[k]] <= to) {
			const i = items[k], x = Math.max(0, (start[i] - from) * scale);
			const right = Math.min(width, (end[i] - from) * scale);
			if (right - x >= 1.5) {
				this.drawSpan(context, i, x, y, right - x);
				k++;
				continue;
			}
			slivers = true;
			this.strip.pixels[Math.floor(x)] = this.sliverColour(i);
			k = this.skip(items, k + 1, from + (Math.floor(x) + 1) / scale);
		}
		if (slivers)
			this.drawStrip(context, y);
	}

	// The first interval from k on that ends after a time. It is usually near.
	skip(items, k, time) {
		const {end} = this.model.spans;
		let step = 1;
		while (k + step < items.length && end[items[k + step - 1]] <= time) {
			k += step;
			step *= 2;
		}
		return firstWhere(k, Math.min(k + step, items.length), (m) => end[items[m]] > time);
	}

	// One pixel high, and as wide as the canvas.
	prepareStrip(width) {
		if (this.strip && this.strip.canvas.width === Math.ceil(width))
			return;
		const canvas = element("canvas", {width: Math.ceil(width), height: 1}), context = canvas.getContext("2d");
		const image = context.createImageData(canvas.width, 1);
		this.strip = {canvas, context, image, pixels: new Uint32Array(image.data.buffer)};
	}

	drawStrip(context, y) {
		const {canvas, image, pixels} = this.strip;
		this.strip.context.putImageData(image, 0, 0);
		context.imageSmoothingEnabled = false;
		context.drawImage(canvas, 0, y, canvas.width, LANE - 2);
		pixels.fill(0);
	}

	sliverColour(i) {
		if (i === this.selected)
			return this.accentPixel;
		// Opacity is the uppermost byte.
		const pixel = this.pixels[this.model.spans.what[i]];
		return this.isFaded(i) ? pixel & 0x59ffffff : pixel;
	}

	isFaded(i) {
		return this.find.active && !this.find.is(i);
	}

	drawSpan(context, i, x, y, width) {
		const what = this.model.spans.what[i], isOff = this.model.isOff[what];
		context.fillStyle = this.ink.panel;
		context.fillRect(x, y, width, LANE - 2);
		context.globalAlpha = this.isFaded(i) ? 0.35 : 1;
		context.fillStyle = this.colours[what];
		context.fillRect(x, y, Math.max(width - 1, 1), LANE - 2);
		if (isOff || this.model.kinds[what] === KIND.BLOCKED)
			this.hatch(context, x, y, width);
		const text = width > (isOff ? 90 : 26) ? fitText(this.model.label(i, roomFor(width)), width) : "";
		if (text) {
			context.fillStyle = isOff ? this.ink.text : this.ink.label;
			context.fillText(text, x + 3, y + LANE / 2 - 1);
		}
		context.globalAlpha = 1;
		if (i === this.selected) {
			context.strokeStyle = this.ink.accent;
			context.lineWidth = 2;
			context.strokeRect(x + 1, y, Math.max(width - 2, 1), LANE - 2);
		}
	}

	// Mark idle time by more than colour.
	hatch(context, x, y, width) {
		if (width < 4)
			return;
		context.save();
		context.beginPath();
		context.rect(x, y, width, LANE - 2);
		context.clip();
		context.strokeStyle = this.ink.panel;
		context.lineWidth = 1;
		context.beginPath();
		for (let at = x - x % 6 - LANE; at < x + width; at += 6) {
			context.moveTo(at, y + LANE);
			context.lineTo(at + LANE, y);
		}
		context.stroke();
		context.restore();
	}

	// Lines under the rows, or the axis above them.
	drawGrid(context, width, height, axis) {
		const step = niceStep((this.to - this.from) / Math.max(width / 110, 1));
		const first = Math.ceil((this.from - this.model.start) / step) * step;
		context.fillStyle = axis ? this.ink.panel : this.ink.line;
		if (axis)
			context.fillRect(0, OVERVIEW, width, AXIS);
		// Count steps: at very large times, adding a small step may not change the number.
		const n = Math.floor((this.to - this.model.start - first) / step);
		for (let k = 0; k <= n; k++) {
			const t = first + k * step;
			const x = (t + this.model.start - this.from) * this.scale, text = this.axisText(t, step);
			context.fillStyle = this.ink.muted;
			if (axis && x + 3 + text.length * CHARACTER_PX < width)
				context.fillText(text, x + 3, OVERVIEW + AXIS / 2);
			context.fillStyle = this.ink.line;
			context.fillRect(Math.round(x), axis ? OVERVIEW : TOP, 1, axis ? AXIS : height);
		}
	}

	// Enough digits to distinguish neighbouring ticks.
	axisText(t, step) {
		const [size, unit] = UNITS.find(([size]) => Math.max(t, step) >= size) || UNITS[3];
		return (t / size).toFixed(Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9))) + " " + unit;
	}

	// The number of working threads over the whole recording, and the part that is in view.
	drawOverview(context, width) {
		const bars = this.activity(Math.floor(width)), most = Math.max(1, ...bars);
		const height = OVERVIEW - 8, whole = Math.max(this.model.end - this.model.start, 1);
		context.fillStyle = this.ink.page;
		context.fillRect(0, 0, width, OVERVIEW);
		context.fillStyle = this.ink.muted;
		bars.forEach((n, x) => context.fillRect(x, OVERVIEW - 2 - n / most * height, 1, n / most * height));
		const room = this.gutter - 4;
		context.fillText(fitText("threads at work", room), 4 - this.gutter, 14);
		context.fillText(fitText(`up to ${most.toFixed(most < 10 ? 1 : 0)}`, room), 4 - this.gutter, 30);
		const x = (this.from - this.model.start) / whole * width, w = (this.to - this.from) / whole * width;
		context.strokeStyle = this.ink.accent;
		context.lineWidth = 2;
		context.strokeRect(Math.min(x + 1, width - 4), 1, Math.max(w - 2, 2), OVERVIEW - 2);
	}

	activity(buckets) {
		if (this.bars && this.bars.length === buckets)
			return this.bars;
		const {model} = this, bars = new Float64Array(buckets), whole = Math.max(model.end - model.start, 1);
		const perBucket = whole / buckets;
		for (const thread of model.threads) {
			for (const i of thread.depth ? model.lane(thread.firstLane) : [])
				if (model.isNode[model.spans.what[i]])
					this.addActivity(bars, i, perBucket);
		}
		return this.bars = bars;
	}

	addActivity(bars, i, perBucket) {
		const {spans, start} = this.model, from = spans.start[i] - start, to = spans.end[i] - start;
		const last = Math.min(bars.length - 1, Math.floor(to / perBucket));
		for (let k = Math.max(0, Math.floor(from / perBucket)); k <= last; k++)
			bars[k] += (Math.min(to, (k + 1) * perBucket) - Math.max(from, k * perBucket)) / perBucket;
	}

	drawScrollbar(context, width, height) {
		if (this.allHeight <= this.rowsHeight)
			return;
		const track = height - TOP;
		context.globalAlpha = 0.5;
		context.fillStyle = this.ink.muted;
		context.fillRect(width - 6, TOP + this.top / this.allHeight * track, 5,
			this.rowsHeight / this.allHeight * track);
		context.globalAlpha = 1;
	}

	// ---- Pointer and keys -----------------------------------------------------------------------

	listen() {
		const {canvas} = this;
		canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
		canvas.addEventListener("pointerdown", (event) => this.press(event));
		canvas.addEventListener("pointermove", (event) => this.move(event));
		canvas.addEventListener("pointerup", (event) => this.release(event));
		canvas.addEventListener("pointercancel", () => this.drag = null);
		canvas.addEventListener("pointerleave", () => showTip(null));
		canvas.addEventListener("keydown", (event) => this.key(event));
	}

	wheel(event) {
		event.preventDefault();
		if (event.shiftKey)
			this.scrollTo(this.top + (event.deltaY || event.deltaX));
		else if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan(event.deltaX / this.plotWidth);
		else if (event.offsetX < this.gutter)
			this.scrollTo(this.top + event.deltaY);
		else
			this.zoom(Math.exp(event.deltaY / 400), this.timeAt(event.offsetX - this.gutter));
	}

	press(event) {
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = {x: event.offsetX, y: event.offsetY, from: this.from, to: this.to, top: this.top, moved: false,
			overview: event.offsetY < OVERVIEW};
		if (this.drag.overview)
			this.centreOn(event.offsetX - this.gutter);
	}

	centreOn(x) {
		const {start, end} = this.model, at = start + x / this.plotWidth * (end - start);
		const half = (this.to - this.from) / 2;
		this.setRange(at - half, at + half);
	}

	move(event) {
		const {drag} = this;
		if (!drag)
			return this.hover(event);
		if (drag.overview)
			return this.centreOn(event.offsetX - this.gutter);
		const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
		if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4)
			return;
		drag.moved = true;
		showTip(null);
		const by = dx / this.plotWidth * (drag.to - drag.from);
		this.setRange(drag.from - by, drag.to - by);
		this.scrollTo(drag.top - dy);
	}

	release(event) {
		const {drag} = this;
		this.drag = null;
		if (!drag || drag.moved || drag.overview)
			return;
		const x = event.offsetX - this.gutter, row = this.rowAt(event.offsetY);
		const i = x < 0 ? -1 : this.spanAt(x, event.offsetY);
		if (row && row.title && i < 0)
			this.toggleFold(row.process);
		this.selected = i;
		if (i >= 0)
			this.showDetails(i);
		this.surface.redraw();
	}

	rowAt(y) {
		const at = y - TOP + this.top;
		return y < TOP ? undefined : this.rows.find((r) => at >= r.y && at < r.y + r.height);
	}

	// x counts from the start of the time axis.
	spanAt(x, y) {
		const row = this.rowAt(y);
		if (!row || !row.thread)
			return -1;
		const depth = Math.floor((y - TOP + this.top - row.y - (row.title ? 1 : 0)) / LANE);
		if (depth < 0 || depth >= row.lanes)
			return -1;
		const items = this.model.lane(row.thread.firstLane + depth), {start, end} = this.model.spans;
		const left = this.timeAt(x - 0.5), right = this.timeAt(x + 1);
		const k = firstWhere(0, items.length, (m) => end[items[m]] >= left);
		return k < items.length && start[items[k]] <= right ? items[k] : -1;
	}

	hover(event) {
		const x = event.offsetX - this.gutter, row = this.rowAt(event.offsetY);
		const i = x < 0 ? -1 : this.spanAt(x, event.offsetY);
		const text = i >= 0 ? this.describe(i).join("\n") : row && row.title ? this.describeProcess(row.process) :
			row && row.memory && x >= 0 ? this.describeMemory(row.process, this.timeAt(x)) : null;
		showTip(text, event);
	}

	key(event) {
		const actions = {
			ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
			ArrowUp: () => this.scrollTo(this.top - 3 * LANE), ArrowDown: () => this.scrollTo(this.top + 3 * LANE),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			"0": () => this.showAll(), Home: () => this.showAll(),
			n: () => this.step(1), p: () => this.step(-1), f: () => this.foldOne(),
			i: () => this.inwards(), o: () => this.goTo(this.model.parent[this.selected]),
			Enter: () => this.goTo(this.selected),
		};
		if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		actions[event.key]();
	}

	// Select the next interval of the lane.
	step(by) {
		const {model} = this, i = this.selected;
		if (i < 0)
			return this.listed && this.listed.length ? this.reveal(this.listed[0]) : undefined;
		const items = model.lane(model.threads[model.spans.thread[i]].firstLane + model.spans.depth[i]);
		this.goTo(items[items.indexOf(i) + by]);
	}

	// Select the longest child.
	inwards() {
		const children = this.selected < 0 ? [] : Array.from(this.model.childrenOf(this.selected));
		this.goTo(children.reduce((best, i) =>
			best < 0 || this.model.duration(i) > this.model.duration(best) ? i : best, -1));
	}

	goTo(i) {
		if (i === undefined || i < 0)
			return;
		this.reveal(i);
		say(this.describe(i).join(", "));
	}

	// ---- Details of intervals -------------------------------------------------------------------

	describe(i, place = this.model.place(this.model.key(i))) {
		const {model} = this, {spans} = model, thread = model.threads[spans.thread[i]];
		const flags = ["left by a panic or a compile error", "may be shown too long",
			"still running when its thread, or the recording, ended",
			"from the first to the last sample that met it"];
		return [
			`${shorten(model.title(i))}   ${shorten(model.kindText(i))}`,
			shorten(model.key(i)),
			place && shorten(place.text),
			`${formatDuration(model.duration(i))}, self ${formatDuration(model.selfTime(i))}`,
			`starts at ${formatDuration(spans.start[i] - model.start)}`,
			`${model.processes[thread.process].title}, ${model.threadTitle(thread)}, depth ${spans.depth[i]}`,
			...flags.filter((text, bit) => spans.flags[i] >> bit & 1),
		].filter(Boolean);
	}

	// Pages that faults touched first, and the peak that the kernel noted, from which freed memory is gone.
	describeMemory(process, time) {
		const peak = process.peak_bytes ? `, at most ${formatBytes(process.peak_bytes)} resident at a time` : "";
		return `${process.title}\n${formatBytes(this.model.touchedBy(process, time))} touched by ` +
			`${formatDuration(time - this.model.start)}${peak}`;
	}

	describeProcess(process) {
		const {start} = this.model, crate = process.crate ? [process.crate, process.crate_type] : [];
		return [
			process.title,
			crate.filter(Boolean).join(", "),
			`${formatDuration(process.end - process.start)} from ${formatDuration(process.start - start)}, ` +
				plural(process.threads.filter((t) => t.depth).length, "thread"),
			process.memory ? `${formatBytes(process.memory.bytes[process.memory.bytes.length - 1])} of memory touched` : "",
			process.peak_bytes ? `at most ${formatBytes(process.peak_bytes)} of memory resident at a time` : "",
			shorten(process.command || ""),
		].filter(Boolean).join("\n");
	}

	showDetails(i) {
		this.details.replaceChildren(element("span", {}, this.describe(i, null).join(" · ")),
			placeLink(this.model.place(this.model.key(i))) || "",
			button("Zoom to it", () => this.reveal(i)),
			button("Show in the trace of queries", () => this.app.showTree(i)));
	}

	// The longest intervals in view, for screen readers, without those that fill it.
	listVisible() {
		const {model} = this, {start, end, what} = model.spans, {from, to} = this;
		if (!this.surface.width)
			return;
		this.listed = model.greatest(LISTED, (i) => model.duration(i), (i) =>
			start[i] >= from && end[i] <= to && !model.isOff[what[i]]);
		this.list.replaceChildren(new DataTable({
			caption: `Longest intervals that begin and end in view: ${formatDuration(from - model.start)} to ` +
				formatDuration(to - model.start),
			rows: this.listed, sort: 3, filter: false,
			columns: [
				nameColumn("Name", (i) => model.title(i)),
				nameColumn("Item", (i) => model.key(i)),
				nameColumn("Kind", (i) => model.kindText(i)),
				timeColumn("Time", (i) => model.duration(i)),
				timeColumn("Self", (i) => model.selfTime(i), "Without the queries that it called"),
				timeColumn("Starts at", (i) => start[i] - model.start),
				nameColumn("Thread", (i) => `${model.process(i).title}, ${model.threadTitle(model.threads[model.spans.thread[i]])}`),
			],
			actions: [{title: "Zoom", does: (i) => this.reveal(i)}],
		}).root);
	}
}
