// What the product takes of a small machine's memory: resident, shared libraries included.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Agent, get as http_get } from 'node:http';
import { after, before, test } from 'node:test';

import { connectClient } from '../support/node/opcua_client.mjs';
import { eventually, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';

const MiB = 1024 * 1024;
const tag_count = 2_000;
const per_block = 1_000;
const tag_path = (i) => `group${Math.floor(i / 100)}/value${i}`;
const address = (i) => `DB${1 + Math.floor(i / per_block)}.DBD${(i % per_block) * 4}`;
const tags = Array.from({ length: tag_count }, (_, i) => (
    { path: tag_path(i), address: address(i), type: 'REAL' }));

let folder, plc, gateway;

before(async () => {
    folder = temporaryFolder();
    const plc_file = writeJson(folder.path, 'plc.json', {
        profile: 's7-1500',
        data_blocks: [1, 2].map((number) => ({ number, size: per_block * 4 })),
        signals: tags.filter((_, i) => i % 10 === 0).map(({ address: at }) => (
            { address: at, type: 'REAL', kind: 'sine', minimum: 0, maximum: 100, period_ms: 5000 })),
    });
    plc = await startTagferry(['sim', '--plc', plc_file, '--port', '0']);
    const configuration = writeJson(folder.path, 'tagferry.json', {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [{
            name: 'plant', protocol: 's7', host: '127.0.0.1', family: 's7-1500', slot: 1,
            port: Number(plc.endpoints.s7[0].split(':').pop()),
            scan_classes: [{ name: 'fast', interval_ms: 100 }], tags,
        }],
    });
    gateway = await startTagferry(['run', '-c', configuration]);
});

after(async () => {
    await gateway?.stop();
    await plc?.stop();
    folder?.remove();
});

/** Bytes in a field of /proc/PID/status. */
const memory = (field) => {
    const status = readFileSync(`/proc/${gateway.pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)[1]) * 1024;
};

const words = () => ['VmRSS', 'RssAnon', 'RssFile', 'VmHWM']
    .map((field) => `${field} ${(memory(field) / MiB).toFixed(2)} MiB`).join(', ');

const get = (agent, path) => new Promise((resolve, reject) => {
    http_get(`${gateway.endpoints.http}${path}`, { agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => { text += part; });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
    }).on('error', reject);
});

const good_everywhere = async () => {
    const { text } = await get(undefined, '/metrics');
    return text.includes(`tagferry_tags{quality="good"} ${tag_count}`);
};

test(`idle with ${tag_count} tags it stays under 12 MiB`, async (context) => {
    await eventually('every tag Good', 5000, good_everywhere);
    await new Promise((done) => setTimeout(done, 2_000));
    context.diagnostic(words());
    assert.ok(memory('VmRSS') < 12 * MiB, words());
});

test('twenty OPC UA sessions and twenty HTTP clients keep it under 16 MiB', async (context) => {
    const clients = [];
    for (let i = 0; i < 20; ++i) {
        clients.push(await connectClient(gateway.endpoints.opcua, folder.path));
    }
    let most = 0;
    const watch = setInterval(() => { most = Math.max(most, memory('VmRSS')); }, 50);
    const read = async ({ session }, client) => {
        for (let round = 0; round < 20; ++round) {
            const nodes = Array.from({ length: 100 }, (_, i) => (
                { nodeId: `ns=3;s=plant/${tag_path((client * 100 + i) % tag_count)}` }));
            for (const value of await session.read(nodes, 1000)) {
                assert.equal(value.statusCode.name, 'Good');
            }
        }
    };
    const ask = async (client) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        for (let round = 0; round < 50; ++round) {
            const one = await get(agent, `/api/v1/values/plant/${tag_path(client)}`);
            assert.equal(one.status, 200);
            assert.equal((await get(agent, '/api/v1/values?limit=1000')).status, 200);
        }
        agent.destroy();
    };
    await Promise.all([
        ...clients.map(read), ...clients.map((_, client) => ask(client)),
        eventually('the metrics page', 5000, good_everywhere),
    ]);
    clearInterval(watch);
    context.diagnostic(`most ${(most / MiB).toFixed(2)} MiB; after it ${words()}`);
    assert.ok(Math.max(most, memory('VmRSS')) < 16 * MiB, words());
    await Promise.all(clients.map((client) => client.close()));
});
