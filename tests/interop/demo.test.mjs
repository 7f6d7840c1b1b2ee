// `tagferry demo` as a newcomer's machine sees it: no PLC, no root, no files left, a fault now
// and then, and every fault shown as what it is.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { browseAll, connectClient, walk } from '../support/node/opcua_client.mjs';
import { eventually, startTagferry, temporaryFolder } from '../support/node/process.mjs';

let folder, demo, client;

before(async () => {
    folder = temporaryFolder();
    demo = await startTagferry(
        ['demo', '--opcua-port', '0', '--http-port', '0', '--s7-port', '0', '--duration', '90s'],
        { env: { TMPDIR: folder.path, HOME: folder.path } });
    client = await connectClient(demo.endpoints.opcua, folder.path);
});

after(async () => {
    await client?.close().catch(() => {});
    await demo?.stop();
    folder?.remove();
});

const get = async (path) => {
    const answer = await fetch(`${demo.endpoints.http}${path}`);
    assert.equal(answer.status, 200, `${path}: ${answer.status}`);
    return answer.json();
};

const all_values = async () => {
    const items = [];
    let next = null;
    do {
        const page = await get(
            `/api/v1/values?limit=25${next ? `&cursor=${encodeURIComponent(next)}` : ''}`);
        items.push(...page.items);
        next = page.next;
    } while (next);
    return items;
};

test('it says where everything is', () => {
    assert.match(demo.endpoints.opcua, /^opc\.tcp:\/\/127\.0\.0\.1:\d+/);
    assert.match(demo.endpoints.http, /^http:\/\/127\.0\.0\.1:\d+$/);
    assert.equal(demo.endpoints.s7.length, 2);
    assert.equal(demo.endpoints.pid, demo.pid);
});

test('two PLCs and at least 40 tags turn Good', async () => {
    await eventually('all Good', 5000, async () => {
        const rows = await all_values();
        return rows.length >= 40 && rows.every((row) => row.status === 'Good');
    });
    const { items } = await get('/api/v1/connections');
    assert.equal(items.length, 2);
});

test('OPC UA shows the same tags, and their values move', async () => {
    const rows = await all_values();
    const folders = (await browseAll(client.session, 'ObjectsFolder')).map((r) => r.browseName.name);
    for (const connection of new Set(rows.map((row) => row.path.split('/')[0]))) {
        assert.ok(folders.includes(connection), `${connection} is below Objects`);
    }
    for (const row of rows) {
        const names = row.path.split('/').map(decodeURIComponent);
        const node = await walk(client.session, 'ObjectsFolder', names);
        assert.equal(node.toString(), `ns=3;s=${row.path}`);
    }
    const before_move = new Map((await all_values()).map((row) => [row.path, row.value]));
    await eventually('movement', 5000, async () =>
        (await all_values()).filter((row) => row.value !== before_move.get(row.path)).length > 5);
});

test('the cable is pulled now and then, and what it carried turns Bad and Good again', async () => {
    const bad = await eventually('a fault', 60_000, async () => {
        const rows = (await all_values()).filter((row) => row.status === 'BadNoCommunication');
        return rows.length > 0 && rows;
    });
    const { path } = bad[0];
    assert.ok(bad[0].reason, 'in words');
    assert.ok(bad[0].last_good, 'with the last good value');
    const read = await client.read(`ns=3;s=${path}`);
    assert.equal(read.statusCode.name, 'BadNoCommunication');
    const connection = path.split('/')[0];
    const others = (await all_values()).filter((row) => !row.path.startsWith(`${connection}/`));
    assert.ok(others.some((row) => row.status === 'Good'), 'the other PLC goes on');
    await eventually('recovery', 30_000, async () =>
        (await client.read(`ns=3;s=${path}`)).statusCode.name === 'Good');
});

test('it ends on SIGTERM with 0 and leaves no files', async () => {
    await client.close();
    client = undefined;
    assert.equal(await demo.stop(), 0);
    assert.deepEqual(readdirSync(folder.path).filter((name) => name !== 'opcua-client-pki'), []);
});
