// The binary as its users start it: what it prints where, and how it ends.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startTagferry, tagferryPath, temporaryFolder, writeJson } from '../support/node/process.mjs';

let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder.remove());

const tagferry = (...args) => {
    const result = spawnSync(tagferryPath(), args, { encoding: 'utf8', timeout: 30_000 });
    return { code: result.status, out: result.stdout, err: result.stderr };
};

const configuration = (name, change = {}) => writeJson(folder.path, name, {
    state_directory: folder.path,
    opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
    web: { listen: ['127.0.0.1:0'] },
    connections: [{
        name: 'press', protocol: 's7', host: '127.0.0.1', port: 1,
        scan_classes: [{ name: 'fast', interval_ms: 100 }],
        tags: [{ path: 'level', address: 'DB1.DBD0', type: 'REAL' }],
    }],
    ...change,
});

test('version is a version on stdout, also as JSON', () => {
    const plain = tagferry('version');
    assert.equal(plain.code, 0);
    assert.match(plain.out, /\d+\.\d+\.\d+/);
    assert.equal(plain.err, '');
    assert.match(JSON.parse(tagferry('version', '--json').out).version, /^\d+\.\d+\.\d+/);
});

test('a word that is no command ends with 64 and says what there is', () => {
    const answer = tagferry('rum');
    assert.equal(answer.code, 64);
    assert.equal(answer.out, '');
    assert.match(answer.err, /rum/);
});

test('help of every command fits a screen and shows examples', () => {
    const commands = ['run', 'check', 'demo', 'read', 'write', 'watch', 'status', 'token',
        'config', 'sim', 'healthcheck', 'completion', 'version'];
    for (const command of commands) {
        const answer = tagferry(command, '--help');
        assert.equal(answer.code, 0, command);
        assert.ok(answer.out.split('\n').length <= 45, `${command} --help is too long`);
        const examples = answer.out.split(/^Examples:$/m)[1].split('\n')
            .filter((line) => line.startsWith('  ') && !line.startsWith('   '));
        assert.ok(examples.length >= 2, `${command} --help shows ${examples.length} examples`);
    }
});

test('check accepts a good file', () => {
    assert.equal(tagferry('check', '-c', configuration('good.json')).code, 0);
});

test('five faults of syntax and meaning are five located lines, and 78', () => {
    const path = join(folder.path, 'faulty.json');
    writeFileSync(path, `{
  "opcua": { "listen": ["0.0.0.0:4840"] },
  "web": { "lissten": ["127.0.0.1:8080"] },
  "connections": [{
    "name": "press", "protocol": "s7", "host": "192.0.2.10"
    "scan_classes": [{ "name": "fast", "interval_ms": 0 }],
    "tags": [
      { "path": "tank/level", "address": "DB1.DBD0", "type": "REAL", "scan_class": "fats" }
    ]
  }]
}
`);
    const answer = tagferry('check', '-c', path);
    assert.equal(answer.code, 78);
    const lines = answer.out.split('\n').filter((line) => /:\d+:\d+: error: /.test(line));
    assert.equal(lines.length, 5, answer.out + answer.err);
    for (const [index, line_number] of [2, 3, 5, 6, 8].entries()) {
        assert.ok(lines[index].startsWith(`${path}:`));
        assert.match(lines[index], new RegExp(`:${line_number}:\\d+: error: .+ \\(.+\\)`));
    }
});

test('run with an invalid file ends with 78 before anything listens', () => {
    const path = writeJson(folder.path, 'invalid.json', { connectoins: [] });
    const answer = tagferry('run', '-c', path);
    assert.equal(answer.code, 78);
    assert.match(answer.err, /connections/);
});

test('run without its file ends with 78 and names the file', () => {
    const answer = tagferry('run', '-c', join(folder.path, 'absent.json'));
    assert.equal(answer.code, 78);
    assert.match(answer.err, /absent\.json/);
});

test('run with every PLC unreachable serves within a second and ends on SIGTERM with 0', async (t) => {
    const begun = Date.now();
    const gateway = await startTagferry(['run', '-c', configuration('unreachable.json')], { t });
    assert.ok(Date.now() - begun < 5000);
    const row = await (await fetch(`${gateway.endpoints.http}/api/v1/values/press/level`)).json();
    assert.notEqual(row.status, 'Good');
    assert.equal((await fetch(`${gateway.endpoints.http}/healthz`)).status, 200);
    assert.equal((await fetch(`${gateway.endpoints.http}/readyz`)).status, 200);
    assert.equal(await gateway.stop(), 0);
});

