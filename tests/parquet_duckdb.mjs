// SPDX-License-Identifier: Apache-2.0
// parquet_duckdb.mjs MODULES COMMAND …: looks at Parquet exports with DuckDB, which lies in the folder MODULES.
//
//   compare LAKE CSV   every table of spans, and the messages, have the cells of the CSV export, row by row; and numbers that engines
//                      answer from statistics (count, sum, min, max) are the same. Prints the tables and rows that were compared.
//   query SQL …        prints the rows of each query, fields separated by '|'
//   questions HEADWAY RECORDING LAKE SQL
//                      every question of the folder SQL that needs nothing of headway's own has the same answer from DuckDB over
//                      the export LAKE as from `headway sql` over the recording. Prints the questions that were asked.
//   refused FILE …     fails unless DuckDB refuses to read each of the files
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';

const [modules, command, ...rest] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(`${modules}/`)('@duckdb/node-api');
const connection = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await connection.runAndReadAll(sql)).getRowsJson();

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
const literal = (text) => `'${text.replaceAll("'", "''")}'`;

function fail(text) {
	console.error(`parquet_duckdb: ${text}`);
	process.exit(1);
}

// What a cell of the export is in CSV. A counter's value may be a whole number or a double there.
function asText(table, name) {
	if (table === 'counter' && name === 'value') {
		return 'coalesce(value_integer::VARCHAR, "value"::VARCHAR)';
	}
	return `coalesce(${quoted(name)}::VARCHAR, '')`;
}
function fromCsv(table, name) {
	if (table === 'counter' && name === 'value') {
		return `coalesce(try_cast("value" AS BIGINT)::VARCHAR, "value"::DOUBLE::VARCHAR)`;
	}
	return `coalesce(${quoted(name)}, '')`;
}

async function compareTable(table, parquet, csv) {
	await rows(`CREATE OR REPLACE VIEW p AS SELECT * FROM read_parquet(${literal(parquet)}, hive_partitioning = false)`);
	await rows(`CREATE OR REPLACE VIEW c AS SELECT * FROM read_csv(${literal(csv)}, all_varchar = true, header = true,
		delim = ',', quote = '"', escape = '"', strict_mode = true, max_line_size = 50000000, auto_detect = false,
		columns = ${await csvColumns(csv)})`);
	const names = (await rows('DESCRIBE c')).map((row) => row[0]);
	const ours = (await rows('DESCRIBE p')).filter((row) => !['value_integer', 'role', 'class', 'lane_id'].includes(row[0]));
	if (names.join() !== ours.map((row) => row[0]).join()) {
		fail(`${table}: columns ${ours.map((row) => row[0])}, in CSV ${names}`);
	}
	const left = names.map((name) => asText(table, name)).join(', ');
	const right = names.map((name) => fromCsv(table, name)).join(', ');
	for (const [a, b] of [[`SELECT ${left} FROM p`, `SELECT ${right} FROM c`], [`SELECT ${right} FROM c`, `SELECT ${left} FROM p`]]) {
		const different = await rows(`${a} EXCEPT ALL ${b} LIMIT 3`);
		if (different.length > 0) {
			fail(`${table}: ${JSON.stringify(different)} differ`);
		}
	}
	// One query each for all columns: what DuckDB answers from our statistics, and what it counts in the text.
	const asked = [], counted = [];
	for (const [name, type] of ours.filter((row) => row[1] !== 'DOUBLE')) {
		const of = quoted(name), cell = type === 'BIGINT' ? `nullif(${of}, '')::BIGINT` : `nullif(${of}, '')`;
		for (const what of ['count', type === 'BIGINT' ? 'sum' : 'approx_count_distinct', 'min', 'max']) {
			asked.push(`${what}(${of})`);
			counted.push(`${what}(${cell})`);
		}
	}
	const [p] = await rows(`SELECT ${asked.join(', ')} FROM p`), [c] = await rows(`SELECT ${counted.join(', ')} FROM c`);
	for (let i = 0; i < asked.length; i++) {
		if (p[i] !== c[i]) {
			fail(`${table}: ${asked[i]} is ${p[i]}, in CSV ${c[i]}`);
		}
	}
	const [[n]] = await rows('SELECT count(*) FROM p');
	const [[unordered]] = names.includes('duration') || table === 'counter'
		? await rows('SELECT count(*) FROM (SELECT start, lag(start) OVER () AS before FROM p) WHERE start < before') : [['0']];
	if (unordered !== '0') {
		fail(`${table}: ${unordered} rows are not in order of their start`);
	}
	console.log(`${table} ${n}`);
}

