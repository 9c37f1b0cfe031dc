/* SPDX-License-Identifier: Apache-2.0 */
/* theme.ts - colours of the canvas, light and dark. A look has a colour and, for those who cannot tell colours apart, a pattern.
 *
 * Colours are 0xRRGGBB here and 0xAABBGGRR (as in an ImageData) in shades. */
import { Look } from "../data/protocol";

export type Pattern = "plain" | "stripes" | "dots" | "hatch" | "line";

interface Tone { light: number; dark: number; pattern: Pattern }

const tone = (light: number, dark: number, pattern: Pattern = "plain"): Tone => ({ light, dark, pattern });

const LOOKS: Record<number, Tone> = {
	[Look.kernel]: tone(0x3b7dd8, 0x4c8fe6),
	[Look.comm]: tone(0x8e4ec6, 0xa66fe0, "stripes"),
	[Look.copy]: tone(0x2f9e62, 0x3fb377, "line"),
	[Look.fill]: tone(0x86c29c, 0x2c7d55, "line"),
	[Look.graph]: tone(0x2556a0, 0x3767b5),
	[Look.api]: tone(0x8797a8, 0x66778a),
	[Look.launch]: tone(0xd99a2b, 0xcf9230),
	[Look.wait]: tone(0xd8423e, 0xe2544f, "hatch"),
	[Look.alloc]: tone(0xb3688a, 0xb3688a, "dots"),
	[Look.apiCopy]: tone(0x55a884, 0x4b9a78),
	[Look.range]: tone(0xb9c4d2, 0x46566b),
	[Look.op]: tone(0xa9c5c9, 0x3c6168),
	[Look.call]: tone(0xc9bfae, 0x665d4d),
	[Look.os]: tone(0xb99c7b, 0x86704f),
	[Look.running]: tone(0x63b06b, 0x4e9a57),
	[Look.stopped]: tone(0xd8dbe0, 0x3a3f47),
	[Look.memory]: tone(0x2f8f8f, 0x44a7a7),
	[Look.sample]: tone(0x7a8594, 0x8c98a8),
	[Look.event]: tone(0x556270, 0x9aa7b5),
	[Look.sync]: tone(0xe58a86, 0xa84440, "hatch"),
	[Look.overhead]: tone(0x9a9a9a, 0x777777, "stripes"),
	[Look.counter]: tone(0x4a7fb0, 0x5b93c6),
};
const UNKNOWN = tone(0x999999, 0x888888);

/** Colours of the classes of busy time: compute, communication, memory, other. */
const CLASS_LOOK = [Look.kernel, Look.comm, Look.copy, Look.api];

const CAUSE_TONES: Tone[] = [
	tone(0xd8423e, 0xe2544f), tone(0xd99a2b, 0xcf9230), tone(0x2f8fb3, 0x3fa3c7), tone(0xb99c7b, 0xa0845e), tone(0x7a6fc0, 0x8d83d6),
	tone(0x9aa4af, 0x6d7885), tone(0xb3688a, 0xc27a9b), tone(0x8d7a3a, 0xa8944c), tone(0xc3c8ce, 0x4d545d), tone(0x888888, 0x888888),
	tone(0x5fae9e, 0x4f9d8d), tone(0xd7b8a8, 0x7a6055), tone(0xa877d6, 0x9a63cf), tone(0x86a84a, 0x7b9c42), tone(0xc98a5a, 0xb5774a)];
const PATH_TONES: Tone[] = [
	tone(0x7a6fc0, 0x8d83d6), tone(0xd99a2b, 0xcf9230), tone(0x8797a8, 0x66778a), tone(0xd8423e, 0xe2544f), tone(0x3b7dd8, 0x4c8fe6),
	tone(0x8e4ec6, 0xa66fe0), tone(0x2f9e62, 0x3fb377), tone(0xb9c4d2, 0x5a6b80), tone(0x999999, 0x888888)];

/** Counters of one unit have one colour: shares, clocks, power, rates, temperatures. */
const COUNTER_TONES: Record<string, Tone> = {
	"%": tone(0x4a7fb0, 0x5b93c6), Hz: tone(0x8a6bbf, 0xa58bdb), W: tone(0xc47a1e, 0xdb9a45), J: tone(0xc47a1e, 0xdb9a45), "B/s": tone(0x2f8f6b, 0x45ad86),
	"°C": tone(0xc0564f, 0xd97a72),
};

const rgba = (c: number): number => ((0xff << 24) | ((c & 255) << 16) | (c & 0xff00) | (c >> 16)) >>> 0;

export const css = (c: number): string => `#${c.toString(16).padStart(6, "0")}`;

function mix(a: number, b: number, share: number): number {
	const part = (shift: number): number => {
		const x = (a >> shift) & 255;
		return Math.round(x + (((b >> shift) & 255) - x) * share) << shift;
	};
	return part(16) | part(8) | part(0);
}

