// SPDX-License-Identifier: Apache-2.0 OR MIT
// Elements. Texts are set as text only, so that no name in a trace becomes markup.

function byId(id) {
	return document.getElementById(id);
}

// element("button", {type: "button", class: "x", onclick: f}, "text", child, ...)
function element(tag, properties = {}, ...children) {
	const made = document.createElement(tag);
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else if (value !== undefined && value !== false && value !== null)
			made.setAttribute(key, value === true ? "" : value);
	}
	made.append(...children.filter((child) => child !== null));
	return made;
}

function button(text, onclick, properties = {}) {
	return element("button", {type: "button", onclick, ...properties}, text);
}

// A control with its label around it.
function labelled(text, control) {
	return element("label", {class: "labelled"}, element("span", {}, text), control);
}

function select(choices, value, onchange) {
	const made = element("select", {onchange: () => onchange(Number(made.value))},
		...choices.map((text, i) => element("option", {value: i}, text)));
	made.value = value;
	return made;
}

// The place of an item in the source, which leads there if its directory is known; null: no place.
function placeLink(place) {
	const text = place && shorten(place.text);
	return place && (place.url ? element("a", {href: place.url}, text) : element("span", {}, text));
}

// Announce a change to screen readers.
function say(text) {
	byId("said").textContent = text;
}

function cssColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A text beside the pointer; null hides it.
function showTip(text, event) {
	const tip = byId("tip");
	tip.hidden = text === null;
	if (text === null)
		return;
	tip.textContent = text;
	const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
	const below = event.clientY + 18 + tip.offsetHeight < innerHeight;
	tip.style.left = Math.max(left, 4) + "px";
	tip.style.top = (below ? event.clientY + 18 : event.clientY - tip.offsetHeight - 10) + "px";
}

// A canvas as wide as its container, sharp on any screen; it calls draw(context, width, height).
class Surface {
	constructor(canvas, draw) {
		this.canvas = canvas;
		this.draw = draw;
		this.due = false;
		new ResizeObserver(() => this.redraw()).observe(canvas);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
	}

	get width() {
		return this.canvas.clientWidth;
	}

	get height() {
		return this.canvas.clientHeight;
	}

	// Once for whatever happens before the next frame.
	redraw() {
		if (this.due)
			return;
		this.due = true;
		requestAnimationFrame(() => {
			this.due = false;
			this.now();
		});
	}

	now() {
		const scale = devicePixelRatio || 1, {width, height} = this;
		if (!width || !height)
			return;
		this.canvas.width = Math.round(width * scale);
		this.canvas.height = Math.round(height * scale);
		const context = this.canvas.getContext("2d");
		context.scale(scale, scale);
		this.draw(context, width, height);
	}
}

// The part of a text that fits; "" if it is too short to read. Canvas texts have one character width.
const CHARACTER_PX = 6.7;
const CANVAS_FONT = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

function roomFor(width) {
	return Math.floor((width - 6) / CHARACTER_PX);
}

function fitText(text, width) {
	const room = roomFor(width);
	if (room < 3)
		return "";
	return text.length <= room ? text : text.slice(0, room - 1) + "…";
}

// A colour of a name's own: hues apart, as light as the scheme wants it, so that labels (--on-fill) can be
// read on each: 4.5 to 1 and more.
function colourOf(name, dark) {
	let hash = 2166136261;
	for (let i = 0; i < name.length; i++)
		hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
	hash = (hash ^ hash >>> 15) >>> 0;
	const hue = hash % 360, light = (dark ? 23 : 72) + (hash >>> 9) % 8;
	return `hsl(${hue} ${dark ? 42 : 58}% ${light}%)`;
}

function isDark() {
	return matchMedia("(prefers-color-scheme: dark)").matches;
}

// Colours in the byte order of a canvas.
function pixelsOf(colours) {
	const canvas = element("canvas", {width: colours.length, height: 1}), context = canvas.getContext("2d");
	colours.forEach((colour, x) => {
		context.fillStyle = colour;
		context.fillRect(x, 0, 1, 1);
	});
	return new Uint32Array(context.getImageData(0, 0, colours.length, 1).data.buffer);
}