async function csvColumns(csv) {
	const [[head]] = await rows(`SELECT split_part(content, chr(10), 1) FROM read_text(${literal(csv)})`);
	return `{${head.split(',').map((name) => `${literal(name.replaceAll('-', '_'))}: 'VARCHAR'`).join(', ')}}`;
}

// A view for each table of the export; of all its jobs and ranks.
async function makeViews(lake) {
	const tables = new Set(readdirSync(lake, { recursive: true }).map((path) => /table=(\w+)$/.exec(path)?.[1]).filter(Boolean));
	for (const table of tables) {
		await rows(`CREATE VIEW ${quoted(table)} AS SELECT * FROM read_parquet(${literal(`${lake}/*/*/table=${table}/*.parquet`)}, hive_partitioning = true)`);
	}
	return tables;
}

// Rows as sorted texts: numbers in nine digits, since engines add doubles in another order.
const asLines = (table) => table.map((row) => row.map((cell) => {
	const number = cell === null || cell === '' ? NaN : Number(cell);
	return Number.isFinite(number) ? String(Number(number.toPrecision(9))) : String(cell ?? '');
}).join('|')).sort();

// Of a job, the export has the analysis of each rank, `headway sql` that of all ranks as one trace; a rank that is not known is rank 0 in the export.
const ANALYSIS = ['phases', 'steps', 'gaps', 'findings', 'verdict'];
const isAlike = (recording, sql, needed) => (statSync(recording).isDirectory() ? !needed.some((table) => ANALYSIS.includes(table)) : !/group by.*\brank\b/.test(sql));

async function askQuestion(headway, recording, tables, path, name) {
	const sql = readFileSync(path, 'utf8');
	const query = sql.replace(/^--.*/gm, '');
	// Not the names that the question gives to parts of itself.
	const own = new Set([...query.matchAll(/\b(\w+) as \(/g)].map((match) => match[1]));
	const needed = [...query.matchAll(/\b(?:from|join) (\w+)/g)].map((match) => match[1]).filter((table) => !own.has(table));
	if (/headway's own/.test(sql) || !needed.every((table) => tables.has(table)) || !isAlike(recording, sql, needed)) {
		return;
	}
	const theirs = asLines(await rows(sql.replace(/;\s*$/, '')));
	const said = JSON.parse(execFileSync(headway, ['sql', recording, '-f', name, '--format', 'json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
	const ours = asLines(said.map((row) => Object.values(row)));
	if (ours.join('\n') !== theirs.join('\n')) {
		fail(`${name}: ${ours.length} rows, DuckDB has ${theirs.length}: ${ours.find((line, i) => line !== theirs[i])} / ${theirs.find((line, i) => line !== ours[i])}`);
	}
	console.log(`${name} ${ours.length}`);
}

if (command === 'compare') {
	const [folder, csv] = rest;
	for (const file of readdirSync(csv).sort()) {
		const table = file.replace('.csv', '');
		if (!existsSync(`${folder}/table=${table}`)) {
			fail(`${table}: is missing`);
		}
		await compareTable(table, `${folder}/table=${table}/part-0.parquet`, `${csv}/${file}`);
	}
} else if (command === 'query') {
	for (const sql of rest) {
		for (const row of await rows(sql)) {
			console.log(row.join('|'));
		}
	}
} else if (command === 'questions') {
	const [headway, recording, lake, folder] = rest;
	const tables = await makeViews(lake);
	for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql')).sort()) {
		await askQuestion(headway, recording, tables, `${folder}/${file}`, file.replace('.sql', ''));
	}
} else if (command === 'refused') {
	for (const file of rest) {
		let answer;
		try {
			answer = await rows(`SELECT * FROM read_parquet(${literal(file)})`);
		} catch {
			continue;
		}
		fail(`${file}: was read, ${answer.length} rows`);
	}
} else {
	fail('compare, query, questions or refused?');
}
process.exit(0);
