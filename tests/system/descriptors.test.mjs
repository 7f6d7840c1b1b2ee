// A gateway that has run out of descriptors.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { connect } from 'node:net';

import { eventually, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';

let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder.remove());

test('out of descriptors the gateway says so, and serves again once some are free', async (t) => {
    const file = writeJson(folder.path, 'full.json', {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [],
    });
    const gateway = await startTagferry(['run', '-c', file], { t, openFiles: 64 });
    const { port } = new URL(gateway.endpoints.http);
    const peers = [];
    t.after(() => peers.forEach((peer) => peer.destroy()));
    for (let i = 0; i < 100; ++i) {
        const peer = connect(Number(port), '127.0.0.1');
        peer.on('error', () => {});
        peers.push(peer);
    }
    await eventually('the event', 5000,
        () => /event=listener\.accept_failed .*Too many open files/.test(gateway.stderr()));
    assert.equal(gateway.child.exitCode, null);
    peers.forEach((peer) => peer.destroy());
    await eventually('an answer', 5000, async () =>
        (await fetch(`${gateway.endpoints.http}/readyz`, { signal: AbortSignal.timeout(1000) })).ok);
    assert.equal(await gateway.stop(), 0);
});
