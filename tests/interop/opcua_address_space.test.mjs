// node-opcua walks the whole address space, writes a value of every type and reads it back from the
// PLC: from our simulator, and from the S7 server of node-snap7. tshark dissects one conversation.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { complaints, dissect, startCapture, whyNoCapture } from '../support/node/capture.mjs';
import { browseAll, connectClient, opcua } from '../support/node/opcua_client.mjs';
import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';
import { array, scalars, tags } from '../support/node/s7_values.mjs';
import { startSnap7Server } from '../support/node/snap7_server.mjs';

const { AttributeIds, BrowseDirection, NodeClass, StatusCodes } = opcua;
const block_size = 256;
// A PLC's program has initialised its STRINGs: their first byte says how long they may be.
const text_tag = scalars.find(({ type }) => type.startsWith('STRING'));
const longest_text = 20;
let folder;
before(() => { folder = temporaryFolder(); });
after(() => folder?.remove());

const configuration = (name, plc_port, opcua_port) => writeJson(folder.path, `${name}.json`, {
    state_directory: folder.path,
    opcua: {
        listen: [`127.0.0.1:${opcua_port}`], allow_none_policy: true, allow_anonymous_write: true,
        limits: { chunk_size: 8192 },
    },
    web: { listen: ['127.0.0.1:0'] },
    connections: [{
        name: 'press', protocol: 's7', host: '127.0.0.1', port: plc_port, family: 's7-1500',
        scan_classes: [{ name: 'fast', interval_ms: 100 }],
        tags: [
            ...tags(),
            { path: 'fixed', address: 'DB1.DBW200', type: 'INT', unit: '°C' },
        ],
    }],
});

const plcs = {
    'our simulator': async (port) => {
        const plc = writeJson(folder.path, `plc-${port}.json`, {
            profile: 's7-1500', data_blocks: [{ number: 1, size: block_size }],
            signals: [{ address: `DB1.DBB${text_tag.byte}`, type: 'BYTE', kind: 'constant',
                minimum: longest_text, maximum: longest_text }],
        });
        const sim = await startTagferry(['sim', '--plc', plc, '--port', String(port)]);
        return { stop: () => sim.stop(), bytes: null };
    },
    'the S7 server of node-snap7': async (port) => {
        const block = Buffer.alloc(block_size);
        block[text_tag.byte] = longest_text;
        const plc = await startSnap7Server({ port, dbs: { 1: block } });
        return { stop: () => plc.stop(), bytes: () => plc.get(1) };
    },
};

/** Every reference of every node, from Root on, whatever its type and direction. */
const walkAll = async (session) => {
    const root = opcua.resolveNodeId('RootFolder').toString();
    const found = new Map([[root, NodeClass.Object]]);
    let front = [root];
    let references = 0;
    while (front.length > 0) {
        const next = [];
        for (let at = 0; at < front.length; at += 200) {
            const nodes = front.slice(at, at + 200).map((nodeId) => ({
                nodeId, referenceTypeId: null, includeSubtypes: true,
                browseDirection: BrowseDirection.Both, nodeClassMask: 0, resultMask: 63,
            }));
            const results = await session.browse(nodes);
            for (const result of results) {
                assert.equal(result.statusCode, StatusCodes.Good);
                let all = [...result.references];
                for (let more = result; more.continuationPoint?.length > 0;) {
                    more = await session.browseNext(more.continuationPoint, false);
                    all = all.concat(more.references);
                }
                for (const reference of all) {
                    references += 1;
                    const id = reference.nodeId.toString();
                    if (!found.has(id)) {
                        found.set(id, reference.nodeClass);
                        next.push(id);
                    }
                    if ([NodeClass.Object, NodeClass.Variable].includes(reference.nodeClass)) {
                        assert.ok(!reference.typeDefinition.isEmpty(), `${id} has no type`);
                    }
                }
            }
        }
        front = next;
    }
    return { found, references };
};

const of_every_node = ['NodeId', 'NodeClass', 'BrowseName', 'DisplayName'];
const of_class = {
    [NodeClass.Object]: ['EventNotifier'],
    [NodeClass.Variable]: ['DataType', 'ValueRank', 'AccessLevel', 'UserAccessLevel', 'Historizing'],
    [NodeClass.Method]: ['Executable', 'UserExecutable'],
    [NodeClass.ObjectType]: ['IsAbstract'],
    [NodeClass.VariableType]: ['DataType', 'ValueRank', 'IsAbstract'],
    [NodeClass.ReferenceType]: ['IsAbstract', 'Symmetric'],
    [NodeClass.DataType]: ['IsAbstract'],
};
// A value that this server does not keep, and says so.
const values_allowed = new Set([StatusCodes.Good, StatusCodes.BadNotSupported]);

