/* SPDX-License-Identifier: Apache-2.0 */
/* share.ts - a link to what is on the screen. */
import { copyText } from "./files";
import { linkNow } from "./link";
import { set, state } from "./store";

export async function copyLink(): Promise<void> {
	const copied = await copyText(linkNow());
	const lives = state.info?.inline || state.info?.kept ? "" : " It lives as long as this server; `headway view --keep-address` keeps it alive.";
	const missing = state.notes.all.some((n) => n.length) && !state.notes.packed ? " The notes are too long for a link: save them as a file." : "";
	set({ message: copied ? `Link copied.${lives}${missing}` : "The browser does not let the page copy: take the address line." });
}