test('a port that is taken ends run with 73 and names address and port', async () => {
    const other = createServer();
    await new Promise((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address();
    const path = configuration('taken.json', { opcua: { listen: [`127.0.0.1:${port}`] } });
    const answer = tagferry('run', '-c', path);
    other.close();
    assert.equal(answer.code, 73, answer.err);
    assert.match(answer.err, new RegExp(`127\\.0\\.0\\.1.*${port}`));
});

test('run against sim in another process: Good, gone, and Good again', async (t) => {
    let plc = await startTagferry(['sim', '--port', '0'], { t });
    const port = Number(plc.endpoints.s7[0].split(':')[1]);
    const path = configuration('sim.json', {
        connections: [{
            name: 'press', protocol: 's7', host: '127.0.0.1', port,
            scan_classes: [{ name: 'fast', interval_ms: 50 }],
            tags: [{ path: 'level', address: 'DB1.DBD0', type: 'REAL' }],
        }],
    });
    const gateway = await startTagferry(['run', '-c', path], { t });
    const status_is = async (status) => {
        const end = Date.now() + 15_000;
        for (;;) {
            const answer = await fetch(`${gateway.endpoints.http}/api/v1/values/press/level`);
            const row = await answer.json();
            if (row.status === status) {
                return row;
            }
            assert.ok(Date.now() < end, `${status} expected, last ${JSON.stringify(row)}`);
            await new Promise((done) => setTimeout(done, 20));
        }
    };
    await status_is('Good');
    const [link] = (await (await fetch(`${gateway.endpoints.http}/api/v1/connections`)).json()).items;
    assert.deepEqual([link.state, link.connects, link.connect_failures], ['up', 1, 0]);
    assert.equal(await plc.stop(), 0);
    await status_is('BadNoCommunication');
    plc = await startTagferry(['sim', '--port', String(port)], { t });
    await status_is('Good');
    assert.equal(await gateway.stop(), 0);
    assert.equal(await plc.stop(), 0);
});

test('with a log in JSON everything on stderr is JSON, a port that is taken and a doubt included', async () => {
    const other = createServer();
    await new Promise((done) => other.listen(0, '127.0.0.1', done));
    const { port } = other.address();
    const path = configuration('json.json',
        { opcua: { listen: [`127.0.0.1:${port}`], allow_none_policy: false } });
    const answer = tagferry('run', '-c', path, '--log-format', 'json');
    other.close();
    assert.equal(answer.code, 73, answer.err);
    const lines = answer.err.trimEnd().split('\n').map((line) => JSON.parse(line));
    const doubt = lines.find(({ event }) => event === 'config.warning');
    assert.match(doubt.text, /no OPC UA client can connect/);
    const failed = lines.find(({ event }) => event === 'gateway.failed');
    assert.match(failed.reason, new RegExp(`127\\.0\\.0\\.1.*${port}`));
    const invalid = tagferry('run', '-c', join(folder.path, 'absent.json'), '--log-format', 'json');
    assert.equal(invalid.code, 78);
    assert.equal(JSON.parse(invalid.err).event, 'config.invalid');
});

test('check and run both say when no OPC UA client can connect', () => {
    const path = configuration('closed.json', { opcua: { listen: ['127.0.0.1:0'] } });
    const answer = tagferry('check', '-c', path);
    assert.equal(answer.code, 0);
    assert.match(answer.out, /warning: no OPC UA client can connect/);
    const run = tagferry('run', '-c', path, '--duration', '200ms');
    assert.equal(run.code, 0);
    assert.match(run.err, /warning: no OPC UA client can connect/);
});

test('bash completes commands and flags', () => {
    const complete = (...words) => {
        const script = `source <("$TAGFERRY" completion bash); COMP_WORDS=(${words.join(' ')}); ` +
            'COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tagferry; printf "%s\\n" "${COMPREPLY[@]}"';
        return spawnSync('bash', ['-c', script], { encoding: 'utf8', timeout: 30_000 })
            .stdout.trimEnd().split('\n').sort();
    };
    assert.deepEqual(complete('tagferry', 're'), ['read']);
    assert.deepEqual(complete('tagferry', 'token', 'n'), ['new']);
    assert.deepEqual(complete('tagferry', 'token', 'new', '--r'), ['--role']);
    assert.deepEqual(complete('tagferry', 'read', 'press/tank/level', '--max'), ['--max-age']);
    assert.ok(complete('tagferry', "''").includes('demo'));
});