/** Reads all attributes of all nodes. @returns what is wrong, in words. */
const readAll = async (session, found) => {
    const wrong = [];
    const wanted = [...found].flatMap(([nodeId]) =>
        Array.from({ length: 27 }, (_, at) => ({ nodeId, attributeId: at + 1 })));
    for (let at = 0; at < wanted.length; at += 5_400) {
        const part = wanted.slice(at, at + 5_400);
        // The client makes NodeIds of the texts in what it is given.
        const values = await session.read(part.map((each) => ({ ...each })), 1_000);
        values.forEach((value, index) => {
            const { nodeId, attributeId } = part[index];
            const name = AttributeIds[attributeId];
            const mandatory = of_every_node.includes(name)
                || of_class[found.get(nodeId)].includes(name);
            const allowed = name === 'Value' && found.get(nodeId) === NodeClass.Variable
                ? values_allowed.has(value.statusCode)
                : value.statusCode === StatusCodes.Good
                    || (!mandatory && value.statusCode === StatusCodes.BadAttributeIdInvalid);
            if (!allowed) {
                wrong.push(`${nodeId} ${name}: ${value.statusCode}`);
            }
        });
    }
    return wrong;
};

// [high, low] of a 64-bit integer is a scalar, which has to be said.
const scalar = opcua.VariantArrayType.Scalar;

const plain = (value) => (ArrayBuffer.isView(value) ? [...value] : value);

for (const [what, start] of Object.entries(plcs)) {
    describe(`with ${what} as the PLC`, () => {
        let plc, gateway, client;
        before(async () => {
            const port = await freePort();
            plc = await start(port);
            gateway = await startTagferry(['run', '-c', configuration(`gateway-${port}`, port, 0)]);
            client = await connectClient(gateway.endpoints.opcua, folder.path);
            await eventually('first values', 10_000, async () =>
                (await client.read('ns=3;s=press/fixed')).statusCode === StatusCodes.Good);
        });
        after(async () => {
            await client?.close().catch(() => {});
            await gateway?.stop();
            await plc?.stop();
        });

        const write = (name, value, indexRange) => client.session.write({
            nodeId: `ns=3;s=press/every/${name}`, attributeId: AttributeIds.Value,
            ...(indexRange ? { indexRange: new opcua.NumericRange(indexRange) } : {}),
            value: { value },
        });
        /** maxAge 0: the PLC is asked. */
        const held = async (name) => {
            const value = await client.read(`ns=3;s=press/every/${name}`, AttributeIds.Value, 0);
            assert.equal(value.statusCode, StatusCodes.Good, name);
            return value.value;
        };

        test('a value of every type is written, and the PLC holds it', async () => {
            for (const { name, dataType, value, bytes, byte } of scalars) {
                assert.equal(await write(name, { dataType, arrayType: scalar, value }), StatusCodes.Good, name);
                const seen = await held(name);
                assert.equal(seen.dataType, dataType, name);
                assert.deepEqual(plain(seen.value), value, name);
                if (plc.bytes && bytes) {
                    const memory = (await plc.bytes()).subarray(byte, byte + bytes.length / 2);
                    assert.equal(memory.toString('hex'), bytes, name);
                }
            }
        });

        test('an array is written whole and read back', async () => {
            const { name, dataType, arrayType, value } = array;
            assert.equal(await write(name, { dataType, arrayType, value }), StatusCodes.Good);
            assert.deepEqual(plain((await held(name)).value), [...value]);
            if (plc.bytes) {
                const memory = await plc.bytes();
                value.forEach((each, at) => {
                    assert.equal(memory.readInt16BE(array.byte + 2 * at), each);
                });
            }
        });

        test('a part of an array is written, and nothing beside it', async () => {
            const { name, dataType, arrayType, value } = array;
            await write(name, { dataType, arrayType, value });
            const around = plc.bytes ? await plc.bytes() : null;
            const part = { dataType, arrayType, value: Int16Array.from([100, 200]) };
            assert.equal(await write(name, part, '3:4'), StatusCodes.Good);
            const expected = [...value];
            expected.splice(3, 2, 100, 200);
            assert.deepEqual(plain((await held(name)).value), expected);
            if (around) {
                around.writeInt16BE(100, array.byte + 6);
                around.writeInt16BE(200, array.byte + 8);
                assert.equal((await plc.bytes()).toString('hex'), around.toString('hex'));
            }
            const one = { dataType, arrayType, value: Int16Array.from([-5]) };
            assert.equal(await write(name, one, '0'), StatusCodes.Good);
            expected[0] = -5;
            assert.deepEqual(plain((await held(name)).value), expected);
        });

        test('a part that is not there, or of another length, is refused', async () => {
            const { name, dataType, arrayType, value } = array;
            await write(name, { dataType, arrayType, value });
            const part = { dataType, arrayType, value: Int16Array.from([100, 200]) };
            assert.equal(await write(name, part, '9:10'), StatusCodes.BadIndexRangeNoData);
            assert.equal(await write(name, part, '3:5'), StatusCodes.BadIndexRangeDataMismatch);
            assert.deepEqual(plain((await held(name)).value), [...value]);
        });

        test('a wrong type, a read-only tag and a text too long are refused', async () => {
            const { DataType } = opcua;
            assert.equal(await write('int', { dataType: DataType.Int32, value: 1 }),
                StatusCodes.BadTypeMismatch);
            assert.equal(await write('text', { dataType: DataType.String, value: 'x'.repeat(21) }),
                StatusCodes.BadOutOfRange);
            assert.equal(await client.session.write({
                nodeId: 'ns=3;s=press/fixed', attributeId: AttributeIds.Value,
                value: { value: { dataType: DataType.Int16, value: 1 } },
            }), StatusCodes.BadNotWritable);
        });

        test('every node is browsed and every attribute read', async () => {
            const { found, references } = await walkAll(client.session);
            assert.ok(found.size > 5_000, `${found.size} nodes`);
            for (const id of ['ns=3;s=press', 'ns=3;s=press/every/real', 'ns=1;s=press/SerialNumber',
                'ns=1;s=press/fixed/EngineeringUnits']) {
                assert.ok(found.has(id), `${id} is not reached`);
            }
            assert.deepEqual(await readAll(client.session, found), []);
            console.log(`${found.size} nodes, ${references} references`);
        });

        test('the connection is a device with a nameplate, the unit is one of UN/ECE', async () => {
            const model = await client.read('ns=1;s=press/Model');
            assert.equal(model.value.value.text, 'SIMATIC S7-1500');
            const unit = await client.read('ns=1;s=press/fixed/EngineeringUnits');
            assert.equal(unit.value.value.unitId, 4408652);
            assert.equal(unit.value.value.displayName.text, '°C');
        });
    });
}

