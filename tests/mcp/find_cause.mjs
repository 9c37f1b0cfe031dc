// SPDX-License-Identifier: Apache-2.0
// find_cause.mjs MODULES HEADWAY ROOT RECORDING - finds the cause of a recording's loss, and its line, by calls of tools alone.
//
// The client is the protocol's own SDK (in MODULES). Nothing here knows the recording: every question follows from the answer before it.
// Prints a transcript in Markdown: each call, and of its answer what the next question is made of.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, headway, root, wanted] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load('client/index.js');
const { StdioClientTransport } = await load('client/stdio.js');

const say = (...lines) => console.log(lines.join('\n'));
const client = new Client({ name: 'find-cause', version: '1.0.0' });
await client.connect(new StdioClientTransport({
	command: headway,
	args: ['mcp', '--root', `${root}/tests/data/gpu`, '--source', root],
}));
const tools = (await client.listTools()).tools.map((tool) => tool.name);

// Calls a tool; 'take' says which part of the answer goes on.
async function ask(name, args, take) {
	if (!tools.includes(name)) throw new Error(`no tool ${name}`);
	const result = await client.callTool({ name, arguments: args });
	const [frame, json] = result.content.map((block) => block.text);
	if (result.isError) throw new Error(`${name}: ${json} ${frame}`);
	const taken = take(JSON.parse(json));
	say('', `**${name}** \`${JSON.stringify(args)}\``, '', '```json', JSON.stringify(taken, null, 1), '```');
	return taken;
}

const recording = (await ask('recordings', {}, (answer) =>
	answer.recordings.filter((one) => one.path.includes(wanted)).map((one) => one.path)))[0];
await ask('verdict', { recording }, ({ summary }) => ({ verdict: summary.verdict, says: summary.verdict_says }));
const finding = await ask('findings', { recording }, ({ findings: [first] }) => ({
	id: first.id, says: first.says, evidence: first.evidence.slice(0, 2), edits: first.predicted?.edits, advice: first.advice,
}));
await ask('evidence', { recording, spans: finding.evidence }, (spans) => spans.map(({ kind, name }) => ({ kind, name })));
const place = await ask('places', { recording, around: 0 }, ({ findings: [first] }) => {
	const { file, line, function: inside, source } = first.places[0];
	return { file, line, function: inside, source };
});
if (finding.edits)
	await ask('whatif', { recording, edits: finding.edits }, ({ predictions: [first] }) => ({
		edits: first.edits, speedup: Math.round(first.speedup * 10) / 10,
	}));
say('', `The cause: ${finding.id} at ${place.file}:${place.line}: \`${place.source[0].text.trim()}\``);
await client.close();
