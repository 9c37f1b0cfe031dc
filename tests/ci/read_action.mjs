// SPDX-License-Identifier: Apache-2.0
// read_action.mjs MODULES check FILE… - reads actions (action.yml) and workflows with GitHub's own parser and its schema; prints what is wrong.
// read_action.mjs MODULES steps FILE [NAME=VALUE]… - the steps of a composite action that are scripts, in order, each as a shell script of its own on
//   one line of JSON: {"name", "if", "script", "env"}. Values are inputs; `${{ inputs.x }}` and the like are replaced where the runner would.
// read_action.mjs MODULES gitlab FILE - {"variables", "script", "artifacts"} of the job .headway.
import { readFileSync } from 'node:fs';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

// The parser imports its schemas as bundlers let it; node wants to be told that they are JSON.
register(`data:text/javascript,${encodeURIComponent(`export async function load(url, context, next) {
	return next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context);
}`)}`);

const [modules, task, ...rest] = process.argv.slice(2);
const require = createRequire(`${modules}/package.json`);
const load = (path) => import(pathToFileURL(`${modules}/node_modules/@actions/workflow-parser/dist/${path}`).href);
const YAML = require('yaml');

async function check(path) {
	const { NoOperationTraceWriter, parseWorkflow } = await load('index.js');
	const { parseAction } = await load('actions/action-parser.js');
	const file = { name: path, content: readFileSync(path, 'utf8') };
	const trace = new NoOperationTraceWriter();
	const result = path.endsWith('action.yml') ? parseAction(file, trace) : parseWorkflow(file, trace);
	return result.context.errors.getErrors().map((error) => `${path}: ${error.message}`);
}

// What the runner makes of an expression, as far as the action uses them.
function evaluate(text, known) {
	return String(text).replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, expression) => {
		const equal = /^(\S+) == '(.*)'$/.exec(expression);
		const key = equal ? equal[1] : expression;
		if (key.startsWith('steps.')) return `\${{ ${key} }}`; // known only when the step before has run
		if (!(key in known)) throw new Error(`unknown: ${key}`);
		return equal ? String(known[key] === equal[2]) : known[key];
	});
}

function steps(path, given) {
	const action = YAML.parse(readFileSync(path, 'utf8'));
	const known = { 'runner.temp': process.env.RUNNER_TEMP, 'github.token': 'token' };
	for (const [name, input] of Object.entries(action.inputs))
		known[`inputs.${name}`] = evaluate(input.default ?? '', known);
	for (const pair of given) {
		const name = pair.slice(0, pair.indexOf('='));
		if (!(`inputs.${name}` in known)) throw new Error(`no input ${name}`);
		known[`inputs.${name}`] = pair.slice(pair.indexOf('=') + 1);
	}
	for (const step of action.runs.steps.filter((one) => one.run)) {
		if (step.run.includes('${{')) throw new Error(`${step.name}: an input in a script's text is code of whoever gives it`);
		const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, value]) => [name, evaluate(value, known)]));
		console.log(JSON.stringify({ name: step.name, if: step.if ? evaluate(step.if, known) : 'true', script: step.run, env }));
	}
}

if (task === 'check') {
	const wrong = (await Promise.all(rest.map(check))).flat();
	for (const line of wrong) console.log(line);
	process.exit(wrong.length > 0 ? 1 : 0);
} else if (task === 'steps') {
	steps(rest[0], rest.slice(1));
} else {
	const { variables, script, artifacts } = YAML.parse(readFileSync(rest[0], 'utf8'))['.headway'];
	console.log(JSON.stringify({ variables, script, artifacts }));
}
