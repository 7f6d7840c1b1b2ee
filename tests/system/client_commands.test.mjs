// read, write, watch, status, healthcheck: against a demo, which is a gateway with two PLCs.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { eventually, freePort, startTagferry, tagferryPath, temporaryFolder }
    from '../support/node/process.mjs';

let demo;
let url;
let folder;
before(async () => {
    folder = temporaryFolder();
    demo = await startTagferry(['demo', '--faults=off', '--opcua-port', '0', '--http-port', '0',
        '--s7-port', '0']);
    url = demo.endpoints.http;
    await eventually('values', 10_000, async () => {
        const answer = await fetch(`${url}/api/v1/values?tag=press/tank/level&tag=boiler/steam/flow`);
        return (await answer.json()).items.every((row) => row.status === 'Good');
    });
});
after(async () => {
    assert.equal(await demo.stop(), 0);
    folder.remove();
});

/** Runs a command to its end, without blocking the servers of this process. */
const tagferry = (args, { env = {}, input } = {}) => new Promise((resolve) => {
    const child = spawn(tagferryPath(), args, {
        env: { ...process.env, TAGFERRY_URL: url, ...env }, stdio: ['pipe', 'pipe', 'pipe'],
    });
    const seen = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => { seen.out += text; });
    child.stderr.setEncoding('utf8').on('data', (text) => { seen.err += text; });
    child.stdin.end(input);
    child.once('close', (code) => resolve({ code, ...seen }));
});
const with_token = () => ({ env: { TAGFERRY_TOKEN: demo.endpoints.token } });

test('read prints a line a tag, in the order asked for', async () => {
    const answer = await tagferry(['read', 'press/recipe/name', 'press/tank/level']);
    assert.equal(answer.code, 0, answer.err);
    assert.equal(answer.err, '');
    const lines = answer.out.trimEnd().split('\n').map((line) => line.split('\t'));
    assert.equal(lines.length, 2);
    assert.deepEqual(lines[0].slice(0, 3), ['press/recipe/name', 'Gehäuse', 'Good']);
    assert.equal(lines[1][0], 'press/tank/level');
    assert.match(lines[1][1], /^\d+(\.\d+)?$/);
    assert.match(lines[1][3], /^\d{4}-\d\d-\d\dT.*Z$/);
});

test('read takes patterns, and prints JSON', async () => {
    const answer = await tagferry(['read', 'boiler/steam/*', '--json']);
    assert.equal(answer.code, 0, answer.err);
    const { items } = JSON.parse(answer.out);
    assert.deepEqual(items.map(({ path }) => path).sort(), ['boiler/steam/flow',
        'boiler/steam/pressure', 'boiler/steam/setpoint', 'boiler/steam/temperature',
        'boiler/steam/total']);
    const all = JSON.parse((await tagferry(['read', '**', '--json'])).out).items;
    assert.ok(all.length >= 40);
    assert.ok(all.every(({ status }) => status === 'Good'));
});

test('a tag that does not exist is said on stderr and ends read with 1', async () => {
    const answer = await tagferry(['read', 'press/tank/level', 'press/tank/lvel']);
    assert.equal(answer.code, 1);
    assert.match(answer.out, /BadNodeIdUnknown/);
    assert.match(answer.err, /there is no tag "press\/tank\/lvel"/);
    assert.equal((await tagferry(['read', 'nothing/*'])).code, 1);
});

test('no gateway is 69, with what to look at', async () => {
    const port = await freePort();
    for (const command of [['read', 'a'], ['watch', 'a'], ['write', 'a', '1'], ['status'],
        ['healthcheck']]) {
        const answer = await tagferry([...command, '--url', `http://127.0.0.1:${port}`]);
        assert.equal(answer.code, 69, command[0]);
        assert.match(answer.err, new RegExp(`no gateway answers at http://127.0.0.1:${port}`));
        assert.equal(answer.out, '');
    }
});

test('another server than a gateway is 69', async () => {
    const other = createServer((_, response) => response.end('hello'));
    await new Promise((done) => other.listen(0, '127.0.0.1', done));
    const answer = await tagferry(['read', 'a', '--url', `127.0.0.1:${other.address().port}`]);
    other.close();
    assert.equal(answer.code, 69, answer.err);
    assert.match(answer.err, /not what a Tagferry gateway would say/);
});

test('a URL that is none is 64', async () => {
    for (const bad of ['https://127.0.0.1', 'http://127.0.0.1:99999', 'http://']) {
        assert.equal((await tagferry(['status', '--url', bad])).code, 64, bad);
    }
});

test('status says in words how everything is', async () => {
    const answer = await tagferry(['status']);
    assert.equal(answer.code, 0, answer.out + answer.err);
    assert.match(answer.out, /2 PLCs, no problem/);
    assert.match(answer.out, /press .*up/);
    assert.ok(answer.out.split('\n').length <= 24);
    const made = JSON.parse((await tagferry(['status', '--json'])).out);
    assert.deepEqual(made.problems, []);
    assert.equal(made.connections.length, 2);
    assert.equal(made.tags.good, made.tags.total);
});

test('healthcheck is 0 while the gateway works', async () => {
    assert.equal((await tagferry(['healthcheck'])).code, 0);
    assert.deepEqual(JSON.parse((await tagferry(['healthcheck', '--ready', '--json'])).out),
        { ok: true, text: 'ready' });
});

