// What really went over loopback, and tshark's judgement of it.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why packets cannot be captured here, for `test`'s `skip`; false when they can. */
export const whyNoCapture = () => {
    try {
        const interfaces = execFileSync('dumpcap', ['-D'], { encoding: 'utf8', stdio: 'pipe' });
        return /\blo\b/.test(interfaces) ? false : 'this user may not capture on loopback';
    } catch {
        return 'dumpcap of tshark is not there or may not be used';
    }
};

/**
 * Captures the TCP ports on loopback to `file` from when it resolves to `stop()`.
 * `stop` waits until nothing more arrives: end the traffic first.
 */
export const startCapture = async (file, ports) => {
    const filter = ports.map((port) => `tcp port ${port}`).join(' or ');
    // A buffer large enough that nothing is lost while the machine is busy.
    const child = spawn('dumpcap', ['-i', 'lo', '-B', '64', '-f', filter, '-w', file],
        { stdio: ['ignore', 'ignore', 'pipe'] });
    let words = '';
    const exited = new Promise((done) => child.once('exit', done));
    await new Promise((resolve, reject) => {
        child.stderr.setEncoding('utf8').on('data', (text) => {
            words += text;
            if (words.includes('File:')) {
                resolve();
            }
        });
        exited.then(() => reject(new Error(`dumpcap ended: ${words}`)));
    });
    const size = () => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return {
        stop: async () => {
            for (let last = -1; last !== size();) {
                last = size();
                await new Promise((done) => setTimeout(done, 500));
            }
            child.kill('SIGINT');
            await exited;
            if (!/Packets received\/dropped.*: \d+\/0 /.test(words)) {
                throw new Error(`packets were lost: ${words}`);
            }
        },
    };
};

/**
 * Fields of every frame that `filter` lets through, each an array of all its occurrences.
 * @param {string[]} decode `-d` rules, such as `tcp.port==1102,tpkt`
 */
export const dissect = async (file, decode, filter, fields) => {
    const args = ['-r', file, '-Y', filter, '-T', 'fields', '-E', 'separator=|'];
    decode.forEach((rule) => args.push('-d', rule));
    fields.forEach((field) => args.push('-e', field));
    const { stdout } = await run('tshark', args, { maxBuffer: 1 << 28 });
    return stdout.split('\n').filter((line) => line !== '').map(
        (line) => line.split('|').map((cell) => (cell === '' ? [] : cell.split(','))));
};

/**
 * Frames with data that are malformed or have an expert note of warning or above, in words. Those
 * without data are the kernel's own: the end of a process resets its connections.
 */
export const complaints = async (file, decode) => {
    const warning = 0x00600000;
    const rows = await dissect(file, decode,
        `tcp.len > 0 && (_ws.malformed || _ws.expert.severity >= ${warning})`,
        ['frame.number', 'frame.protocols', '_ws.expert.message', '_ws.malformed']);
    return rows.map((cells) => cells.map((cell) => cell.join(',')).join(' '));
};
