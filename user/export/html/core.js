// SPDX-License-Identifier: Apache-2.0 OR MIT
// Blocks of the page as bytes (export/out.h), and numbers out of bytes (trace/bytes.h).

function bytesOfBase64(text) {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const characters = atob(text);
	const bytes = new Uint8Array(characters.length);
	for (let i = 0; i < bytes.length; i++)
		bytes[i] = characters.charCodeAt(i);
	return bytes;
}

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The bytes of a block. Its text is freed: it is large, and not needed again.
async function readBlock(id) {
	const element = document.getElementById(id);
	const bytes = bytesOfBase64(element.textContent);
	element.remove();
	return inflate(bytes);
}

// Remove bidirectional controls: they would reverse the text after a name.
async function readDocument(id) {
	const text = new TextDecoder().decode(await readBlock(id));
	return JSON.parse(text.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd"));
}

// Read varints in order. They are below 2^64, and exact below 2^53: times since the capture began.
class Numbers {
	constructor(bytes) {
		this.bytes = bytes;
		this.at = 0;
	}

	next() {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 0x80)
			return byte;
		let value = byte & 0x7f, unit = 128;
		do {
			byte = bytes[this.at++];
			value += (byte & 0x7f) * unit;
			unit *= 128;
		} while (byte >= 0x80);
		return value;
	}

	signed() {
		return unzigzag(this.next());
	}

	fill(to, n) {
		for (let i = 0; i < n; i++)
			to[i] = this.next();
		return to;
	}

	slice(n) {
		this.at += n;
		return this.bytes.subarray(this.at - n, this.at);
	}
}

// Not with bit operations, which take 32 bits here.
function unzigzag(v) {
	return v % 2 ? -(v + 1) / 2 : v / 2;
}

// The first index in [from, to) for which is(index) holds. is() is false up to some index, then true.
function firstWhere(from, to, is) {
	while (from < to) {
		const middle = (from + to) >>> 1;
		if (is(middle))
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}
