/* SPDX-License-Identifier: Apache-2.0 */
/* Flame.tsx - where time goes by call path: operators, stacks that launched GPU work, samples of the CPU; of a run, or what changed between two. */
import { useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import { FRAME_NAMES, type FlameAnswer } from "../data/flame";
import { hasWords, wordsOf } from "../data/words";
import { tr } from "../lang";
import { askFlame, goToSpan, onlyPython, kindShown, setFlame } from "../state/flame";
import { useStore } from "../state/store";
import { css } from "../timeline/theme";
import { count } from "../timeline/units";
import { useDark } from "./dark";
import { FlameBar } from "./FlameBar";
import { FlameCanvas, type Picked } from "./FlameCanvas";
import { FlameFrame } from "./FlameFrame";
import { FlameTree } from "./FlameTree";
import { changeColours, colourOfKind } from "./flame_colours";
import { bottomUp, keyOf, leads, matched, sandwich, trieOf, type Trie } from "./flame_trie";
import type { Values } from "./flame_values";

const PENDING_MS = 700;

/** The kinds of frames that are there, or the colours of change. */
function Legend({ trie }: { trie: Trie }) {
	const dark = useDark();
	const chip = (colour: number, name: string): preact.JSX.Element => <span key={name}><i class="chip" style={{ backgroundColor: css(colour) }} />{name}</span>;
	if (trie.runs > 1) {
		const { grew, same, shrank } = changeColours(dark);
		return <span class="bounds">{chip(grew, tr("grew"))}{chip(same, tr("same"))}{chip(shrank, tr("shrank"))}</span>;
	}
	const kinds = [...new Set(trie.frames.map((f) => f.kind))].filter((k) => k > 0).sort((a, b) => a - b);
	return <span class="bounds">{kinds.map((k) => chip(colourOfKind(k, dark), tr(FRAME_NAMES[k] ?? "")))}</span>;
}

/** What was merged, and what has no stack. */
function Notes({ answers }: { answers: FlameAnswer[] }) {
	const merged = answers.reduce((sum, a) => sum + a.merged, 0);
	const unknown = answers.reduce((sum, a) => sum + a.unknown, 0);
	const parts = [
		merged ? tr("{n} frames too small to draw are merged; sums are exact.", { n: count(merged) }) : "",
		unknown ? tr(answers[0]!.kind === "samples" ? "{n} samples have no stack." : "{n} launches have no stack.", { n: count(unknown) }) : ""].filter(Boolean);
	return parts.length ? <p class="empty">{parts.join(" ")}</p> : null;
}

const NOTHING: Record<string, string> = {
	samples: tr("No samples of the CPU here. 'headway profile --sample' records them."), operators: tr("No work of a device and no operators here."), stacks: tr("No work of a device here. 'headway profile --sample' records samples of the CPU."),
};

function Body({ answers }: { answers: FlameAnswer[] }) {
	const flame = useStore((s) => s.flame);
	const weights = Object.keys(answers[0]!.self);
	// Without work of a device, operators are weighed by their time on the CPU.
	const weight = weights.includes(flame.weight) ? flame.weight : weights.find((w) => answers.some((a) => a.self[w]!.some((value) => value > 0))) ?? weights[0]!;
	const how: Values = { weight, by: flame.by, runs: answers.length };
	const trie = useMemo(() => trieOf(answers, weight, answers.map((a) => {
		const whole = a.self[weight]!.reduce((x, y) => x + y, 0);
		return answers.length < 2 ? 1 : flame.by === "share" ? 1 / (whole || 1) : 1 / Math.max(1, a.steps);
	})), [answers, weight, flame.by]);
	const up = useMemo(() => (flame.view === "up" ? bottomUp(trie) : trie), [trie, flame.view]);
	const focus = flame.view === "sandwich" ? trie.find(flame.focus) : -1;
	const around = useMemo(() => (focus >= 0 ? sandwich(trie, focus) : null), [trie, focus]);
	const [picked, setPicked] = useState<Picked | null>(null);
	const [zoom, setZoom] = useState(0);
	// At once: a click that follows the change is of the new picture, and stays.
	useLayoutEffect(() => {
		setPicked(null);
		setZoom(0);
	}, [up, around]);
	const words = wordsOf(flame.query);
	const hits = useMemo(() => (words.length ? new Set(trie.frames.flatMap((f, i) => (hasWords(`${f.name} ${f.place}`, words) ? [i] : []))) : null), [trie, flame.query]);
	const pick = (one: Picked): void => {
		setPicked(one);
		if (one.trie === up && !around && flame.shown === "graph")
			setZoom(one.node);
		if (around && one.trie.frame[one.node] !== focus)
			setFlame({ focus: keyOf(one.trie.at(one.node)) });
		else if (one.node && !around && keyOf(one.trie.at(one.node)) !== flame.focus)
			setFlame({ focus: keyOf(one.trie.at(one.node)) });
	};
	const go = (one: Picked): void => {
		const origin = one.trie.origin[one.node] ?? null;
		setPicked(one);
		if (leads(origin))
			void goToSpan(origin.run, origin.span);
	};
	const shown = around ? around.callees : up;
	const common = { hits, how, picked: picked && (picked.trie === up || picked.trie === around?.callers || picked.trie === around?.callees) ? picked : null, pick, go };
	return <>
		<FlameBar weights={weights} weight={weight} match={hits && trie.width(0) ? matched(trie, hits) / trie.width(0) : null} legend={<Legend trie={trie} />} />
		{trie.width(0) <= 0 ? <p class="empty pad">{NOTHING[answers[0]!.kind]}</p>
			: flame.shown === "table" ? <FlameTree trie={shown} {...common} /> : <FlameCanvas trie={up} around={around} zoom={zoom} {...common} />}
		<FlameFrame picked={common.picked ?? { trie: shown, node: around ? 1 : zoom }} how={how} zoomed={zoom > 0 && flame.shown === "graph"} reset={() => {
			setZoom(0);
			setPicked(null);
		}} />
		<Notes answers={answers} />
	</>;
}

export function Flame() {
	const flame = useStore((s) => s.flame);
	const range = useStore((s) => s.range);
	const ready = useStore((s) => s.traces.every((t) => t.diagnosis || t.failed || t.info.diagnosis === "none"));
	const chosen = useStore((s) => s.chosen);
	const within = flame.scope === "selection" ? range : null;
	useEffect(() => {
		const timer = setTimeout(() => void askFlame(), within ? PENDING_MS / 7 : 0);
		return () => clearTimeout(timer);
	}, [kindShown(), onlyPython(), flame.scope, flame.group, flame.run, within?.from, within?.to, flame.scope === "selection" ? chosen : null, ready]);
	// The same list as long as the answers are the same: what is made of them stays.
	const answers = useMemo(() => flame.answers.filter((a) => a !== null), [flame.answers]);
	return <section class="flame" aria-label={tr("flame graph")} aria-busy={flame.asking}>
		{answers.length && !flame.error ? <Body answers={answers} />
			: <><FlameBar weights={[]} weight="" match={null} legend={null} /><p class={`empty pad ${flame.error && ready ? "error" : ""}`}>{flame.error || tr("Adding up…")}</p></>}
	</section>;
}
