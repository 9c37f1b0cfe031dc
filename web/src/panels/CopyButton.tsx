/* SPDX-License-Identifier: Apache-2.0 */
/* CopyButton.tsx - puts a text on the clipboard, and says so for a moment. */
import { useState } from "preact/hooks";
import { tr } from "../lang";
import { copyText } from "../state/files";
import { set } from "../state/store";

const SAID_MS = 1200;

export function CopyButton({ text, title }: { text: string; title: string }) {
	const [said, setSaid] = useState(false);
	return <button class="copy" title={title} aria-label={title} onClick={() => void copyText(text).then((done) => {
		if (!done)
			return set({ message: tr("The browser does not let this page use the clipboard.") });
		setSaid(true);
		setTimeout(() => setSaid(false), SAID_MS);
	})}>{said ? tr("copied") : tr("copy")}</button>;
}
