/* SPDX-License-Identifier: Apache-2.0 */
/* share.ts - a link to what is on the screen. */
import { tr } from "../lang";
import { copyText } from "./files";
import { linkNow } from "./link";
import { set, state } from "./store";

export async function copyLink(): Promise<void> {
	const copied = await copyText(linkNow());
	const lives = state.info?.inline || state.info?.kept ? "" : tr(" It lives as long as this server; 'headway view --keep-address' keeps it alive.");
	const missing = state.notes.all.some((n) => n.length) && !state.notes.packed ? tr(" The notes are too long for a link: save them as a file.") : "";
	set({ message: copied ? tr("Link copied.") + lives + missing : tr("The browser does not let the page copy: take the address line.") });
}
