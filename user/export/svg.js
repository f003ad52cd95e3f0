/* SPDX-License-Identifier: Apache-2.0 OR MIT
   The flame graph's search and zoom. Each box is a g with its place in data-x and data-w, as parts
   of the whole, its row in data-d, and its name in data-n. Names are only ever set as text. */
(function () {
	"use strict";
	var svg = document.documentElement;
	var boxes = Array.prototype.slice.call(svg.querySelectorAll("g.b"));
	var width = Number(svg.getAttribute("width")) - 20;
	var status = document.getElementById("status");
	var found = document.getElementById("found");
	var reset = document.getElementById("reset");
	var CHARACTER = 7.3; /* px of one, in the font of the boxes */

	function part(box, key) {
		return Number(box.getAttribute("data-" + key));
	}

	function place(box, x, w, below) {
		var rect = box.querySelector("rect"), text = box.querySelector("text");
		var name = box.getAttribute("data-n"), room = Math.floor((w - 6) / CHARACTER);

		box.style.display = w < 0.1 ? "none" : "";
		box.classList.toggle("below", below);
		rect.setAttribute("x", 10 + x);
		rect.setAttribute("width", w);
		text.setAttribute("x", 13 + x);
		text.textContent = room < 3 ? "" : name.length <= room ? name : name.slice(0, room - 2) + "..";
	}

	/* Boxes below this one get its width; all others are hidden. */
	function zoom(to) {
		var x0 = part(to, "x"), w0 = part(to, "w"), d0 = part(to, "d");

		boxes.forEach(function (box) {
			var x = part(box, "x"), w = part(box, "w"), d = part(box, "d");
			var slack = 1e-9;

			if (d < d0 && x <= x0 + slack && x + w >= x0 + w0 - slack)
				place(box, 0, width, true);
			else if (d < d0 || x < x0 - slack || x + w > x0 + w0 + slack)
				place(box, 0, 0, false);
			else
				place(box, (x - x0) / w0 * width, w / w0 * width, false);
		});
		reset.style.display = d0 ? "" : "none";
	}

	/* Boxes that match, and what part of the time is in one of them. */
	function search(text) {
		var matches = null, hits = [], end = -1, sum = 0;

		if (text) {
			try {
				matches = new RegExp(text, "i");
			} catch (e) {
				found.textContent = "not a regular expression: " + text;
				return;
			}
		}
		boxes.forEach(function (box) {
			var is = matches !== null && matches.test(box.getAttribute("data-n"));

			box.classList.toggle("hit", is);
			if (is)
				hits.push(box);
		});
		hits.sort(function (a, b) {
			return part(a, "x") - part(b, "x") || part(b, "w") - part(a, "w");
		});
		hits.forEach(function (box) {
			var x = part(box, "x"), w = part(box, "w");

			if (x + w <= end)
				return;
			sum += x + w - Math.max(x, end);
			end = x + w;
		});
		found.textContent = matches ? hits.length + " found, " + (100 * sum).toFixed(1) + " %" : "";
	}

	function ask() {
		var text = window.prompt("Search (a regular expression; nothing clears)", "");

		if (text !== null)
			search(text);
	}

	function on(element, action) {
		element.addEventListener("click", action);
		element.addEventListener("keydown", function (e) {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				action();
			}
		});
	}

	boxes.forEach(function (box) {
		on(box, function () { zoom(box); });
		["mouseover", "focus"].forEach(function (type) {
			box.addEventListener(type, function () {
				status.textContent = box.querySelector("title").textContent;
			});
		});
		["mouseout", "blur"].forEach(function (type) {
			box.addEventListener(type, function () { status.textContent = ""; });
		});
	});
	on(document.getElementById("search"), ask);
	on(reset, function () { zoom(boxes[0]); });
	window.addEventListener("keydown", function (e) {
		if (e.key === "F3" || ((e.ctrlKey || e.metaKey) && e.key === "f")) {
			e.preventDefault();
			ask();
		} else if (e.key === "Escape") {
			zoom(boxes[0]);
		}
	});
	zoom(boxes[0]);
})();