/** A colour by hue (degrees), saturation and lightness (0 … 1). */
function hsl(hue: number, saturation: number, light: number): number {
	const reach = saturation * Math.min(light, 1 - light);
	const part = (n: number): number => {
		const k = (n + hue / 30) % 12;
		return Math.round(255 * (light - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	};
	return (part(0) << 16) | (part(8) << 8) | part(4);
}

/** WCAG's relative luminance of a colour. */
export function luminance(c: number): number {
	const linear = (x: number): number => (x <= 10 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4);
	return 0.2126 * linear(c >> 16) + 0.7152 * linear((c >> 8) & 255) + 0.0722 * linear(c & 255);
}

const TWISTS = 5;

/** Colours of one theme, ready for drawing. */
export class Palette {
	readonly back: number;
	readonly band: number;
	readonly line: number;
	readonly ink: string;
	readonly faint: string;
	readonly accent: string;
	readonly hit: number;
	private shades = new Map<number, Uint32Array>();
	private twists: Uint32Array[] = [];
	private dimmed = new Map<number, number>();
	private names = new Map<string, number>();

	constructor(readonly dark: boolean) {
		this.back = dark ? 0x14181e : 0xffffff;
		this.band = dark ? 0x1b2129 : 0xf4f6f9;
		this.line = dark ? 0x2a323c : 0xe1e6ec;
		this.ink = dark ? "#dfe6ee" : "#1c2733";
		this.faint = dark ? "#8b98a7" : "#66727f";
		this.accent = dark ? "#ffc94d" : "#b35c00";
		this.hit = dark ? 0xffe14d : 0xc97b00;
	}

	pixel(c: number): number {
		return rgba(c);
	}
	private tone(t: Tone): number {
		return this.dark ? t.dark : t.light;
	}
	look(look: number): number {
		return this.tone(LOOKS[look] ?? UNKNOWN);
	}
	pattern(look: number): Pattern {
		return (LOOKS[look] ?? UNKNOWN).pattern;
	}
	classLook(c: number): number {
		return CLASS_LOOK[c] ?? Look.api;
	}
	/** The class of device work by its look. */
	classOf(look: number): number {
		return look === Look.comm ? 1 : look === Look.copy || look === Look.fill ? 2 : 0;
	}
	cause(cause: number): number {
		return this.tone(CAUSE_TONES[cause] ?? UNKNOWN);
	}
	path(kind: number): number {
		return this.tone(PATH_TONES[kind] ?? UNKNOWN);
	}
	counter(unit: string): number {
		return this.tone(COUNTER_TONES[unit] ?? LOOKS[Look.counter]!);
	}
	/** Neighbours of the same look but another name differ a little; states of threads do not, as a summary has only one colour for each. */
	span(look: number, name: number): number {
		const twist = look === Look.running || look === Look.stopped ? 0 : (Math.imul(name, 0x9e3779b1) >>> 0) % TWISTS;
		return (this.twists[look] ??= this.twisted(look))[twist]!;
	}
	private twisted(look: number): Uint32Array {
		return Uint32Array.from({ length: TWISTS }, (_, twist) => rgba(mix(this.look(look), this.dark ? 0x000000 : 0xffffff, twist * 0.065)));
	}
	/** A colour that a name has wherever it stands, in every recording: by the text, not by its number. */
	named(text: string): number {
		let known = this.names.get(text);
		if (known === undefined) {
			let hash = 0x811c9dc5;
			for (let i = 0; i < text.length; i++)
				hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
			hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
			let light = (this.dark ? 0.42 : 0.66) + (hash >>> 8) % 3 * 0.06;
			const colour = (): number => hsl((hash >>> 12) % 24 * 15, 0.55, light);
			// Between these neither black nor white text has enough contrast.
			while (luminance(colour()) > 0.178 && luminance(colour()) < 0.215)
				light -= 0.01;
			this.names.set(text, known = colour());
		}
		return known;
	}
	/** Text on such a colour: whichever of black and white has more contrast (WCAG's relative luminance). */
	inkOf(c: number): string {
		return luminance(c) > 0.19 ? "#10161d" : "#ffffff";
	}
	/** A colour that steps back: nearer to the background. */
	dim(pixel: number): number {
		let known = this.dimmed.get(pixel);
		if (known === undefined) {
			const c = ((pixel & 255) << 16) | (pixel & 0xff00) | ((pixel >> 16) & 255);
			this.dimmed.set(pixel, known = rgba(mix(this.back, c, 0.4)));
		}
		return known;
	}
	/** 256 shades from the background to a look's colour. */
	shade(look: number): Uint32Array {
		let list = this.shades.get(look);
		if (!list) {
			list = new Uint32Array(256);
			for (let i = 0; i < 256; i++)
				list[i] = rgba(mix(this.back, this.look(look), 0.25 + 0.75 * i / 255));
			this.shades.set(look, list);
		}
		return list;
	}
	tint(c: number, share: number): number {
		return rgba(mix(this.back, c, share));
	}
	/** Text on a span: black or white, whichever has more contrast with the span's own colour. Without a name, with the look's. */
	inkOn(look: number, name?: number): string {
		const pixel = name === undefined ? rgba(this.look(look)) : this.span(look, name);
		return this.inkOf(((pixel & 255) << 16) | (pixel & 0xff00) | ((pixel >> 16) & 255));
	}
}
