// --direct: read, write and watch of a PLC without a gateway.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';

import { freePort, startTagferry, tagferryPath } from '../support/node/process.mjs';

let demo;
let press;
before(async () => {
    demo = await startTagferry(['demo', '--faults=off', '--opcua-port', '0', '--http-port', '0',
        '--s7-port', '0']);
    [press] = demo.endpoints.s7;
});
after(async () => { assert.equal(await demo.stop(), 0); });

const tagferry = (...args) => {
    const result = spawnSync(tagferryPath(), args, { encoding: 'utf8', timeout: 30_000 });
    return { code: result.status, out: result.stdout, err: result.stderr };
};

test('a REAL, a STRING and an array are written and read back', () => {
    const points = ['DB2.DBD44:REAL', 'DB2.DBB20:STRING[20]', '%DB2.DBB48:ARRAY[0..9] OF INT'];
    const values = ['812.5', 'größer', '9,8,7,6,5,4,3,2,1,0'];
    const written = tagferry('write', '--direct', press,
        ...points.flatMap((point, index) => [point, values[index]]));
    assert.equal(written.code, 0, written.err);
    assert.match(written.out, /DB2\.DBD44:REAL: written: 812\.5/);
    const read = tagferry('read', '--direct', press, ...points, '--json');
    assert.equal(read.code, 0, read.err);
    assert.deepEqual(JSON.parse(read.out).items.map(({ value }) => value),
        [812.5, 'größer', [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]]);
});

test('watch prints what moves', () => {
    const answer = tagferry('watch', '--direct', press, 'DB1.DBD24:REAL', '--count', '3',
        '--min-interval', '100ms', '--duration', '20s');
    assert.equal(answer.code, 0, answer.err);
    assert.equal(answer.out.trimEnd().split('\n').length, 3);
});

test('what is no point, a PLC that is not there, a block that is not there', async () => {
    const none = tagferry('read', '--direct', press, 'DB1.DBD0');
    assert.equal(none.code, 65);
    assert.match(none.err, /write ADDRESS:TYPE/);
    assert.equal(tagferry('read', '--direct', press, 'DB1.DBQ0:REAL').code, 65);
    assert.equal(tagferry('read', '--direct', press, 'DB1.DBD0:REEL').code, 65);
    const absent = tagferry('read', '--direct', `127.0.0.1:${await freePort()}`, 'DB1.DBD0:REAL');
    assert.equal(absent.code, 69);
    assert.match(absent.err, /the PLC cannot be reached: /);
    const missing = tagferry('read', '--direct', press, 'DB99.DBD0:REAL');
    assert.equal(missing.code, 1);
    assert.match(missing.out, /BadNotFound/);
});
