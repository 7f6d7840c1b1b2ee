// The whole path against software nobody here wrote: the S7 server of node-snap7 is the PLC,
// node-opcua and curl are the clients.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { connectClient, opcua, walk } from '../support/node/opcua_client.mjs';
import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';
import { startSnap7Server } from '../support/node/snap7_server.mjs';

const run = promisify(execFile);
const curl = async (url) => JSON.parse((await run('curl', ['-sS', '--max-time', '5', url])).stdout);

// DB1: BOOL at 0.3, INT at 2, REAL at 4.
const block = ({ running, count, level }) => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt8(running ? 0x08 : 0, 0);
    bytes.writeInt16BE(count, 2);
    bytes.writeFloatBE(level, 4);
    return bytes;
};

let folder, plc_port, plc, gateway, client;
const first = { running: true, count: -1234, level: 12.5 };

before(async () => {
    folder = temporaryFolder();
    plc_port = await freePort();
    plc = await startSnap7Server({ port: plc_port, dbs: { 1: block(first) } });
    const configuration = writeJson(folder.path, 'tagferry.json', {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [{
            name: 'press', protocol: 's7', host: '127.0.0.1', port: plc_port, family: 's7-300',
            rack: 0, slot: 2,
            scan_classes: [{ name: 'fast', interval_ms: 100 }],
            tags: [
                { path: 'motor/running', address: 'DB1.DBX0.3', type: 'BOOL' },
                { path: 'motor/count', address: 'DB1.DBW2', type: 'INT' },
                { path: 'tank/level', address: 'DB1.DBD4', type: 'REAL', unit: 'mm' },
                { path: 'tank/missing', address: 'DB99.DBD0', type: 'REAL' },
            ],
        }],
    });
    gateway = await startTagferry(['run', '-c', configuration]);
    client = await connectClient(gateway.endpoints.opcua, folder.path);
});

after(async () => {
    await client?.close().catch(() => {});
    await gateway?.stop();
    await plc?.stop();
    folder?.remove();
});

const read = async (path) => {
    const value = await client.read(`ns=3;s=press/${path}`);
    return { status: value.statusCode.name, value: value.value?.value, sample: value };
};

test('node-opcua browses from Objects to a tag and reads what the PLC holds', async () => {
    const node = await walk(client.session, 'ObjectsFolder', ['press', 'tank', 'level']);
    assert.equal(node.toString(), 'ns=3;s=press/tank/level');
    await eventually('first value', 3000, async () => (await read('tank/level')).status === 'Good');
    const level = await read('tank/level');
    assert.equal(level.value, first.level);
    assert.equal(level.sample.value.dataType, opcua.DataType.Float);
    assert.ok(level.sample.sourceTimestamp, 'a Good value has a source timestamp');
    assert.equal((await read('motor/running')).value, true);
    const count = await read('motor/count');
    assert.equal(count.value, first.count);
    assert.equal(count.sample.value.dataType, opcua.DataType.Int16);
});

test('a data block that does not exist is Bad for its tag only', async () => {
    await eventually('the refusal', 3000,
        async () => (await read('tank/missing')).status === 'BadNotFound');
    assert.equal((await read('tank/level')).status, 'Good');
});

test('curl reads the same over REST', async () => {
    const row = await curl(`${gateway.endpoints.http}/api/v1/values/press/tank/level`);
    assert.equal(row.path, 'press/tank/level');
    assert.equal(row.value, first.level);
    assert.equal(row.status, 'Good');
    const list = await curl(
        `${gateway.endpoints.http}/api/v1/values?tag=press/motor/count&tag=press/motor/running`);
    assert.deepEqual(list.items.map((item) => item.value), [first.count, true]);
});

test('a change in the PLC arrives at both', async () => {
    await plc.set(1, block({ running: false, count: 77, level: -0.25 }));
    await eventually('the new value', 3000, async () => (await read('tank/level')).value === -0.25);
    const row = await curl(`${gateway.endpoints.http}/api/v1/values/press/motor/count`);
    assert.equal(row.value, 77);
});

test('the server gone: BadNoCommunication without a value, last good value over REST', async () => {
    await plc.stop();
    await eventually('bad quality', 3000,
        async () => (await read('tank/level')).status === 'BadNoCommunication');
    assert.equal((await read('tank/level')).value ?? null, null);
    const row = await curl(`${gateway.endpoints.http}/api/v1/values/press/tank/level`);
    assert.equal(row.status, 'BadNoCommunication');
    assert.equal(row.last_good.value, -0.25);
    assert.ok(row.reason.length > 0, 'the reason stands in words');
});

test('the server back: Good again without a restart', async () => {
    plc = await startSnap7Server({ port: plc_port, dbs: { 1: block({ ...first, level: 99 }) } });
    await eventually('good quality', 8000, async () => {
        const level = await read('tank/level');
        return level.status === 'Good' && level.value === 99;
    });
});

test('promtool accepts the metrics, and they count what happened', async () => {
    const { stdout } = await run('curl', ['-sS', `${gateway.endpoints.http}/metrics`]);
    await new Promise((resolve, reject) => {
        const judge = execFile('promtool', ['check', 'metrics'], (error, out, err) => {
            error ? reject(new Error(`${err}${out}`)) : resolve();
        });
        judge.stdin.end(stdout);
    });
    const value = (series) => {
        const line = stdout.split('\n').find((l) => l.startsWith(`${series} `));
        assert.ok(line, `${series} is missing`);
        return Number(line.split(' ').at(-1));
    };
    assert.equal(value('tagferry_connection_up{connection="press"}'), 1);
    assert.ok(value('tagferry_operations_total{kind="s7_read"}') > 0);
    assert.ok(value('tagferry_operations_total{kind="opcua_read"}') > 0);
    assert.ok(value('tagferry_operations_total{kind="http_value"}') > 0);
});

test('SIGTERM ends it cleanly with clients connected', async () => {
    assert.equal(await gateway.stop(), 0);
});
