/* SPDX-License-Identifier: Apache-2.0 */
/* Empty.tsx - in place of the timeline of a recording in which nothing was recorded: what to record instead. */
import { tr } from "../lang";
import { CopyButton } from "./CopyButton";

const COMMANDS: [string, string][] = [
	["headway profile -t pytorch,python,osrt -s process-tree python3 train.py", tr("a Python program: operators of PyTorch, garbage collection, calls into the operating system, samples of the CPU")],
	["headway profile -t cuda,nvtx,opencl,osrt -s process-tree PROGRAM", tr("any other: CUDA, OpenCL, NVTX, calls into the operating system, samples of the CPU")],
	["headway doctor", tr("what can be recorded on this machine, and the remedy for the rest")],
];

export function Empty() {
	return <section class="nothing-recorded" aria-label={tr("nothing was recorded")}>
		<h2>{tr("Nothing was recorded")}</h2>
		<p>{tr("The program did nothing of what was to be recorded. These record more:")}</p>
		<dl>{COMMANDS.map(([command, what]) => <div key={command}><dt><code>{command}</code> <CopyButton text={command} title={tr("copy {what}", { what: command })} /></dt><dd>{what}</dd></div>)}</dl>
	</section>;
}
