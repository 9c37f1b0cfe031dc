/* SPDX-License-Identifier: Apache-2.0 */
/* RooflineHow.tsx - what to record or to run, so that kernels have operations and bytes. */
import { phrase, tr } from "../lang";
import type { Trace } from "../state/store";
import { plain } from "../timeline/text";

/** A file's name as a shell takes it. */
const quoted = (file: string): string => (/^[\w.,@%+=:/-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`);

export function RooflineHow({ trace }: { trace: Trace }) {
	const file = plain(quoted(trace.info.file));
	// Counters are added to a report; other files are only read.
	const write = trace.info.file.endsWith(".hwy") ? "" : " --write kernels.hwy";
	return <div class="advice how">
		<p><b>{tr("No kernel of this recording has both its operations and its bytes.")}</b> {tr("Any of these gives it a place under the roof:")}</p>
		<p>▸ {tr("measure the kernels that take most time, by running the program again with the GPU's counters:")}</p><pre class="wraps">headway kernels {file}{write} -- PROGRAM …</pre>
		<p>▸ {tr("take what Nsight Compute has measured:")}</p><pre class="wraps">headway kernels {file} --ncu counters.csv{write}</pre>
		<p>▸ {tr("record the shapes of PyTorch's operators, from which both follow without counters:")}</p><pre class="wraps">headway profile -t cuda,pytorch --pytorch-shapes PROGRAM …</pre>
		<p>▸ {phrase("or give torch.profiler {option}.", { option: <code>record_shapes=True</code> })}</p>
	</div>;
}
