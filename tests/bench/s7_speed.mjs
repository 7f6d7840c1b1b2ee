// What the shipped gateway does with 10,000 REALs of one PLC over real sockets: jobs and CPU a
// scan, and what the window brings; then 400 scattered tags against nodes7 on the S7 server of
// node-snap7. Prints Markdown tables. See README.md, "S7 over sockets".
//
//   TAGFERRY=build/release/tagferry node tests/bench/s7_speed.mjs [jobs|window|nodes7 ...]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { connectNodes7 } from '../support/node/nodes7_client.mjs';
import { eventually, freePort, startTagferry, temporaryFolder, writeJson } from '../support/node/process.mjs';
import { startSnap7Server } from '../support/node/snap7_server.mjs';

const tag_count = 10_000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const ticks_per_second = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU seconds a process has used, kernel included; from its threads' run times in nanoseconds. */
const cpuSeconds = (pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / ticks_per_second;
};

const metrics = async (gateway) => {
    const text = await (await fetch(`${gateway.endpoints.http}/metrics`)).text();
    const value = (name) => Number(text.split('\n')
        .find((line) => line.startsWith(`${name}{connection="plc"`)).split(' ').at(-1));
    return {
        jobs: value('tagferry_s7_requests_total'),
        scans: value('tagferry_scans_total'),
        up: value('tagferry_connection_up'),
    };
};

/** REALs `stride` bytes apart, over as many data blocks as they need. */
const reals = (count, stride) => {
    const in_block = Math.floor(65_532 / stride);
    return Array.from({ length: count }, (_, i) => ({
        block: 1 + Math.floor(i / in_block), byte: (i % in_block) * stride,
    }));
};

const gatewayFor = (folder, port, places, interval_ms, more = {}) => startTagferry(['run', '-c',
    writeJson(folder.path, `gateway-${port}.json`, {
        state_directory: folder.path,
        opcua: { listen: ['127.0.0.1:0'], allow_none_policy: true },
        web: { listen: ['127.0.0.1:0'] },
        connections: [{
            name: 'plc', protocol: 's7', host: '127.0.0.1', port, ...more,
            scan_classes: [{ name: 'all', interval_ms }],
            tags: places.map(({ block, byte }, i) => (
                { path: `t${i}`, address: `DB${block}.DBD${byte}`, type: 'REAL',
                    stale_after_ms: 10_000 })),
        }],
    })]);

const simFor = (folder, port, places, plc) => {
    const blocks = Math.max(...places.map(({ block }) => block));
    return startTagferry(['sim', '--port', String(port), '--plc',
        writeJson(folder.path, `plc-${port}.json`, {
            profile: 's7-1500', ...plc,
            data_blocks: Array.from({ length: blocks }, (_, i) => ({ number: i + 1, size: 65_536 })),
        })]);
};

/** Jobs of one scan, counted by the gateway while it stands still between two scans. */
const jobsOfOneScan = async (gateway) => {
    const still = () => eventually('a pause between scans', 20_000, async () => {
        const first = await metrics(gateway);
        await pause(100);
        const second = await metrics(gateway);
        return first.scans > 0 && first.jobs === second.jobs && first.scans === second.scans
            && second;
    });
    const before = await still();
    await eventually('another scan', 20_000,
        async () => (await metrics(gateway)).scans > before.scans);
    const after = await still();
    return (after.jobs - before.jobs) / (after.scans - before.scans);
};

/** Scans a second and CPU a job while scans follow one another without a pause. */
const load = async (gateway, seconds) => {
    await eventually('the link', 20_000, async () => (await metrics(gateway)).scans > 2);
    const begin = { ...await metrics(gateway), cpu: cpuSeconds(gateway.pid), at: performance.now() };
    await pause(seconds * 1000);
    const end = { ...await metrics(gateway), cpu: cpuSeconds(gateway.pid), at: performance.now() };
    return {
        scans_per_second: (end.scans - begin.scans) / ((end.at - begin.at) / 1000),
        cpu_us_per_job: (end.cpu - begin.cpu) * 1e6 / (end.jobs - begin.jobs),
    };
};

const withBoth = async (places, plc, interval_ms, more, work) => {
    const folder = temporaryFolder();
    const port = await freePort();
    const sim = await simFor(folder, port, places, plc);
    const gateway = await gatewayFor(folder, port, places, interval_ms, more);
    try {
        return await work(gateway, sim);
    } finally {
        await gateway.stop();
        await sim.stop();
        folder.remove();
    }
};

