// The gate on the whole product: the release binary under the outer counter, its clients and its
// PLC in other processes, at most 1,000 operations of each kind to warm up, then 10,000. Not one
// allocation on any thread of the process may happen meanwhile, whoever counts: the outer counter
// or the product itself. With one shard and with two.
import assert from 'node:assert/strict';
import { closeSync, openSync, readSync } from 'node:fs';
import { Agent, get as http_get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { connectClient, opcua } from '../support/node/opcua_client.mjs';
import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';
import { startSnap7Server } from '../support/node/snap7_server.mjs';
import { openStream } from '../support/node/stream_client.mjs';

const operations = 10_000;
const warm_up = 1_000;
const tag_count = 200;
const written_count = 8;
const stride = 300;  // bytes: so far apart that no two tags are merged, 10 jobs a scan

const tag_block = (round) => {
    const bytes = Buffer.alloc(tag_count * stride + 64 + 2 * written_count);
    for (let i = 0; i < tag_count; ++i) {
        bytes.writeFloatBE(i + round, i * stride);
    }
    return bytes;
};

const configuration = (folder, port, shards) => writeJson(folder.path, `gate-${shards}.json`, {
    state_directory: folder.path,
    shards,
    opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true, allow_anonymous_write: true },
    web: { listen: ['127.0.0.1:0'] },
    connections: [{
        name: 'plc', protocol: 's7', host: '127.0.0.1', port, family: 's7-300', slot: 2,
        scan_classes: [{ name: 'fast', interval_ms: 10 }],
        // Allocations are counted here, not scans: a busy machine may be late.
        tags: [
            ...Array.from({ length: tag_count }, (_, i) => (
                { path: `line/t${i}`, address: `DB1.DBD${i * stride}`, type: 'REAL',
                    stale_after_ms: 30_000 })),
            ...Array.from({ length: written_count }, (_, i) => (
                { path: `line/w${i}`, address: `DB1.DBW${tag_count * stride + 64 + 2 * i}`,
                    type: 'INT', writable: true })),
        ],
    }],
});

const publishers = 10;

/**
 * Subscriptions that publish as often as may be, each with an item that reports every scan, so that
 * ten of them make a thousand notification messages a second.
 */
const subscribe = async (session) => {
    const made = [];
    for (let i = 0; i < publishers; ++i) {
        const subscription = await session.createSubscription2({
            requestedPublishingInterval: 10, requestedLifetimeCount: 10_000,
            requestedMaxKeepAliveCount: 1_000, publishingEnabled: true, priority: 1,
        });
        await subscription.monitor(
            { nodeId: `ns=3;s=plc/line/t${i}`, attributeId: opcua.AttributeIds.Value },
            {
                samplingInterval: 0, queueSize: 10, discardOldest: true,
                filter: new opcua.DataChangeFilter({
                    trigger: opcua.DataChangeTrigger.StatusValueTimestamp,
                    deadbandType: opcua.DeadbandType.None, deadbandValue: 0,
                }),
            }, opcua.TimestampsToReturn.Both);
        await subscription.monitor(
            { nodeId: `ns=3;s=plc/line/t${publishers + i}`, attributeId: opcua.AttributeIds.Value },
            { samplingInterval: 0, queueSize: 1, discardOldest: true },
            opcua.TimestampsToReturn.Both);
        made.push(subscription);
    }
    return made;
};

/** Allocations of the process so far, from the outer counter's file (counter_page.hpp). */
const outerCount = (file) => {
    const descriptor = openSync(file, 'r');
    const bytes = Buffer.alloc(8);
    readSync(descriptor, bytes, 0, 8, 16);
    closeSync(descriptor);
    return bytes.readBigUInt64LE();
};

const getText = (agent, url) => new Promise((resolve, reject) => {
    http_get(url, { agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => { text += part; });
        answer.on('end', () => resolve({ status: answer.statusCode, text }));
    }).on('error', reject);
});

const scrape = async (url) => {
    const { text } = await getText(undefined, `${url}/metrics`);
    const series = new Map();
    for (const line of text.split('\n')) {
        const match = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line);
        if (match) {
            series.set(match[1], Number(match[2]));
        }
    }
    return (name) => {
        assert.ok(series.has(name), `${name} is not on the metrics page`);
        return series.get(name);
    };
};

