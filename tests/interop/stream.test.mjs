// The stream judged by a foreign client, npm `ws`: handshake, snapshot, deltas in sequence, pings,
// fragments, and the end when the gateway stops. REST writes are seen by it.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';

import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';
import { startSnap7Server } from '../support/node/snap7_server.mjs';
import { WebSocket, openStream } from '../support/node/stream_client.mjs';

const block = (value) => {
    const bytes = Buffer.alloc(64);
    bytes.writeFloatBE(value, 0);
    bytes.writeInt16BE(7, 4);
    return bytes;
};

const put = (http, path, body, headers = {}) => new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const asked = request(`${http}/api/v1/values/${path}`, {
        method: 'PUT',
        headers: { 'Content-Type': 'application/json', 'Content-Length': text.length, ...headers },
    }, (answer) => {
        let got = '';
        answer.setEncoding('utf8').on('data', (part) => { got += part; });
        answer.on('end', () => resolve({ status: answer.statusCode, json: JSON.parse(got) }));
    });
    asked.once('error', reject);
    asked.end(text);
});

test('a foreign WebSocket client sees snapshot, deltas and the end', async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    const plc = await startSnap7Server({ port, dbs: { 1: block(1.5) } });
    const gateway = await startTagferry(['run', '-c', writeJson(folder.path, 'stream.json', {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [{
            name: 'plc', protocol: 's7', host: '127.0.0.1', port, family: 's7-300', slot: 2,
            scan_classes: [{ name: 'fast', interval_ms: 20 }],
            tags: [
                { path: 'level', address: 'DB1.DBD0', type: 'REAL', unit: 'mm' },
                { path: 'count', address: 'DB1.DBW4', type: 'INT', writable: true },
            ],
        }],
    })]);
    try {
        const { http } = gateway.endpoints;
        const client = await openStream(http);
        await eventually('reasons', 2000, () => client.told[0]?.op === 'reasons');
        assert.ok(client.told[0].reasons.some(([, words]) => words.includes('no connection')));
        client.say({ op: 'subscribe', id: 1, tags: ['plc/*'], min_interval_ms: 50 });
        await eventually('a snapshot', 2000, () => client.told.some((it) => it.op === 'snapshot'));
        assert.deepEqual(client.told[1], {
            op: 'subscribed', id: 1, more: false,
            tags: [[0, 'plc/level', 'REAL', 'mm'], [1, 'plc/count', 'INT', null]],
        });
        const latest = () => {
            const values = new Map();
            for (const it of client.told) {
                for (const [index, value, status] of it.values ?? []) {
                    values.set(index, [value, status]);
                }
            }
            return values;
        };
        await eventually('good values', 5000, () => latest().get(0)?.[0] === 1.5);
        for (let round = 0; round < 20; ++round) {
            await plc.set(1, block(round + 0.5));
            await eventually(`value ${round}`, 2000, () => latest().get(0)?.[0] === round + 0.5);
        }
        // Every message of the subscription is there, and the interval is kept.
        const numbers = client.told.filter((it) => it.seq).map((it) => it.seq);
        assert.deepEqual(numbers, numbers.map((_, i) => i + 1));

        const pong = new Promise((done) => client.socket.once('pong', (data) => done(data.toString())));
        client.socket.ping('are you there');
        assert.equal(await pong, 'are you there');
        client.socket.send('{"op":"unsub', { fin: false });
        client.socket.send('scribe","id":1}', { fin: true });
        await eventually('unsubscribed', 2000, () => client.told.at(-1).op === 'unsubscribed');

        const refused = await put(http, 'plc/count', { value: 5 });
        assert.equal(refused.status, 401);
        assert.equal(refused.json.code, 'unauthorized');

        const second = await openStream(http);
        second.socket.send('no request at all');
        assert.equal(await second.closed, 4400);
        await gateway.stop();
        assert.equal(await client.closed, 1001);
    } finally {
        await gateway.stop();
        await plc.stop();
        folder.remove();
    }
});

test('a page of another site may not open the stream', async () => {
    const gateway = await startTagferry(['demo', '--opcua-port', '0', '--http-port', '0', '--s7-port', '0']);
    try {
        const url = `${gateway.endpoints.http.replace('http', 'ws')}/api/v1/stream`;
        const socket = new WebSocket(url, 'tagferry.v1.json', { origin: 'http://elsewhere.example' });
        const status = await new Promise((done) => {
            socket.once('unexpected-response', (_, answer) => done(answer.statusCode));
            socket.once('error', () => {});
        });
        assert.equal(status, 403);
    } finally {
        await gateway.stop();
    }
});
