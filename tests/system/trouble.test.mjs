// What goes wrong in the real thing: a PLC that falls silent under a write, and one that takes half
// of a value.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';

import { eventually, startTagferry, tagferryPath, temporaryFolder, writeJson }
    from '../support/node/process.mjs';

let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder.remove());

const run_to_end = (args) => new Promise((resolve) => {
    const child = spawn(tagferryPath(), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const seen = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => { seen.out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { seen.err += text; });
    child.once('close', (code) => resolve({ code, ...seen }));
});
const token = async () => JSON.parse((await run_to_end(
    ['token', 'new', '--role', 'operator', '--name', 'mes', '--json'])).out);

/** A gateway with these tags over a PLC of its own; both end with the test. */
const gateway_over = async (t, name, tags, { faults = [], connection = {} } = {}) => {
    const plc_file = writeJson(folder.path, `${name}-plc.json`,
        { data_blocks: [{ number: 1, size: 64 }, { number: 2, size: 64 }] });
    const plc = await startTagferry(['sim', '--plc', plc_file, '--port', '0',
        ...faults.flatMap((fault) => ['--fault', fault])], { t });
    const key = await token();
    const file = writeJson(folder.path, `${name}.json`, {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'], tokens: [key.configuration] },
        connections: [{
            name: 'press', host: '127.0.0.1', port: Number(plc.endpoints.s7[0].split(':')[1]),
            tags, ...connection,
        }],
    });
    const gateway = await startTagferry(['run', '-c', file], { t });
    return { url: gateway.endpoints.http, key };
};
const is_status = (url, tag, status) => async () => {
    const row = await (await fetch(`${url}/api/v1/values/press/${tag}`)).json();
    return row.status === status;
};
const write = (url, key, ...args) => new Promise((resolve) => {
    const child = spawn(tagferryPath(), ['write', ...args, '--url', url], {
        stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TAGFERRY_TOKEN: key.token },
    });
    let err = '';
    child.stderr.setEncoding('utf8').on('data', (text) => { err += text; });
    child.once('close', (code) => resolve({ code, err }));
});

test('a write that the PLC never answers ends with 74: nobody knows what became of it', async (t) => {
    const { url, key } = await gateway_over(t, 'silent',
        [{ path: 'setpoint', address: 'DB1.DBD0', type: 'REAL', writable: true }], {
            faults: ['silence:start=2s'],
            // The one scan is over before the silence, so that the write alone meets it.
            connection: { job_timeout_ms: 500, scan_classes: [{ name: 'rare', interval_ms: 60_000 }] },
        });
    await eventually('a first value', 1800, is_status(url, 'setpoint', 'Good'));
    await new Promise((done) => setTimeout(done, 2200));
    const answer = await write(url, key, 'press/setpoint', '1.5');
    assert.equal(answer.code, 74, answer.err);
    assert.match(answer.err, /press\/setpoint: sent, and nobody knows what became of it/);
});

test('a value of which the PLC takes half ends with 76, and says how much', async (t) => {
    // The second text would lie behind the end of its block.
    const { url, key } = await gateway_over(t, 'half',
        [{ path: 'list', address: 'DB2.DBB57', type: 'ARRAY[0..1] OF STRING[3]', writable: true }]);
    await eventually('the block too short', 5000, is_status(url, 'list', 'BadConfigurationError'));
    const answer = await write(url, key, 'press/list', '["x","y"]');
    assert.equal(answer.code, 76, answer.err);
    assert.match(answer.err, /press\/list: written in part/);
    const told = await (await fetch(`${url}/api/v1/values/press/list`, {
        method: 'PUT', body: '{"value": ["x","y"]}',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key.token}` },
    })).json();
    assert.equal(told.outcome, 'partial');
    assert.equal(told.bytes_written, 2);
});
