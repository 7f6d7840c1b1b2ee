// npm `ws` as a client of the stream.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../interop/package.json', import.meta.url));
export const WebSocket = require('ws');

/** Opens the stream of the gateway at `http`; `options` are those of `ws`. What it is told is kept. */
export const openStream = (http, options = {}) => new Promise((resolve, reject) => {
    const url = `${http.replace('http', 'ws')}/api/v1/stream`;
    const socket = new WebSocket(url, 'tagferry.v1.json', options);
    const told = [];
    const closed = new Promise((done) => { socket.once('close', (code) => done(code)); });
    socket.on('message', (data) => { told.push(JSON.parse(data.toString())); });
    socket.once('open', () => resolve({
        socket, told, closed, say: (message) => socket.send(JSON.stringify(message)),
    }));
    socket.once('error', reject);
});