const jobs = async () => {
    console.log('| 10,000 REALs | PDU | jobs a scan | CPU a job | CPU a scan |');
    console.log('|---|---|---|---|---|');
    for (const [words, stride] of [['contiguous', 4], ['54 bytes apart', 54]]) {
        for (const pdu_size of [240, 480, 960]) {
            const places = reals(tag_count, stride);
            const count = await withBoth(places, { pdu_size }, 1000, {}, jobsOfOneScan);
            const runs = [];
            await withBoth(places, { pdu_size }, 10, {}, async (gateway) => {
                for (let i = 0; i < 5; ++i) {
                    runs.push((await load(gateway, 2)).cpu_us_per_job);
                }
            });
            const cpu = median(runs);
            console.log(`| ${words} | ${pdu_size} | ${count} | ${cpu.toFixed(1)} us `
                + `| ${(cpu * count / 1000).toFixed(2)} ms |`);
        }
    }
};

const windows = async () => {
    console.log('| window | PDU | scans a second | times window 1 |');
    console.log('|---|---|---|---|');
    const places = reals(tag_count, 4);
    for (const pdu_size of [240, 480]) {
        const rates = { 1: [], 8: [] };
        for (let round = 0; round < 3; ++round) {
            for (const window of [1, 8]) {
                const { scans_per_second } = await withBoth(places,
                    { pdu_size, jobs: window, latency_ms: 1 }, 1, {},
                    (gateway) => load(gateway, 5));
                rates[window].push(scans_per_second);
            }
        }
        const alone = median(rates[1]);
        for (const window of [1, 8]) {
            const rate = median(rates[window]);
            console.log(`| ${window} | ${pdu_size} | ${rate.toFixed(1)} `
                + `| ${(rate / alone).toFixed(1)} |`);
        }
    }
};

/** The same 400 tags, nine hundred bytes of every thousand unread. */
const against_nodes7 = async () => {
    const places = reals(400, 100);
    const held = Buffer.alloc(65_000);
    places.forEach(({ byte }, i) => held.writeFloatBE(i + 0.5, byte));
    const folder = temporaryFolder();
    const port = await freePort();
    const server = await startSnap7Server({ port, dbs: { 1: held } });
    const addresses = Object.fromEntries(
        places.map(({ block, byte }, i) => [`t${i}`, `DB${block},REAL${byte}`]));
    const rates = { nodes7: [], tagferry: [] };
    for (let round = 0; round < 5; ++round) {
        // The server answers no more than 20 items of a job, and says nothing about the rest: at
        // a PDU of 240 neither client asks for more.
        const client = await connectNodes7({ port, pdu_size: 240 }, addresses);
        const values = await client.read();
        if (places.some((_, i) => values[`t${i}`] !== i + 0.5)) {
            throw new Error('nodes7 read something else');
        }
        const begin = performance.now();
        let scans = 0;
        for (; performance.now() - begin < 4000; ++scans) {
            await client.read();
        }
        rates.nodes7.push(scans / ((performance.now() - begin) / 1000));
        await client.close();
        const gateway = await gatewayFor(folder, port, places, 1, { pdu_size: 240 });
        rates.tagferry.push((await load(gateway, 4)).scans_per_second);
        const rows = await (await fetch(
            `${gateway.endpoints.http}/api/v1/values?filter=plc/**&limit=1000`)).json();
        const right = rows.items.every((row) =>
            row.status === 'Good' && row.value === Number(row.path.slice(5)) + 0.5);
        if (!right || rows.items.length < 100) {
            throw new Error(`the gateway read something else: ${JSON.stringify(rows).slice(0, 400)}`);
        }
        await gateway.stop();
    }
    await server.stop();
    folder.remove();
    const [theirs, ours] = [median(rates.nodes7), median(rates.tagferry)];
    console.log('| 400 scattered REALs on the snap7 server | scans a second |');
    console.log('|---|---|');
    console.log(`| nodes7 | ${theirs.toFixed(0)} |`);
    console.log(`| tagferry | ${ours.toFixed(0)}, ${(ours / theirs).toFixed(1)} times |`);
};

const wanted = process.argv.slice(2);
const all = { jobs, window: windows, nodes7: against_nodes7 };
for (const name of wanted.length > 0 ? wanted : Object.keys(all)) {
    await all[name]();
    console.log();
}
