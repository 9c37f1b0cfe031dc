/* SPDX-License-Identifier: Apache-2.0 */
/* span_names.ts - what spans without a recorded name are called on the screen. The server gives them an English name (src/serve/span_names.c), which queries and files
 * use in every language. Names of the recording stay as they are. */
import { keys, tr } from "../lang";
import { Look, STATE_NAMES } from "./protocol";

const MADE: ReadonlySet<string> = new Set(keys("copy", "copy host to device", "copy device to host", "copy host to array", "copy array to host", "copy array to array", "copy array to device", "copy device to array",
	"copy device to device", "copy host to host", "copy peer to peer", "migration host to device", "migration device to host", "migration device to device", "fill", "event recorded", "allocate", "release",
	"memory", "wait", "wait for an event", "stream waits for an event", "wait for a stream", "wait for the device"));
const NAMELESS = new Set<number>([Look.copy, Look.fill, Look.event, Look.memory, Look.sync]);

/** Whether the name is one that Headway gave. Without a look a single word may be a name of the recording. */
const isMade = (name: string, look: number | null | undefined): boolean =>
	look === Look.running || look === Look.stopped ? STATE_NAMES.includes(name) : MADE.has(name) && (look === undefined || look === null ? name.includes(" ") : NAMELESS.has(look));

export const spanName = (name: string, look?: number | null): string => (isMade(name, look) ? tr(name) : name);

/** Ends of copies, and kinds of memory, as the model calls them (src/trace/model.c). */
const ENDS: ReadonlySet<string> = new Set(keys("Host-to-Device", "Device-to-Host", "Host-to-Array", "Array-to-Host", "Array-to-Array", "Array-to-Device", "Device-to-Array", "Device-to-Device", "Host-to-Host", "Peer-to-Peer",
	"Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"));

export const endName = (value: string): string => (ENDS.has(value) ? tr(value) : value);