test('write: a number, a STRING and an array arrive in the PLC and are read back', async () => {
    const answer = await tagferry(['write', 'press/recipe/setpoint', '950.5',
        'press/recipe/name', 'Flansch größer', 'press/recipe/profile', '1,2,3,4,5,6,7,8,9,-10',
        'press/pump/enabled', 'off'], with_token());
    assert.equal(answer.code, 0, answer.err);
    assert.match(answer.out, /press\/recipe\/setpoint: written: 950\.5/);
    const back = await tagferry(['read', 'press/recipe/*', 'press/pump/enabled', '--max-age', '0',
        '--json']);
    const values = Object.fromEntries(JSON.parse(back.out).items.map((row) => [row.path, row.value]));
    assert.deepEqual(values, {
        'press/recipe/name': 'Flansch größer',
        'press/recipe/setpoint': 950.5,
        'press/recipe/profile': [1, 2, 3, 4, 5, 6, 7, 8, 9, -10],
        'press/pump/enabled': false,
    });
});

test('write takes a value from standard input, and an array as JSON', async () => {
    const answer = await tagferry(['write', 'press/recipe/name', '-'],
        { ...with_token(), input: 'von außen\n' });
    assert.equal(answer.code, 0, answer.err);
    const json = await tagferry(['write', 'press/recipe/profile', '[10,9,8,7,6,5,4,3,2,1]',
        '--json'], with_token());
    assert.equal(json.code, 0, json.err);
    assert.equal(JSON.parse(json.out).outcome, 'written');
    const back = await tagferry(['read', 'press/recipe/name', '--max-age', '0']);
    assert.match(back.out, /\tvon außen\t/);
});

test('what is not written says why, each with its own code', async () => {
    const cases = [
        [['press/tank/level', '1'], with_token(), 77, /refused.*(read-only|not writable|written)/i],
        [['press/recipe/setpoint', '1'], {}, 77, /token/],
        [['press/recipe/setpoint', '1'], { env: { TAGFERRY_TOKEN: 'of somebody else' } }, 77, /./],
        [['press/recipe/setpoint', 'much'], with_token(), 65, /"much" is no REAL: write a number/],
        [['press/recipe/profile', '1,2,3'], with_token(), 65, /refused/],
        [['press/recipe/name', 'x'.repeat(200)], with_token(), 65, /refused/],
        [['press/recipe/nmae', 'x'], with_token(), 65, /there is no tag/],
        [['press/recipe/setpoint'], with_token(), 64, /no value for "press\/recipe\/setpoint"/],
    ];
    for (const [args, options, code, words] of cases) {
        const answer = await tagferry(['write', ...args], options);
        assert.equal(answer.code, code, `${args.join(' ')}: ${answer.err}`);
        assert.match(answer.err, words);
        assert.equal(answer.out, '');
    }
});

test('a token file opens the door; one that holds no token is said', async () => {
    const file = join(folder.path, 'token');
    writeFileSync(file, `${demo.endpoints.token}\n`);
    chmodSync(file, 0o600);
    const answer = await tagferry(['write', 'press/recipe/setpoint', '1000', '--token-file', file]);
    assert.equal(answer.code, 0, answer.err);
    const none = await tagferry(['write', 'press/recipe/setpoint', '1', '--token-file',
        join(folder.path, 'absent')]);
    assert.equal(none.code, 77);
    assert.match(none.err, /cannot be read/);
});

test('watch prints what changes until --count', async () => {
    // The ram moves while the pump runs.
    const on = await tagferry(['write', 'press/pump/enabled', 'on'], with_token());
    assert.equal(on.code, 0, on.err);
    const answer = await tagferry(['watch', 'press/ram/position', 'press/recipe/*', '--count', '12',
        '--duration', '20s', '--json']);
    assert.equal(answer.code, 0, answer.err);
    const rows = answer.out.trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(rows.length, 12);
    assert.ok(rows.some(({ path, value }) => path === 'press/recipe/profile' && value.length === 10));
    const positions = rows.filter(({ path }) => path === 'press/ram/position');
    assert.ok(positions.length > 1);
    assert.ok(positions.every(({ status, reason, source_timestamp }) =>
        status === 'Good' && reason === null && source_timestamp.endsWith('Z')));
});

test('watch sees a write of a STRING and ends on SIGINT with 0', async () => {
    const child = spawn(tagferryPath(), ['watch', 'press/recipe/name'],
        { env: { ...process.env, TAGFERRY_URL: url } });
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { seen += text; });
    await eventually('a first value', 10_000, () => seen.includes('press/recipe/name\t'));
    await tagferry(['write', 'press/recipe/name', 'gesehen'], with_token());
    await eventually('the write', 10_000, () => seen.includes('\tgesehen\tGood'));
    child.kill('SIGINT');
    assert.equal(await new Promise((done) => child.once('close', done)), 0);
});

test('watch of nothing, and with too little time', async () => {
    const nothing = await tagferry(['watch', 'press/nothing', '--duration', '10s']);
    assert.equal(nothing.code, 65, nothing.out);
    assert.match(nothing.err, /there is no tag "press\/nothing"/);
    const unmatched = await tagferry(['watch', 'press/nothing/*', '--duration', '10s']);
    assert.equal(unmatched.code, 65);
    assert.match(unmatched.err, /no tag matches/);
    const late = await tagferry(['watch', 'press/recipe/setpoint', '--count', '1000',
        '--duration', '500ms']);
    assert.equal(late.code, 75);
});
