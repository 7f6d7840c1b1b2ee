// node-opcua subscribes: what it is told equals what the S7 side held, value by value and in order,
// also across a lost connection. The PLC is the simulator, whose signals say their tag and how
// often they have moved.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { connectClient, opcua } from '../support/node/opcua_client.mjs';
import { eventually, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';

const scan_ms = 50;
const publishing_ms = 10 * scan_ms;
const counter_bits = 18;  // of a tagged DINT; its tag's number stands above
const tags = [1, 2, 3];

let folder, plc, gateway, client;

before(async () => {
    folder = temporaryFolder();
    const held = writeJson(folder.path, 'plc.json', {
        profile: 's7-1500',
        data_blocks: [{ number: 1, size: 64 }],
        signals: [
            // They move every four scans, so that no scan that is a little late misses a value.
            ...tags.map((number) => ({
                address: `DB1.DBD${number * 4}`, type: 'DINT', kind: 'tagged', number,
                period_ms: 4 * scan_ms,
            })),
            { address: 'DB1.DBD20', type: 'REAL', kind: 'constant', minimum: 12.5 },
        ],
    });
    plc = await startTagferry(['sim', '--plc', held, '--port', '0']);
    const configuration = writeJson(folder.path, 'tagferry.json', {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [{
            name: 'press', protocol: 's7', host: '127.0.0.1',
            port: Number(plc.endpoints.s7[0].split(':')[1]), family: 's7-1500',
            scan_classes: [{ name: 'fast', interval_ms: scan_ms }],
            tags: [
                ...tags.map((number) => (
                    { path: `moving/t${number}`, address: `DB1.DBD${number * 4}`, type: 'DINT' })),
                { path: 'still', address: 'DB1.DBD20', type: 'REAL' },
            ],
        }],
    });
    gateway = await startTagferry(['run', '-c', configuration]);
    client = await connectClient(gateway.endpoints.opcua, folder.path);
    await eventually('first values', 5000, async () =>
        (await client.read('ns=3;s=press/still')).statusCode.name === 'Good');
});

after(async () => {
    await client?.close().catch(() => {});
    await gateway?.stop();
    await plc?.stop();
    folder?.remove();
});

const subscribe = (options = {}) => client.session.createSubscription2({
    requestedPublishingInterval: publishing_ms,
    requestedLifetimeCount: 100,
    requestedMaxKeepAliveCount: 3,
    maxNotificationsPerPublish: 0,
    publishingEnabled: true,
    priority: 10,
    ...options,
});

/** Monitors a node; what it reports is appended to `seen`. */
const monitor = async (subscription, path, parameters, seen) => {
    const item = await subscription.monitor(
        { nodeId: `ns=3;s=press/${path}`, attributeId: opcua.AttributeIds.Value },
        { samplingInterval: 0, discardOldest: true, queueSize: 10, ...parameters },
        opcua.TimestampsToReturn.Both);
    item.on('changed', (value) => seen.push(value));
    return item;
};

const counters = (seen, number) => seen.map((value) => {
    assert.equal(value.statusCode, opcua.StatusCodes.Good);
    assert.equal(value.value.value >>> counter_bits, number, 'a value of another tag');
    return value.value.value & ((1 << counter_bits) - 1);
});

const assertConsecutive = (numbers) => {
    for (let i = 1; i < numbers.length; ++i) {
        assert.equal(numbers[i], numbers[i - 1] + 1, `after ${numbers[i - 1]}: ${numbers}`);
    }
};

test('with a queue of 10 at ten scans an interval, every value arrives once and in order', async () => {
    const subscription = await subscribe();
    const seen = Object.fromEntries(tags.map((number) => [number, []]));
    for (const number of tags) {
        const item = await monitor(subscription, `moving/t${number}`, {}, seen[number]);
        assert.equal(item.result.revisedQueueSize, 10);
        assert.equal(item.result.revisedSamplingInterval, scan_ms);
    }
    await eventually('values', 15_000, () => tags.every((number) => seen[number].length >= 20));
    for (const number of tags) {
        assertConsecutive(counters(seen[number], number));
        const times = seen[number].map((value) => value.sourceTimestamp.getTime());
        assert.deepEqual(times, [...times].sort((a, b) => a - b), 'source timestamps go forward');
        assert.ok(seen[number].every((value) => value.serverTimestamp), 'and server timestamps');
    }
    await subscription.terminate();
});

test('a queue of one gives the value at the time of publishing', async () => {
    const subscription = await subscribe();
    const seen = [];
    await monitor(subscription, 'moving/t1', { queueSize: 1 }, seen);
    await eventually('values', 10_000, () => seen.length >= 8);
    const numbers = counters(seen, 1);
    for (let i = 1; i < numbers.length; ++i) {
        assert.ok(numbers[i] > numbers[i - 1], 'never back, never twice');
        assert.ok(numbers[i] - numbers[i - 1] <= 4, 'two to three movements an interval');
    }
    await subscription.terminate();
});

test('what does not change is told once, and keep-alives follow', async () => {
    const subscription = await subscribe({ requestedPublishingInterval: 100 });
    const seen = [];
    let alive = 0;
    subscription.on('keepalive', () => { ++alive; });
    await monitor(subscription, 'still', {}, seen);
    await eventually('keep-alives', 5000, () => alive >= 4);
    assert.deepEqual(seen.map((value) => value.value.value), [12.5]);
    await subscription.terminate();
});

test('CurrentTime is sampled, other attributes are told once', async () => {
    const subscription = await subscribe({ requestedPublishingInterval: 200 });
    const times = [];
    const names = [];
    const clock = await subscription.monitor(
        { nodeId: 'i=2258', attributeId: opcua.AttributeIds.Value },
        { samplingInterval: 100, discardOldest: true, queueSize: 10 },
        opcua.TimestampsToReturn.Both);
    clock.on('changed', (value) => times.push(value.value.value.getTime()));
    const name = await subscription.monitor(
        { nodeId: 'ns=3;s=press/still', attributeId: opcua.AttributeIds.BrowseName },
        { samplingInterval: 100, discardOldest: true, queueSize: 10 },
        opcua.TimestampsToReturn.Both);
    name.on('changed', (value) => names.push(value.value.value.name));
    await eventually('the clock', 5000, () => times.length >= 12);
    assert.ok(times.every((time, i) => i === 0 || time > times[i - 1]));
    assert.deepEqual(names, ['still']);
    await subscription.terminate();
});

test('Republish gives a message again until it is acknowledged', async () => {
    const { session } = client;
    const created = await session.createSubscription({
        requestedPublishingInterval: 100, requestedLifetimeCount: 1000,
        requestedMaxKeepAliveCount: 100, publishingEnabled: true,
    });
    const id = created.subscriptionId;
    await session.createMonitoredItems({
        subscriptionId: id,
        timestampsToReturn: opcua.TimestampsToReturn.Both,
        itemsToCreate: [{
            itemToMonitor: { nodeId: 'ns=3;s=press/still', attributeId: opcua.AttributeIds.Value },
            monitoringMode: opcua.MonitoringMode.Reporting,
            requestedParameters: { clientHandle: 5, samplingInterval: 0, queueSize: 1 },
        }],
    });
    const publish = (acknowledgements) => new Promise((resolve, reject) => session.publish(
        new opcua.PublishRequest({ subscriptionAcknowledgements: acknowledgements }),
        (error, answer) => { error ? reject(error) : resolve(answer); }));
    const republish = (number) => new Promise((resolve, reject) => session.republish(
        new opcua.RepublishRequest({ subscriptionId: id, retransmitSequenceNumber: number }),
        (error, answer) => { error ? reject(error) : resolve(answer); }));
    const first = await publish([]);
    assert.equal(first.subscriptionId, id);
    const number = first.notificationMessage.sequenceNumber;
    const again = await republish(number);
    assert.deepEqual(again.notificationMessage.notificationData[0].monitoredItems[0].value.value.value,
        12.5);
    await assert.rejects(republish(number + 1), /BadMessageNotAvailable/);
    // The next answer is a keep-alive far in the future: the acknowledgement counts at once.
    publish([{ subscriptionId: id, sequenceNumber: number }]).catch(() => {});
    await eventually('the acknowledgement', 2000, async () =>
        republish(number).then(() => false, (error) => /BadMessageNotAvailable/.test(error.message)));
    await session.deleteSubscriptions({ subscriptionIds: [id] });
});

test('a lost connection costs no value: the session is activated again, the subscription lives', async () => {
    const other = await connectClient(gateway.endpoints.opcua, folder.path,
        { keepSessionAlive: true });
    try {
        const subscription = await other.session.createSubscription2({
            requestedPublishingInterval: publishing_ms, requestedLifetimeCount: 1000,
            requestedMaxKeepAliveCount: 5, publishingEnabled: true, priority: 1,
        });
        const id = subscription.subscriptionId;
        const seen = [];
        await monitor(subscription, 'moving/t2', { queueSize: 100 }, seen);
        await eventually('values', 8000, () => seen.length >= 6);
        const reconnected = new Promise((done) => {
            other.client.once('connection_reestablished', done);
        });
        // The socket below node-opcua's channel, ended as by a pulled cable.
        other.client._secureChannel.getTransport()._socket.destroy(new Error('EPIPE'));
        await reconnected;
        const before_it = seen.length;
        await eventually('values after it', 10_000, () => seen.length >= before_it + 6);
        assert.equal(subscription.subscriptionId, id, 'the same subscription');
        assertConsecutive(counters(seen, 2));
    } finally {
        await other.close().catch(() => {});
    }
});

test('metrics count subscriptions, items, notifications and overflows', async () => {
    const subscription = await subscribe();
    const seen = [];
    await monitor(subscription, 'moving/t1', { queueSize: 2 }, seen);
    const series = async () => {
        const text = await (await fetch(`${gateway.endpoints.http}/metrics`)).text();
        return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
    };
    await eventually('an overflow', 8000, async () =>
        (await series())('tagferry_opcua_queue_overflows_total') > 0);
    const value = await series();
    assert.equal(value('tagferry_opcua_subscriptions'), 1);
    assert.equal(value('tagferry_opcua_monitored_items'), 1);
    await eventually('notifications', 5000, async () =>
        (await series())('tagferry_opcua_notifications_total') > 0);
    assert.ok((await series())('tagferry_operations_total\\{kind="opcua_publish"\\}') > 0);
    await eventually('the Overflow bit', 5000, () =>
        seen.some((each) => (each.statusCode.value & 0x480) === 0x480));
    await subscription.terminate();
    await eventually('all gone', 2000, async () =>
        (await series())('tagferry_opcua_monitored_items') === 0);
});
