// A gateway of as many tags as a test wants, that does what a test says: the page's side of the
// contract without PLCs. Serves a built page with the header fields of the product.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { WebSocketServer } from 'ws';

const contentTypes = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.woff2': 'font/woff2',
    '.txt': 'text/plain; charset=utf-8',
};

const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'";

const reasons = [
    [1, 'not read from the PLC yet',
        "wait for the first scan; if it stays, look at the connection's state"],
    [2, 'no connection to the PLC',
        'check cable, power, address, rack and slot; the gateway keeps trying'],
    [4, 'the last value is older than the tag allows',
        'scans come late: use a longer scan interval, fewer tags or more jobs in flight'],
    [11, 'the block does not exist in the PLC (item code 0A)',
        'load the block or correct its number; optimised blocks look missing too'],
];

const words = new Map(reasons.map(([id, text]) => [id, text]));
const noDurations = { operations: 0, seconds: 0, buckets: [[0.002, 0], [null, 0]] };

const pattern = (text) => new RegExp(`^${text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*|\*|\?/g, (mark) => ({ '**': '.*', '*': '[^/]*', '?': '[^/]' })[mark])}$`);

const send = (response, status, body, type = 'application/json') => {
    response.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
};

export class FakeGateway {
    /** @param options page: folder of a built page; tags: rows of the REST interface. */
    constructor({ page, tags, connections, token = 'secret' }) {
        this.page = page;
        this.tags = tags;
        this.connections = connections;
        this.token = token;
        this.started = new Date().toISOString();
        this.revision = 1;
        this.reads = structuredClone(noDurations);
        this.samples = new Map();
        this.subscriptions = new Set();
        this.subscribedTags = [];
        /** What a PUT answers; null: the write is done and the value changes. */
        this.writeAnswer = null;
        this.writes = [];
        for (const tag of tags) {
            this.samples.set(tag.path, { value: 0, status: 'Good', timestamp: Date.now(), reason: 0 });
        }
    }

    async listen(port = 0) {
        this.server = createServer((request, response) => this.answer(request, response));
        this.sockets = new WebSocketServer({ server: this.server, path: '/api/v1/stream' });
        this.sockets.on('connection', (socket) => this.serve(socket));
        await new Promise((resolve) => this.server.listen(port, '127.0.0.1', resolve));
        this.timer = setInterval(() => this.tick(), 50);
        this.url = `http://127.0.0.1:${this.server.address().port}`;
        return this;
    }

    async close() {
        clearInterval(this.timer);
        for (const socket of this.sockets.clients) {
            socket.close(1001);
        }
        this.server.closeAllConnections();
        await new Promise((resolve) => this.server.close(resolve));
    }

    /** The next sample of a tag. */
    set(path, value, status = 'Good', reason = 0, timestamp = Date.now()) {
        const before = this.samples.get(path);
        const lastGood = before.status === 'Good' ? before : before.lastGood;
        this.samples.set(path, { value, status, reason, timestamp, lastGood });
        for (const subscription of this.subscriptions) {
            if (subscription.indexes.has(path)) {
                subscription.dirty.add(path);
            }
        }
    }

    /** Every connection's row, its tag counts as the samples are now. */
    connectionRows() {
        return this.connections.map((row) => {
            const tags = { total: 0, good: 0, uncertain: 0, bad: 0 };
            for (const [path, { status }] of this.samples) {
                if (path.startsWith(`${row.name}/`)) {
                    tags.total += 1;
                    tags[/^(Good|Uncertain)/.exec(status)?.[0].toLowerCase() ?? 'bad'] += 1;
                }
            }
            return { ...row, tags };
        });
    }

    status() {
        const rows = this.connectionRows();
        const sum = (key) => rows.reduce((total, row) => total + row.tags[key], 0);
        this.reads.operations += 40;
        this.reads.seconds += 40 * 0.0011;
        this.reads.buckets[0][1] += 40;
        return {
            now: new Date().toISOString(),
            version: '0.0.0',
            started: this.started,
            revision: this.revision,
            connections: { total: rows.length, up: rows.filter((row) => row.up).length },
            tags: Object.fromEntries(
                ['total', 'good', 'uncertain', 'bad'].map((key) => [key, sum(key)])),
            opcua: { endpoints: ['opc.tcp://127.0.0.1:4840'], sessions: 1 },
            reads: this.reads,
        };
    }

    valueRow(path) {
        const { value, status, reason, timestamp, lastGood } = this.samples.get(path);
        return {
            path, value, status,
            reason: reason === 0 ? null : words.get(reason),
            source_timestamp: new Date(timestamp).toISOString(),
            server_timestamp: new Date().toISOString(),
            ...(status !== 'Good' && lastGood && {
                last_good: {
                    value: lastGood.value,
                    source_timestamp: new Date(lastGood.timestamp).toISOString(),
                },
            }),
        };
    }

