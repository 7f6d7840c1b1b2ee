// The S7 server of node-snap7 in a process of its own (its listener occupies a worker of the
// event loop), told what to hold over the process channel.
import { fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);

/**
 * @param {{port: number, dbs: Record<number, Buffer>}} options data blocks by number
 * @returns {{set: (db, Buffer) => Promise<void>, stop: () => Promise<void>}}
 */
export const startSnap7Server = async ({ port, dbs }) => {
    const child = fork(here, ['serve'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const ask = (message) => new Promise((resolve, reject) => {
        child.once('message', (answer) => {
            answer.ok ? resolve(answer) : reject(new Error(answer.error));
        });
        child.send(message);
    });
    const hex = Object.fromEntries(
        Object.entries(dbs).map(([number, bytes]) => [number, bytes.toString('hex')]));
    await ask({ op: 'start', port, dbs: hex });
    return {
        set: (db, bytes) => ask({ op: 'set', db, hex: bytes.toString('hex') }),
        get: async (db) => Buffer.from((await ask({ op: 'get', db })).hex, 'hex'),
        stop: () => new Promise((done) => {
            child.once('exit', () => done());
            child.kill('SIGKILL');
        }),
    };
};

const serve = () => {
    const require = createRequire(new URL('../../interop/package.json', import.meta.url));
    const snap7 = require('node-snap7');
    const server = new snap7.S7Server();
    const operations = {
        start: ({ port, dbs }) => {
            server.SetParam(server.LocalPort, port);
            for (const [number, hex] of Object.entries(dbs)) {
                if (!server.RegisterArea(server.srvAreaDB, Number(number), Buffer.from(hex, 'hex'))) {
                    throw new Error(`DB${number}: ${server.ErrorText(server.LastError())}`);
                }
            }
            if (!server.StartTo('127.0.0.1')) {
                throw new Error(`start: ${server.ErrorText(server.LastError())}`);
            }
            return {};
        },
        set: ({ db, hex }) => {
            // Throws when it cannot; its return value says nothing.
            server.SetArea(server.srvAreaDB, db, Buffer.from(hex, 'hex'));
            return {};
        },
        get: ({ db }) => ({ hex: server.GetArea(server.srvAreaDB, db).toString('hex') }),
    };
    process.on('message', (message) => {
        try {
            process.send({ ok: true, ...operations[message.op](message) });
        } catch (error) {
            process.send({ ok: false, error: String(error) });
        }
    });
    process.on('disconnect', () => process.exit(0));
};

if (process.argv[2] === 'serve') {
    serve();
}
