/* SPDX-License-Identifier: Apache-2.0 */
/* Later.tsx - a panel whose script comes after the first picture (state/later.ts). */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { tr } from "../lang";
import { late, lateNow } from "../state/later";
import type { Timeline } from "../timeline/timeline";

type Late = NonNullable<ReturnType<typeof lateNow>>;
type Props = { timeline: Timeline };
type PanelName = { [K in keyof Late]: Late[K] extends (props: Props) => unknown ? K : never }[keyof Late];

export const later = (name: PanelName): ComponentType<Props> => function Later(props: Props) {
	const [wrong, setWrong] = useState("");
	const [, again] = useState<object>({});
	const Panel: ComponentType<Props> | undefined = lateNow()?.[name] as ComponentType<Props> | undefined;
	useEffect(() => {
		if (!Panel)
			late().then(() => again({}), (e: Error) => setWrong(e.message));
	}, []);
	return Panel ? <Panel {...props} /> : <p class={wrong ? "note error" : "empty"} role="status">{wrong || tr("Loading…")}</p>;
};
