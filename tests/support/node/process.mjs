// Starts the product and foreign servers for tests, and ends them.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** The binary under test; ctest says where it is. */
export const tagferryPath = () => {
    const path = process.env.TAGFERRY;
    if (!path) {
        throw new Error('set TAGFERRY to the tagferry binary, e.g. build/release/tagferry');
    }
    return path;
};

/** A folder of its own for one test, removed by `remove()`. */
export const temporaryFolder = () => {
    const path = mkdtempSync(join(tmpdir(), 'tagferry-test-'));
    return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
};

export const writeJson = (folder, name, value) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(value, null, 2));
    return path;
};

/** A TCP port on loopback that nobody listens on at this moment. */
export const freePort = () => new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
    });
});

/**
 * Starts `tagferry ARGS --json` and resolves once it has printed its line of endpoints. With the
 * context of a test as `t` it ends with that test at the latest, passed or failed. `openFiles` is
 * the limit of its descriptors.
 * @returns {{endpoints, pid, stderr: () => string, stop: () => Promise<number|null>}}
 */
export const startTagferry = (args, options = {}) => new Promise((resolve, reject) => {
    const limited = options.openFiles === undefined ? []
        : ['prlimit', `--nofile=${options.openFiles}:${options.openFiles}`];
    const [program, ...all] = [...limited, tagferryPath(), ...args, '--json'];
    const child = spawn(program, all, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...options.env },
    });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => { errors += text; });
    const exited = new Promise((done) => child.once('exit', (code, signal) => done(code ?? signal)));
    const stop = async () => {
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
        const code = await exited;
        clearTimeout(late);
        return code;
    };
    options.t?.after(stop);
    const give_up = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`no endpoints within 20 s: ${errors}`));
    }, 20_000);
    exited.then((code) => {
        clearTimeout(give_up);
        reject(new Error(`tagferry ${args.join(' ')} ended with ${code}: ${errors}`));
    });
    createInterface({ input: child.stdout }).once('line', (line) => {
        clearTimeout(give_up);
        resolve({
            endpoints: JSON.parse(line),
            pid: child.pid,
            child,
            exited,
            stderr: () => errors,
            stop,
        });
    });
});

/** Calls `probe` until it returns something truthy; fails with the last answer after `ms`. */
export const eventually = async (what, ms, probe) => {
    const end = Date.now() + ms;
    let last;
    while (Date.now() < end) {
        try {
            last = await probe();
            if (last) {
                return last;
            }
        } catch (error) {
            last = error;
        }
        await new Promise((done) => setTimeout(done, 20));
    }
    throw new Error(`${what}: not within ${ms} ms; last: ${last instanceof Error ? last.stack : last}`);
};
