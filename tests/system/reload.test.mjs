// SIGHUP and SIGTERM, and what is said of PLCs that cannot be reached.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, test } from 'node:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

import { eventually, freePort, startTagferry, tagferryPath, temporaryFolder, writeJson } from '../support/node/process.mjs';

let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder.remove());

const level = { path: 'level', address: 'DB1.DBD0', type: 'REAL' };
const speed = { path: 'speed', address: 'DB1.DBW4', type: 'INT', scan_class: 'slow' };

const configuration = (port, tags, change = {}) => ({
    state_directory: folder.path,
    opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
    web: { listen: ['127.0.0.1:0'] },
    connections: [{
        name: 'press', protocol: 's7', host: '127.0.0.1', port,
        scan_classes: [{ name: 'fast', interval_ms: 50 }, { name: 'slow', interval_ms: 200 }],
        tags, ...change,
    }],
});

const get = async (gateway, path) => {
    const answer = await fetch(`${gateway.endpoints.http}${path}`);
    return { status: answer.status, text: await answer.text() };
};

const isGood = async (gateway, tag) => {
    const { status, text } = await get(gateway, `/api/v1/values/press/${tag}`);
    return status === 200 && JSON.parse(text).status === 'Good';
};

const metric = async (gateway, name) => {
    const { text } = await get(gateway, '/metrics');
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    assert.ok(line, `${name} is not on the metrics page`);
    return Number(line.split(' ')[1]);
};

test('SIGHUP takes over changed tags, and nothing else', async (t) => {
    const plcFile = writeJson(folder.path, 'plc.json', { data_blocks: [{ number: 1, size: 64 }] });
    const plc = await startTagferry(['sim', '--plc', plcFile, '--port', '0'], { t });
    const port = Number(plc.endpoints.s7[0].split(':')[1]);
    const file = writeJson(folder.path, 'reload.json', configuration(port, [level]));
    const gateway = await startTagferry(['run', '-c', file], { t });
    const reload = (value) => {
        writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
        process.kill(gateway.pid, 'SIGHUP');
    };
    const successful = 'tagferry_config_last_reload_successful';
    try {
        await eventually('the first tag is Good', 5000, () => isGood(gateway, 'level'));
        assert.equal(await metric(gateway, successful), 1);
        const started = await metric(gateway, 'tagferry_config_last_reload_success_timestamp_seconds');
        assert.ok(Math.abs(started - Date.now() / 1000) < 60);

        reload(configuration(port, [level, speed]));
        await eventually('a tag that was added is Good', 5000, () => isGood(gateway, 'speed'));
        assert.ok(await metric(gateway, 'tagferry_config_last_reload_success_timestamp_seconds') > started);

        reload('{ "connections": [');
        await eventually('a broken file is noted', 5000, async () => await metric(gateway, successful) === 0);
        assert.match(gateway.stderr(), /event=config\.invalid/);
        assert.ok(await isGood(gateway, 'speed'), 'the old configuration stays');

        reload(configuration(port, [level]));
        await eventually('a tag that was removed is gone', 5000,
            async () => (await get(gateway, '/api/v1/values/press/speed')).status === 404);
        assert.equal(await metric(gateway, successful), 1);

        reload(configuration(port, [level, speed], { job_timeout_ms: 700 }));
        await eventually('what needs a restart is noted', 5000, async () => await metric(gateway, successful) === 0);
        assert.match(gateway.stderr(), /event=config\.not_applied .*connections\.press\.job_timeout_ms/);
        assert.equal((await get(gateway, '/api/v1/values/press/speed')).status, 404);
        const connections = JSON.parse((await get(gateway, '/api/v1/connections')).text).items;
        assert.equal(connections[0].connects, 1, 'the link stayed up all the time');

        process.kill(plc.pid, 'SIGHUP');
        await new Promise((done) => setTimeout(done, 300));
        assert.ok(await isGood(gateway, 'level'), 'the simulated PLC lives on');
    } finally {
        assert.equal(await gateway.stop(), 0);
        assert.equal(await plc.stop(), 0);
    }
});