for (const shards of [1, 2]) {
    test(`no allocation in ${operations} operations of each kind, ${shards} shard(s)`, async () => {
        const folder = temporaryFolder();
        const port = await freePort();
        const plc = await startSnap7Server({ port, dbs: { 1: tag_block(0) } });
        const counter = join(folder.path, 'allocations');
        const gateway = await startTagferry(['run', '-c', configuration(folder, port, shards)], {
            env: {
                LD_PRELOAD: process.env.ALLOCATION_COUNTER,
                TAGFERRY_ALLOCATION_COUNTER: counter,
            },
        });
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        const client = await connectClient(gateway.endpoints.opcua, folder.path);
        let round = 0;
        const mover = setInterval(() => { plc.set(1, tag_block(++round)).catch(() => {}); }, 100);
        // 10 deltas a second to each of 128 subscriptions: 10,000 take 8 s.
        const streams = await Promise.all([1, 2, 3, 4].map(() => openStream(gateway.endpoints.http)));
        for (const stream of streams) {
            for (let id = 1; id <= 32; ++id) {
                stream.say({ op: 'subscribe', id, tags: [`plc/line/t${id}`], min_interval_ms: 50 });
            }
        }
        try {
            const url = `${gateway.endpoints.http}/api/v1/values/plc/line/t7`;
            const read_once = async (i) => {
                const value = await client.read(`ns=3;s=plc/line/t${i % tag_count}`);
                assert.equal(value.statusCode, opcua.StatusCodes.Good);
            };
            const get_once = async () => {
                const { status, text } = await getText(agent, url);
                assert.equal(status, 200, text);
            };
            const write_once = async (i) => {
                const status = await client.session.write({
                    nodeId: `ns=3;s=plc/line/w${i % written_count}`,
                    attributeId: opcua.AttributeIds.Value,
                    value: { value: { dataType: opcua.DataType.Int16, value: i % 30_000 } },
                });
                assert.equal(status, opcua.StatusCodes.Good, `write ${i}`);
            };
            const repeat = async (count, operation) => {
                for (let i = 0; i < count; ++i) {
                    await operation(i);
                }
            };
            await eventually('first values', 5000, async () => {
                const { text } = await getText(agent, url);
                return JSON.parse(text).status === 'Good';
            });
            await subscribe(client.session);
            const before = await scrape(gateway.endpoints.http);
            await Promise.all([repeat(warm_up / 2, read_once), repeat(warm_up / 2, get_once),
                repeat(warm_up / 2, write_once)]);

            const outer_before = outerCount(counter);
            const begun = Date.now();
            await Promise.all([repeat(operations, read_once), repeat(operations, get_once),
                repeat(operations, write_once)]);
            // 10 jobs every 10 ms: 10,000 take 10 s.
            await new Promise((done) => setTimeout(done, Math.max(0, begun + 11_000 - Date.now())));
            const outer_after = outerCount(counter);
            const after = await scrape(gateway.endpoints.http);

            // The scrapes themselves pay to `control` and `other`; what else is charged tells where
            // to look.
            const kinds = ['s7_read', 's7_write', 'opcua_read', 'opcua_write', 'opcua_publish',
                'http_value', 'ws_push'];
            const charged = [...kinds, 'control', 'other'].map((kind) => {
                const name = `tagferry_operation_allocations_total{kind="${kind}"}`;
                return `${kind} ${after(name) - before(name)}`;
            });
            assert.equal(outer_after - outer_before, 0n,
                `allocations seen from outside; the product charged: ${charged.join(', ')}`);
            assert.ok(outer_before > 0n, 'the outer counter counts');
            for (const kind of kinds) {
                const grown = (name) => after(`${name}{kind="${kind}"}`) - before(`${name}{kind="${kind}"}`);
                assert.ok(grown('tagferry_operations_total') >= operations,
                    `${kind}: ${grown('tagferry_operations_total')} operations`);
                assert.equal(grown('tagferry_operation_allocations_total'), 0, kind);
                assert.equal(grown('tagferry_operation_allocated_bytes_total'), 0, kind);
            }
            console.log(`shards ${shards}: outer ${outer_after - outer_before} allocations in `
                + `${Date.now() - begun} ms, s7 jobs ${after('tagferry_operations_total{kind="s7_read"}')}`);
        } finally {
            clearInterval(mover);
            streams.forEach((stream) => stream.socket.terminate());
            agent.destroy();
            await client.close().catch(() => {});
            await gateway.stop();
            await plc.stop();
            folder.remove();
        }
    });
}