    answer(request, response) {
        const url = new URL(request.url, this.url);
        if (request.method === 'PUT') {
            return this.write(request, response, url);
        }
        switch (url.pathname) {
            case '/api/v1/status':
                return send(response, 200, this.status());
            case '/api/v1/connections':
                return send(response, 200, { items: this.connectionRows(), next: null });
            case '/api/v1/values':
                return send(response, 200, {
                    items: url.searchParams.getAll('tag').map((path) => this.valueRow(path)),
                    next: null,
                });
            case '/api/v1/tags': {
                const from = Number(url.searchParams.get('cursor') ?? 0);
                const end = from + Number(url.searchParams.get('limit') ?? 100);
                return send(response, 200, {
                    items: this.tags.slice(from, end),
                    next: end < this.tags.length ? String(end) : null,
                });
            }
            default:
                return this.file(response, url.pathname);
        }
    }

    file(response, path) {
        const name = path === '/' ? '/index.html' : path;
        try {
            const bytes = readFileSync(join(this.page, name));
            response.writeHead(200, {
                'Content-Type': contentTypes[extname(name)] ?? 'application/octet-stream',
                'Content-Security-Policy': policy,
            });
            response.end(bytes);
        } catch {
            send(response, 404, { type: 'about:blank', title: 'Not Found', status: 404 });
        }
    }

    write(request, response, url) {
        const chunks = [];
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => {
            const path = decodeURIComponent(url.pathname.replace('/api/v1/values/', ''));
            const { value } = JSON.parse(Buffer.concat(chunks).toString());
            this.writes.push({ path, value, authorization: request.headers.authorization });
            if (this.writeAnswer !== null) {
                return send(response, this.writeAnswer.status, this.writeAnswer,
                    'application/problem+json');
            }
            this.set(path, value);
            return send(response, 200, { path, status: 'Good', outcome: 'answered' });
        });
    }

    serve(socket) {
        const say = (message) => socket.send(JSON.stringify(message));
        say({ op: 'reasons', reasons });
        const mine = new Map();
        socket.on('message', (data) => {
            const message = JSON.parse(data.toString());
            if (message.op === 'unsubscribe') {
                this.subscriptions.delete(mine.get(message.id));
                mine.delete(message.id);
                return say({ op: 'unsubscribed', id: message.id });
            }
            const subscription = this.begin(message, say);
            mine.set(message.id, subscription);
            return this.subscriptions.add(subscription);
        });
        socket.on('close', () => mine.forEach((each) => this.subscriptions.delete(each)));
    }

    begin({ id, tags, min_interval_ms }, say) {
        this.subscribedTags.push(tags);
        const exact = new Set(tags.filter((tag) => !/[*?]/.test(tag)));
        const patterns = tags.filter((tag) => /[*?]/.test(tag)).map(pattern);
        const found = this.tags.filter(({ path }) =>
            exact.has(path) || patterns.some((each) => each.test(path)));
        const indexes = new Map(found.map(({ path }, index) => [path, index]));
        say({
            op: 'subscribed', id, more: false,
            tags: found.map(({ path, type, unit }, index) => [index, path, type, unit]),
        });
        const subscription = {
            id, say, indexes, seq: 1, dirty: new Set(), interval: min_interval_ms, next: 0,
        };
        say({
            op: 'snapshot', id, seq: 1, more: false,
            values: found.map(({ path }) => this.entry(subscription, path)),
        });
        return subscription;
    }

    entry({ indexes }, path) {
        const { value, status, timestamp, reason } = this.samples.get(path);
        const shown = status === 'Good' ? 0 : status;
        return [indexes.get(path), value, shown, timestamp, ...(reason === 0 ? [] : [reason])];
    }

    tick() {
        const now = Date.now();
        for (const subscription of this.subscriptions) {
            if (subscription.dirty.size > 0 && now >= subscription.next) {
                subscription.next = now + subscription.interval;
                subscription.seq += 1;
                const values = [...subscription.dirty].map((path) => this.entry(subscription, path));
                subscription.dirty.clear();
                subscription.say({ op: 'delta', id: subscription.id, seq: subscription.seq, values });
            }
        }
    }
}

export const tagRow = (path, type, more = {}) => ({
    path, node_id: `ns=3;s=${path}`, type, access: 'read', address: 'DB1.DBD0',
    scan_class: 'fast', unit: null, description: null, ...more,
});

export const connectionRow = (name, more = {}) => ({
    name, protocol: 's7', endpoint: '192.0.2.10:102', state: 'up', up: true, reason: null,
    since: new Date(Date.now() - 60_000).toISOString(), next_attempt: null, connects: 1,
    connect_failures: 0, requests: 100, request_failures: 0, overruns: 0, pdu_size: 960, window: 8,
    ...more,
});
