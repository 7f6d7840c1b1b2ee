// nodes7 as the S7 client: promises around its callbacks, tags by name.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../interop/package.json', import.meta.url));
const NodeS7 = require('nodes7');

/**
 * @param {{port: number, slot?: number, rack?: number, pdu_size?: number}} where on loopback
 * @param {Record<string, string>} tags nodes7 addresses by name
 */
export const connectNodes7 = async ({ port, rack = 0, slot = 1, pdu_size = 960 }, tags) => {
    const plc = new NodeS7({ silent: true });
    plc.requestMaxPDU = pdu_size;
    plc.setTranslationCB((name) => tags[name]);
    await new Promise((resolve, reject) => plc.initiateConnection(
        { host: '127.0.0.1', port, rack, slot, timeout: 4000 },
        (error) => (error === undefined ? resolve() : reject(new Error(`nodes7: ${error}`)))));
    plc.addItems(Object.keys(tags));
    return {
        plc,
        /** Every tag's value by name; fails when any is bad. */
        read: () => new Promise((resolve, reject) => plc.readAllItems(
            (bad, values) => (bad ? reject(new Error(`bad values: ${JSON.stringify(values)}`))
                : resolve(values)))),
        write: (names, values) => new Promise((resolve, reject) => plc.writeItems(names, values,
            (bad) => (bad ? reject(new Error(`not written: ${names}`)) : resolve()))),
        close: () => new Promise((resolve) => plc.dropConnection(() => resolve())),
    };
};