test('SIGHUP does not end the demo', async (t) => {
    const demo = await startTagferry(['demo', '--opcua-port', '0', '--http-port', '0', '--s7-port', '0'], { t });
    process.kill(demo.pid, 'SIGHUP');
    await new Promise((done) => setTimeout(done, 300));
    assert.equal((await get(demo, '/healthz')).status, 200);
    assert.equal(await demo.stop(), 0);
});

/** Whether the process holds SIGTERM back, as one that serves does from the first line of `main`. */
const holdsSigtermBack = (pid) => {
    const line = /^SigBlk:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return line !== null && (BigInt(`0x${line[1]}`) & (1n << BigInt(constants.signals.SIGTERM - 1))) !== 0n;
};

test('SIGTERM while it starts is an orderly end', async () => {
    const file = writeJson(folder.path, 'early.json', configuration(1, [level]));
    for (const args of [['run', '-c', file], ['demo', '--opcua-port', '0', '--http-port', '0', '--s7-port', '0']]) {
        const child = spawn(tagferryPath(), args, { stdio: 'ignore' });
        const ended = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)));
        await new Promise((done) => child.once('spawn', done));
        const begun = Date.now();
        while (!holdsSigtermBack(child.pid)) {
            await new Promise((done) => setTimeout(done, 1));
        }
        console.log(`${args[0]} holds SIGTERM back after ${Date.now() - begun} ms`);
        child.kill('SIGTERM');
        assert.equal(await ended, 0, args[0]);
    }
});

test('why a PLC cannot be reached is told apart, and said seldom', async (t) => {
    const refused = await freePort();
    const settings = configuration(refused, [level]);
    settings.connections.push({ ...settings.connections[0], name: 'nowhere', host: 'no-such-host.invalid' });
    for (const each of settings.connections) {
        each.back_off_ms = { min: 50, max: 100 };
    }
    const gateway = await startTagferry(['run', '-c', writeJson(folder.path, 'unreachable.json', settings)], { t });
    try {
        const rows = async () => JSON.parse((await get(gateway, '/api/v1/connections')).text).items;
        await eventually('both have failed often', 20_000,
            async () => (await rows())[0].connect_failures > 30 && (await rows())[1].connect_failures > 2);
        const [press, nowhere] = await rows();
        assert.match(press.reason, /refuses the connection/);
        assert.match(nowhere.reason, /name/);
        const lines = gateway.stderr().split('\n').filter((line) => /event=s7\.connect_failed/.test(line));
        const of = (name) => lines.filter((line) => line.includes(`connection=${name}`)).length;
        assert.ok(of('press') >= 1 && of('press') <= 4, `${of('press')} lines`);
        const value = JSON.parse((await get(gateway, '/api/v1/values/press/level')).text);
        assert.equal(value.status, 'BadNoCommunication');
        assert.equal(value.source_timestamp, null);
    } finally {
        assert.equal(await gateway.stop(), 0);
    }
});

test('a name that resolves is not held up by many that do not', async (t) => {
    const plcFile = writeJson(folder.path, 'plc2.json', { data_blocks: [{ number: 1, size: 64 }] });
    const plc = await startTagferry(['sim', '--plc', plcFile, '--port', '0'], { t });
    const settings = configuration(Number(plc.endpoints.s7[0].split(':')[1]), [level]);
    const good = { ...settings.connections[0], host: 'localhost' };
    settings.connections = Array.from({ length: 24 }, (_, i) => (
        { ...good, name: `dead${i}`, host: `dead-${i}.invalid` }));
    settings.connections.push(good);
    const gateway = await startTagferry(['run', '-c', writeJson(folder.path, 'names.json', settings)], { t });
    try {
        await eventually('the good one is Good', 10_000, () => isGood(gateway, 'level'));
    } finally {
        assert.equal(await gateway.stop(), 0);
        assert.equal(await plc.stop(), 0);
    }
});
