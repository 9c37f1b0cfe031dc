/* SPDX-License-Identifier: Apache-2.0 */
/* Empty.tsx - in place of the timeline of a recording in which nothing was recorded: what to record instead. */
import { CopyButton } from "./CopyButton";

const COMMANDS: [string, string][] = [
	["headway profile -t pytorch,python,osrt -s process-tree python3 train.py", "a Python program: operators of PyTorch, garbage collection, calls into the operating system, samples of the CPU"],
	["headway profile -t cuda,nvtx,opencl,osrt -s process-tree PROGRAM", "any other: CUDA, OpenCL, NVTX, calls into the operating system, samples of the CPU"],
	["headway doctor", "what can be recorded on this machine, and the remedy for the rest"],
];

export function Empty() {
	return <section class="nothing-recorded" aria-label="nothing was recorded">
		<h2>Nothing was recorded</h2>
		<p>The program did nothing of what was to be recorded. These record more:</p>
		<dl>{COMMANDS.map(([command, what]) => <div key={command}><dt><code>{command}</code> <CopyButton text={command} title={`copy ${command}`} /></dt><dd>{what}</dd></div>)}</dl>
	</section>;
}
