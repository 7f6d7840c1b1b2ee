// nodes7, an S7 client nobody here wrote, reads and writes the simulated PLC of each profile; what
// it wrote is then compared with the simulator's own memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { connectNodes7 } from '../support/node/nodes7_client.mjs';
import { startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';

// Name: nodes7 address, what is written, and the bytes it must be in the PLC.
const rows = {
    bit: ['DB1,X0.3', true, { at: 0, hex: '08' }],
    byte: ['DB1,BYTE1', 200, { at: 1, hex: 'c8' }],
    char: ['DB1,CHAR2', 'k', { at: 2, hex: '6b' }],
    int: ['DB1,INT4', -12345, { at: 4, hex: 'cfc7' }],
    word: ['DB1,WORD6', 0xBEEF, { at: 6, hex: 'beef' }],
    dint: ['DB1,DINT8', -2000000000, { at: 8, hex: '88ca6c00' }],
    dword: ['DB1,DWORD12', 0xCAFEF00D, { at: 12, hex: 'cafef00d' }],
    real: ['DB1,REAL16', -0.15625, { at: 16, hex: 'be200000' }],
    lreal: ['DB1,LREAL20', 1234.5, { at: 20, hex: '40934a0000000000' }],
    text: ['DB1,S30.20', 'Fertig!', { at: 30, hex: '140746657274696721' }],
    ints: ['DB1,INT60.10', [1, -2, 3, -4, 5, -6, 7, -8, 9, -10],
        { at: 60, hex: '0001fffe0003fffc0005fffa0007fff80009fff6' }],
    reals: ['DB1,REAL80.60', Array.from({ length: 60 }, (_, i) => i * 0.5), { at: 80 }],
    bytes: ['DB1,BYTE400.7', [1, 2, 3, 4, 5, 6, 7], { at: 400, hex: '01020304050607' }],
    memory: ['MR40', 2.5, { area: 'M', at: 40, hex: '40200000' }],
    flag: ['M50.7', true, { area: 'M', at: 50, hex: '80' }],
    output: ['QW2', 0x0102, { area: 'Q', at: 2, hex: '0102' }],
    input: ['IB3', 77, { area: 'I', at: 3, hex: '4d' }],
};
const addresses = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row[0]]));
const wanted = Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row[1]]));

for (const profile of ['s7-300', 's7-400', 's7-1200', 's7-1500']) {
    describe(`nodes7 and a simulated ${profile}`, () => {
        let folder, plc, client;

        before(async () => {
            folder = temporaryFolder();
            const held = writeJson(folder.path, 'plc.json', {
                profile,
                data_blocks: [{ number: 1, size: 512 }, { number: 2, size: 64 }],
                signals: [
                    { address: 'DB2.DBD0', type: 'REAL', kind: 'constant', minimum: 12.5 },
                    { address: 'DB2.DBB4', type: 'STRING[20]', kind: 'constant', text: 'Größe' },
                    { address: 'DB2.DBB30', type: 'ARRAY[0..3] OF DINT', kind: 'tagged', number: 1,
                        period_ms: 86400000 },
                ],
            });
            plc = await startTagferry(['sim', '--plc', held, '--port', '0',
                '--dump', join(folder.path, 'memory.json')]);
            const port = Number(plc.endpoints.s7[0].split(':')[1]);
            client = await connectNodes7({ port }, {
                ...addresses,
                level: 'DB2,REAL0', name: 'DB2,S4.20', numbers: 'DB2,DINT30.4',
            });
        });

        after(async () => {
            await client?.close();
            await plc?.stop();
            folder?.remove();
        });

        test('reads what the simulator holds', async () => {
            const values = await client.read();
            assert.equal(values.level, 12.5);
            assert.equal(Buffer.from(values.name, 'latin1').toString('latin1'), 'Größe');
            assert.deepEqual(values.numbers, [1, 2, 3, 4].map((number) => number * 2 ** 18));
            assert.equal(values.bit, false);
            assert.deepEqual(values.ints, Array(10).fill(0));
        });

        test('reads back every type it wrote', async () => {
            for (const [name, value] of Object.entries(wanted)) {
                await client.write(name, value);
            }
            const values = await client.read();
            for (const [name, value] of Object.entries(wanted)) {
                assert.deepEqual(values[name], value, name);
            }
        });

        test('several items in one job, and the bits beside a bit stay', async () => {
            await client.write(['int', 'real', 'word', 'ints'], [7, 8.5, 9, wanted.ints]);
            await client.write(['int', 'real', 'word'], [wanted.int, wanted.real, wanted.word]);
            await client.write('bit', false);
            await client.write('bit', true);
            const values = await client.read();
            assert.equal(values.int, wanted.int);
            assert.equal(values.real, wanted.real);
        });

        test('the simulator\'s memory is what nodes7 wrote', async () => {
            await client.close();
            client = undefined;
            assert.equal(await plc.stop(), 0);
            plc = undefined;
            const memory = JSON.parse(readFileSync(join(folder.path, 'memory.json'), 'utf8'));
            const reals = Buffer.alloc(240);
            wanted.reals.forEach((value, i) => reals.writeFloatBE(value, i * 4));
            for (const [name, [, , place]] of Object.entries(rows)) {
                const hex = name === 'reals' ? reals.toString('hex') : place.hex;
                const held = memory[place.area ?? 'DB1'];
                assert.equal(held.slice(place.at * 2, place.at * 2 + hex.length), hex, name);
            }
        });
    });
}