test('tshark finds every PDU of a whole conversation well formed, as many as we counted',
    { skip: whyNoCapture() }, async () => {
        const plc_port = await freePort();
        const opcua_port = await freePort();
        const plc = await plcs['our simulator'](plc_port);
        const file = join(folder.path, 'opcua.pcapng');
        const capture = await startCapture(file, [opcua_port]);
        const gateway = await startTagferry(
            ['run', '-c', configuration('captured', plc_port, opcua_port)]);
        const client = await connectClient(gateway.endpoints.opcua, folder.path);
        await eventually('first values', 10_000, async () =>
            (await client.read('ns=3;s=press/fixed')).statusCode === StatusCodes.Good);
        await browseAll(client.session, 'ns=3;s=press/every');
        // An answer of several chunks, and yet within the client's TCP window.
        await client.session.read(Array.from({ length: 200 }, () => (
            { nodeId: 'i=2256', attributeId: AttributeIds.Value })), 1_000);
        for (const { name, dataType, value } of scalars) {
            await client.session.write({
                nodeId: `ns=3;s=press/every/${name}`, attributeId: AttributeIds.Value,
                value: { value: { dataType, arrayType: scalar, value } },
            });
            await client.read(`ns=3;s=press/every/${name}`, AttributeIds.Value, 0);
        }
        await client.close();
        const text = await (await fetch(`${gateway.endpoints.http}/metrics`)).text();
        await gateway.stop();
        await plc.stop();
        await capture.stop();

        const counted = Number(/tagferry_transport_messages_total\{protocol="opcua"\} (\d+)/.exec(text)[1]);
        const decode = [`tcp.port==${opcua_port},opcua`];
        const rows = await dissect(file, decode, `tcp.srcport==${opcua_port} && opcua`,
            ['opcua.transport.type']);
        const sent = rows.reduce((sum, [types]) => sum + types.length, 0);
        assert.ok(sent > 40, `${sent} PDUs`);
        assert.equal(sent, counted);
        assert.deepEqual(await complaints(file, decode), []);
        const writes = await dissect(file, decode, 'opcua.servicenodeid.numeric == 676',
            ['frame.number']);
        assert.ok(writes.length >= scalars.length, 'WriteResponses are dissected as such');
    });
