// The demo as a first user meets it.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';

import { eventually, startTagferry, tagferryPath, temporaryFolder } from '../support/node/process.mjs';

const any_ports = ['--opcua-port', '0', '--http-port', '0', '--s7-port', '0'];
const rows = async (url, filter) =>
    (await (await fetch(`${url}/api/v1/values?filter=${filter}&limit=1000`)).json()).items;

test('one line for scripts, at least 40 tags, and an end by itself that leaves no file', async (t) => {
    const folder = temporaryFolder();
    const before = readdirSync(tmpdir());
    const begun = Date.now();
    const demo = await startTagferry(['demo', '--faults=off', '--duration', '4s', ...any_ports],
        { t, env: { HOME: folder.path } });
    assert.deepEqual(Object.keys(demo.endpoints), ['opcua', 'http', 's7', 'pid', 'token']);
    assert.match(demo.endpoints.token, /^tagferry_[\w-]{43}$/);
    assert.ok((await rows(demo.endpoints.http, '**')).length >= 40);
    assert.equal(await demo.exited, 0);
    assert.ok(Date.now() - begun >= 4_000);
    assert.deepEqual(readdirSync(folder.path), []);
    assert.deepEqual(readdirSync(tmpdir()).filter((name) =>
        !before.includes(name) && name.includes('tagferry') && !name.startsWith('tagferry-test-')), []);
    folder.remove();
});

test('set points act: the ram presses as hard as asked, a switched-off pump comes to rest', async (t) => {
    const demo = await startTagferry(['demo', '--faults=off', ...any_ports], { t });
    const put = (path, value) => fetch(`${demo.endpoints.http}/api/v1/values/press/${path}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${demo.endpoints.token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ value }),
    });
    await eventually('values', 10_000, async () =>
        (await rows(demo.endpoints.http, 'press/**')).every(({ status }) => status === 'Good'));
    const seen = { force: 0, speed: [] };
    const look = async () => {
        for (const row of await rows(demo.endpoints.http, 'press/**')) {
            if (row.path === 'press/ram/force' && row.value !== null) {
                seen.force = Math.max(seen.force, row.value);
            }
            if (row.path === 'press/pump/speed' && row.value !== null) {
                seen.speed.push(row.value);
            }
        }
        await new Promise((done) => setTimeout(done, 100));
    };
    assert.equal((await put('recipe/setpoint', 400)).status, 200);
    for (const end = Date.now() + 9_000; Date.now() < end;) {
        await look();
    }
    assert.ok(seen.force > 350 && seen.force < 420, `force ${seen.force}`);
    assert.ok(Math.max(...seen.speed) > 2_500);
    assert.equal((await put('pump/enabled', false)).status, 200);
    for (const end = Date.now() + 15_000; Date.now() < end && seen.speed.at(-1) > 100;) {
        await look();
    }
    assert.ok(seen.speed.at(-1) <= 100, `speed ${seen.speed.at(-1)}`);
    assert.equal(await demo.stop(), 0);
});

test('for people it prints where everything is, and ports that are taken are passed over', async () => {
    const other = createServer();
    const taken = await new Promise((done) => {
        other.once('error', () => done(false));
        other.listen(8080, '127.0.0.1', () => done(true));
    });
    const child = spawn(tagferryPath(), ['demo', '--duration', '2s']);
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text) => { out += text; });
    const code = await new Promise((done) => child.once('close', done));
    if (taken) {
        other.close();
    }
    assert.equal(code, 0, out);
    const port = Number(/^Page +http:\/\/127\.0\.0\.1:(\d+)\//m.exec(out)[1]);
    assert.ok(port > 8080, out);
    assert.match(out, /^OPC UA +opc\.tcp:\/\/127\.0\.0\.1:\d+/m);
    assert.match(out, new RegExp(`curl http://127.0.0.1:${port}/api/v1/values/press/tank/level`));
    assert.match(out, /export TAGFERRY_TOKEN=tagferry_[\w-]{43}$/m);
    assert.match(out, /cable is pulled/);
});

test('a fault by name, one that nobody knows, a port that is none', () => {
    const named = spawnSync(tagferryPath(), ['demo', '--faults', 'late_reply:start=1s,length=1s,period=3s',
        '--duration', '1s', ...any_ports], { encoding: 'utf8', timeout: 20_000 });
    assert.equal(named.status, 0, named.stderr);
    assert.match(named.stdout, /After 1 s the boiler's PLC shows/);
    const unknown = spawnSync(tagferryPath(), ['demo', '--faults', 'earthquake', ...any_ports],
        { encoding: 'utf8', timeout: 20_000 });
    assert.equal(unknown.status, 64, unknown.stderr);
    assert.match(unknown.stderr, /earthquake/);
    const port = spawnSync(tagferryPath(), ['demo', '--http-port', '99999'],
        { encoding: 'utf8', timeout: 20_000 });
    assert.equal(port.status, 64);
    assert.match(port.stderr, /"99999" is no port; write 1 to 65535/);
});

test('after 20 s the cable is pulled: Bad with the reason and the last good value, then Good', async (t) => {
    const demo = await startTagferry(['demo', ...any_ports], { t });
    const url = demo.endpoints.http;
    const status = () => spawnSync(tagferryPath(), ['status', '--url', url], { encoding: 'utf8' });
    const pressure = async () =>
        (await fetch(`${url}/api/v1/values/boiler/steam/pressure`)).json();
    await eventually('values', 10_000, async () => (await pressure()).status === 'Good');
    await eventually('the fault', 30_000, async () => (await pressure()).status === 'BadNoCommunication');
    const bad = await pressure();
    assert.equal(bad.value, null);
    assert.equal(typeof bad.reason, 'string');
    assert.equal(typeof bad.last_good.value, 'number');
    const said = status();
    assert.equal(said.status, 1);
    assert.match(said.stdout, /2 PLCs, 1 problem:\n +boiler \(127\.0\.0\.1:\d+\) is down for \d+ s: /);
    const press = await (await fetch(`${url}/api/v1/values/press/tank/level`)).json();
    assert.equal(press.status, 'Good');
    await eventually('the end of the fault', 30_000, async () => (await pressure()).status === 'Good');
    assert.equal(status().status, 0);
    assert.equal(await demo.stop(), 0);
    assert.match(demo.stderr(), /event=demo\.fault .*cable pulled/);
});
