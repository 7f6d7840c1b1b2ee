// Tokens of machines, from `token new` to the door they open.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startTagferry, tagferryPath, temporaryFolder, writeJson } from '../support/node/process.mjs';

let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder.remove());

const tagferry = (args, env = {}) => {
    const result = spawnSync(tagferryPath(), args,
        { encoding: 'utf8', timeout: 30_000, env: { ...process.env, ...env } });
    return { code: result.status, out: result.stdout, err: result.stderr };
};
const configuration = (name, tokens) => writeJson(folder.path, name, {
    state_directory: folder.path,
    opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
    web: { listen: ['127.0.0.1:0'], tokens },
    connections: [{
        name: 'press', host: '127.0.0.1', port: 1,
        tags: [{ path: 'setpoint', address: 'DB1.DBD0', type: 'REAL', writable: true }],
    }],
});
const put = (url, token) => fetch(`${url}/api/v1/values/press/setpoint`, {
    method: 'PUT', body: '{"value": 1.5}',
    headers: { 'Content-Type': 'application/json',
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) },
});

test('token new prints a token and the line that lets it in', () => {
    const plain = tagferry(['token', 'new', '--role', 'operator', '--name', 'mes']);
    assert.equal(plain.code, 0);
    const [token, line] = plain.out.trimEnd().split('\n');
    assert.match(token, /^tagferry_[\w-]{43}$/);
    assert.deepEqual(JSON.parse(line), { name: 'mes', role: 'operator',
        sha256: createHash('sha256').update(token).digest('hex') });
    assert.match(plain.err, /web\.tokens/);
    const made = JSON.parse(tagferry(['token', 'new', '--json']).out);
    assert.notEqual(made.token, token);
    assert.equal(made.configuration.role, 'viewer');
    assert.equal(tagferry(['token', 'new', '--role', 'king']).code, 64);
});

test('run without tokens: nobody writes over REST, and the answer says how to set one', async (t) => {
    const gateway = await startTagferry(['run', '-c', configuration('none.json', [])], { t });
    const { http } = gateway.endpoints;
    for (const token of [undefined, '', 'made up']) {
        const answer = await put(http, token);
        assert.equal(answer.status, 401);
        const problem = await answer.json();
        assert.match(`${problem.detail} ${problem.hint}`, /tagferry token new/);
    }
    const said = tagferry(['write', 'press/setpoint', '1.5', '--url', http]);
    assert.equal(said.code, 77);
    assert.match(said.err, /tagferry token new/);
    assert.equal(await gateway.stop(), 0);
});

test('a viewer may not write, an operator may: by digest and by file', async (t) => {
    const viewer = JSON.parse(tagferry(['token', 'new', '--name', 'panel', '--json']).out);
    const file = join(folder.path, 'mes.token');
    writeFileSync(file, 'a-token-made-by-somebody-else\n');
    chmodSync(file, 0o600);
    const gateway = await startTagferry(['run', '-c', configuration('two.json',
        [viewer.configuration, { name: 'mes', role: 'operator', token_file: 'mes.token' }])], { t });
    const { http } = gateway.endpoints;
    assert.equal((await put(http)).status, 401);
    assert.equal((await put(http, viewer.token)).status, 403);
    // The PLC is not there: the door is open, and the write is not sent.
    assert.equal((await put(http, 'a-token-made-by-somebody-else')).status, 503);
    const said = tagferry(['write', 'press/setpoint', '1.5', '--url', http, '--token-file', file]);
    assert.equal(said.code, 75, said.err);
    assert.match(said.err, /press\/setpoint: not sent, nothing was changed: /);
    assert.equal(tagferry(['read', 'press/setpoint', '--url', http, '--token-file', file]).code, 1);
    assert.equal(await gateway.stop(), 0);
});
