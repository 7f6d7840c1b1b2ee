// tshark judges what our client, our simulator and nodes7 say to one another on loopback: every
// frame is well formed, and there are as many S7 PDUs as our own metrics say.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { complaints, dissect, startCapture, whyNoCapture } from '../support/node/capture.mjs';
import { connectNodes7 } from '../support/node/nodes7_client.mjs';
import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';

const skip = whyNoCapture();
const job = '0x01';
const ack_data = '0x03';
const window = 8;
let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder?.remove());

/** S7 PDUs and COTP TPDUs in one direction, by type. */
const count = async (file, port, direction) => {
    const rows = await dissect(file, [`tcp.port==${port},tpkt`],
        `tcp.${direction}port==${port} && cotp`,
        ['s7comm.header.rosctr', 'cotp.type', 's7comm.param.func']);
    const occurrences = (column, value) => rows.reduce((sum, row) =>
        sum + row[column].filter((each) => Number(each) === Number(value)).length, 0);
    return {
        jobs: occurrences(0, job),
        answers: occurrences(0, ack_data),
        tpdus: rows.reduce((sum, row) => sum + row[1].length, 0),
        connects: occurrences(1, 0x0E),
        reads: occurrences(2, 0x04),
        writes: occurrences(2, 0x05),
    };
};

const metric = async (http, series) => {
    const text = await (await fetch(`${http}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${series} `));
    assert.ok(line, `${series} is missing`);
    return Number(line.split(' ').at(-1));
};

/** The counters that `sim --json` prints when it ends. */
const endOf = async (plc) => {
    let text = '';
    plc.child.stdout.on('data', (chunk) => { text += chunk; });
    assert.equal(await plc.stop(), 0);
    return JSON.parse(text.trim().split('\n').at(-1));
};

const configuration = (port) => writeJson(folder.path, `tagferry-${port}.json`, {
    state_directory: folder.path,
    opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
    web: { listen: ['127.0.0.1:0'] },
    connections: [{
        name: 'press', protocol: 's7', host: '127.0.0.1', port,
        scan_classes: [{ name: 'fast', interval_ms: 20 }, { name: 'slow', interval_ms: 100 }],
        tags: [
            { path: 'level', address: 'DB1.DBD0', type: 'REAL' },
            { path: 'open', address: 'DB1.DBX8.0', type: 'BOOL' },
            { path: 'name', address: 'DB2.DBB20', type: 'STRING[20]', scan_class: 'slow' },
            { path: 'profile', address: 'DB2.DBB48', type: 'ARRAY[0..9] OF INT', scan_class: 'slow' },
            { path: 'all', address: 'DB2.DBB0', type: 'ARRAY[0..199] OF BYTE', scan_class: 'slow' },
            { path: 'missing', address: 'DB77.DBD0', type: 'REAL', scan_class: 'slow' },
        ],
    }],
});

const scripts = [
    { what: 'plain', args: [] },
    { what: 'in fragments', args: ['--tpdu-size', '128'] },
    { what: 'two replies in one segment', args: ['--fault', 'two_replies'], doubled: true },
];
for (const { what, args, doubled } of scripts) {
    test(`our client and our simulator, ${what}`, { skip }, async () => {
        const port = await freePort();
        const file = join(folder.path, `client-${port}.pcapng`);
        const capture = await startCapture(file, [port]);
        const plc = await startTagferry(['sim', '--port', String(port), ...args]);
        const gateway = await startTagferry(['run', '-c', configuration(port)]);
        const requests = 'tagferry_s7_requests_total{connection="press"}';
        await eventually('a hundred jobs', 20_000,
            async () => await metric(gateway.endpoints.http, requests) >= 100);
        // The PLC goes first: from then on nothing is said, and every count stands still.
        const counters = await endOf(plc);
        await eventually('the loss', 5000, async () =>
            await metric(gateway.endpoints.http, 'tagferry_connection_up{connection="press"}') === 0);
        const messages = await metric(gateway.endpoints.http,
            'tagferry_transport_messages_total{protocol="s7"}');
        assert.equal(await gateway.stop(), 0);
        await capture.stop();

        const asked = await count(file, port, 'dst');
        const answered = await count(file, port, 'src');
        assert.ok(asked.jobs > 100);
        assert.equal(asked.jobs, asked.reads + 1, 'reads, and one setup communication');
        assert.equal(asked.connects, 1);
        assert.equal(asked.tpdus, messages, 'what our metrics say we sent');
        // What was sent while the PLC was ending, a window at most, it did not take any more.
        const late = asked.reads - counters.jobs;
        assert.ok(late >= 0 && late <= window, `${counters.jobs} of ${asked.reads} jobs arrived`);
        const open = asked.jobs - answered.answers;
        assert.ok(doubled || (open >= 0 && open <= window), `${open} jobs without an answer`);
        assert.equal(answered.tpdus > answered.answers + 1, args[0] === '--tpdu-size');
        assert.deepEqual(await complaints(file, [`tcp.port==${port},tpkt`]), []);
    });
}

test('nodes7 and our simulator', { skip }, async () => {
    const port = await freePort();
    const file = join(folder.path, 'nodes7.pcapng');
    const capture = await startCapture(file, [port]);
    const plc = await startTagferry(['sim', '--port', String(port)]);
    const client = await connectNodes7({ port }, {
        level: 'DB1,REAL0', open: 'DB1,X8.0', profile: 'DB2,INT48.10', name: 'DB2,S20.20',
        spare: 'DB1,INT200', flag: 'M100.3',
    });
    for (let i = 0; i < 20; ++i) {
        await client.read();
        await client.write(['spare', 'flag'], [i, i % 2 === 0]);
    }
    await client.close();
    const counters = await endOf(plc);
    await capture.stop();

    const asked = await count(file, port, 'dst');
    const answered = await count(file, port, 'src');
    assert.ok(asked.reads >= 20 && asked.writes >= 20);
    assert.equal(asked.reads, counters.read_jobs);
    assert.equal(asked.writes, counters.write_jobs);
    assert.equal(answered.answers, asked.jobs);
    assert.deepEqual(await complaints(file, [`tcp.port==${port},tpkt`]), []);
});
