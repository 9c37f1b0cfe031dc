/* SPDX-License-Identifier: Apache-2.0 */
/* files.ts - files that the browser saves for a person, and the clipboard. */

export function saveBlob(name: string, blob: Blob): void {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(blob);
	link.download = name;
	link.click();
	// The browser reads the blob after the click.
	setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export const saveText = (name: string, type: string, text: string): void => saveBlob(name, new Blob([text], { type }));

/** Puts a text onto the clipboard; false where the browser does not let the page. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		// A page that came by plain http from another name has no clipboard of the new kind.
		const box = document.createElement("textarea");
		box.value = text;
		document.body.append(box);
		box.select();
		const copied = document.execCommand("copy");
		box.remove();
		return copied;
	}
}
