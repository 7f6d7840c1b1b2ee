// The page against a gateway that does what a test says.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keepScreenshot, openPage, openWriteForm, row, startBrowser, topLine, valueOf } from './browser.mjs';
import { connectionRow, FakeGateway, tagRow } from './fake_gateway.mjs';
import { eventually } from '../support/node/process.mjs';

const built = process.env.TAGFERRY_PAGE;
let browser;

before(async () => { browser = await startBrowser(); });
after(() => browser.close());

const tags = [
    tagRow('press/level', 'REAL', { unit: 'mm', description: 'Level of the oil tank' }),
    tagRow('press/total', 'LINT'),
    tagRow('press/ratio', 'LREAL'),
    tagRow('press/name', 'STRING[20]', { access: 'read_write' }),
    tagRow('press/profile', 'ARRAY[0..2] OF INT', { access: 'read_write' }),
    tagRow('press/running', 'BOOL', { access: 'read_write' }),
    tagRow('press/word', 'WORD'),
    tagRow('boiler/setpoint', 'REAL', { access: 'read_write', unit: 'bar' }),
];

const begin = async (t, { more = {}, ...options } = {}) => {
    const gateway = await new FakeGateway({
        page: built, tags, connections: [connectionRow('press'), connectionRow('boiler')], ...more,
    }).listen();
    t.after(() => gateway.close());
    const page = await openPage(browser, gateway.url, options);
    t.after(() => page.context().close());
    return { gateway, page };
};

/** Text of an element, once it is as it should be. */
const shows = (locator, expected, ms = 5000) =>
    eventually(`text ${expected}`, ms, async () => {
        const text = (await locator.first().textContent({ timeout: ms })).trim();
        if (!(expected instanceof RegExp ? expected.test(text) : text === expected)) {
            throw new Error(`it says: ${text}`);
        }
        return true;
    });

const lose = (gateway) => {
    Object.assign(gateway.connections[1], {
        state: 'waiting', up: false, connect_failures: 2,
        reason: 'the PLC stopped answering: check its power, and cable and switches',
        since: new Date(Date.now() - 14_000).toISOString(), pdu_size: 0, window: 0,
        next_attempt: new Date(Date.now() + 60_000).toISOString(),
    });
    gateway.set('boiler/setpoint', null, 'BadNoCommunication', 2);
};

test('values of every kind are shown as what they are, and live', async (t) => {
    const { gateway, page } = await begin(t);
    gateway.set('press/level', 1406.2407);
    gateway.set('press/total', '9223372036854775807');
    gateway.set('press/ratio', 'NaN');
    gateway.set('press/name', 'Gehäuse groß');
    gateway.set('press/profile', [1, -2, 3]);
    gateway.set('press/running', true);
    gateway.set('press/word', 255);
    await shows(valueOf(page, 'press/level'), '1406.2mm');
    await shows(valueOf(page, 'press/total'), '9223372036854775807');
    await shows(valueOf(page, 'press/ratio'), 'NaN');
    await shows(valueOf(page, 'press/name'), 'Gehäuse groß');
    await shows(valueOf(page, 'press/profile'), '[1, -2, 3]');
    await shows(valueOf(page, 'press/running'), 'TRUE');
    await shows(valueOf(page, 'press/word'), '16#00FF');
    gateway.set('press/level', 1407);
    await shows(valueOf(page, 'press/level'), '1407.0mm');
    await shows(topLine(page), '2 PLCs, everything works. 8 tags are good.');
    assert.deepEqual(page.faults, []);
});

test('a lost PLC is said in words; its tags show the last good value as such', async (t) => {
    const { gateway, page } = await begin(t);
    gateway.set('boiler/setpoint', 8.25);
    await shows(valueOf(page, 'boiler/setpoint'), '8.250bar');
    lose(gateway);
    await shows(topLine(page),
        /^2 PLCs, 1 problem: boiler unreachable for \d+ s \(the PLC stopped answering, .*\)\. Retry in \d+ s\.$/);
    await shows(valueOf(page, 'boiler/setpoint'), 'last8.250bar');
    await shows(row(page, 'boiler/setpoint').locator('.quality-cell'), 'Badno connection to the PLC');
    await row(page, 'boiler/setpoint').click();
    await shows(page.locator('.trouble'), /[Cc]heck cable.*Last good value: 8\.25 bar/);
    await page.getByRole('button', { name: /^Not good/ }).click();
    await shows(page.locator('.row-count'), '1 of 8 tags');
    gateway.set('press/level', 1, 'UncertainLastUsableValue', 4);
    await shows(page.locator('.row-count'), '2 of 8 tags');
    Object.assign(gateway.connections[1], connectionRow('boiler'));
    gateway.set('boiler/setpoint', 8.5);
    await shows(topLine(page), /1 problem: press: 1 tag is uncertain/);
    await shows(page.locator('.row-count'), '1 of 8 tags');
    assert.deepEqual(page.faults, []);
});

test('a write is sent with the token and shown only when the PLC says so', async (t) => {
    const { gateway, page } = await begin(t);
    gateway.set('boiler/setpoint', 8);
    await shows(valueOf(page, 'boiler/setpoint'), '8.000bar');
    const form = await openWriteForm(page, 'boiler/setpoint');
    const value = form.getByLabel('New value');
    assert.equal(await value.inputValue(), '8');
    assert.ok(await value.evaluate((field) => field === document.activeElement));
    await value.fill('4o');
    await value.press('Enter');
    await shows(form.locator('.fault'), '“4o” is no number.');
    assert.deepEqual(gateway.writes, []);
    await value.fill('7,5');
    await form.getByLabel('Token').fill('secret');
    await value.press('Enter');
    await shows(form.locator('.outcome'), 'Written. The PLC accepted 7.5.');
    await shows(valueOf(page, 'boiler/setpoint'), '7.500bar');
    assert.deepEqual(gateway.writes,
        [{ path: 'boiler/setpoint', value: 7.5, authorization: 'Bearer secret' }]);
    // The token is kept for the next one.
    await openWriteForm(page, 'press/running');
    await page.getByRole('button', { name: 'TRUE' }).click();
    await form.getByRole('button', { name: 'Write', exact: true }).click();
    await shows(form.locator('.outcome'), /^Written\./);
    await openWriteForm(page, 'press/name');
    await value.fill('Störung: „voll“');
    await value.press('Enter');
    await shows(form.locator('.outcome'), /^Written\./);
    await openWriteForm(page, 'press/profile');
    await value.fill('1; 2');
    await value.press('Enter');
    await shows(form.locator('.fault'), '2 elements given; the array has 3.');
    await value.fill('1; 2; 3');
    await value.press('Enter');
    await shows(form.locator('.outcome'), /^Written\./);
    assert.deepEqual(gateway.writes.slice(1).map(({ value: sent }) => sent),
        [true, 'Störung: „voll“', [1, 2, 3]]);
    assert.ok(gateway.writes.every(({ authorization }) => authorization === 'Bearer secret'));
    assert.deepEqual(page.faults, []);
});

test('every other outcome of a write is said in words, and no value is made up', async (t) => {
    const { gateway, page } = await begin(t, { expected: /Failed to load resource/ });
    gateway.set('boiler/setpoint', 8);
    const form = await openWriteForm(page, 'boiler/setpoint');
    const attempt = async (answer, expected) => {
        gateway.writeAnswer = answer;
        await form.getByLabel('New value').fill('9');
        await form.getByLabel('New value').press('Enter');
        await shows(form.locator('.outcome'), expected);
        await shows(valueOf(page, 'boiler/setpoint'), '8.000bar');
    };
    for (const { answer, expected } of outcomes) {
        await attempt(answer, expected);
    }
    gateway.server.closeAllConnections();
    gateway.server.close();
    await attempt(null, /^Outcome unknown\. The gateway did not answer/);
});

const problem = (status, code, more) => ({
    type: `urn:tagferry:problem:${code}`, title: code, status, ...more,
});
const outcomes = [
    { answer: problem(401, 'unauthorized', { detail: 'no token' }), expected: /^The gateway asks for a token\./ },
    {
        answer: problem(403, 'forbidden', {
            detail: 'the tag is read-only', hint: "set writable in the tag's configuration",
        }),
        expected: "Refused. The tag is read-only. Set writable in the tag's configuration.",
    },
    {
        answer: problem(503, 'not_sent', {
            outcome: 'not_sent', detail: 'the write was not sent: no connection to the PLC',
            hint: 'write again when the connection is up; nothing is replayed',
        }),
        expected: 'Not sent. The write was not sent: no connection to the PLC. ' +
            'Write again when the connection is up; nothing is replayed.',
    },
    {
        answer: problem(504, 'timed_out', {
            outcome: 'unknown', hint: 'read the value back before writing again',
            detail: 'the write was sent and not answered in time: it may or may not have happened',
        }),
        expected: 'Outcome unknown. The write was sent and not answered in time: it may or may ' +
            'not have happened. Read the value back before writing again.',
    },
    {
        answer: problem(502, 'partial', {
            outcome: 'partial', bytes_written: 4, detail: 'only a part of the value was written',
        }),
        expected: 'Partly written: 4 bytes. Only a part of the value was written.',
    },
    {
        answer: problem(502, 'device', {
            outcome: 'answered',
            detail: 'the PLC does not allow writing this address (item code 03)',
        }),
        expected: 'Refused. The PLC does not allow writing this address (item code 03).',
    },
];

test('the gateway goes and comes back: the page says so and goes on by itself', async (t) => {
    const { gateway, page } = await begin(t, { expected: /ERR_CONNECTION|WebSocket/ });
    gateway.set('press/level', 5);
    await shows(valueOf(page, 'press/level'), '5.000mm');
    const { port } = gateway.server.address();
    await gateway.close();
    await shows(topLine(page), /^The gateway has not answered for \d+ s\./, 8000);
    await shows(row(page, 'press/level').locator('.quality-cell'), 'Unknown');
    await keepScreenshot(page, 'gateway_gone');
    const next = new FakeGateway({ page: built, tags, connections: gateway.connections });
    t.after(() => next.close());
    await next.listen(port);
    next.set('press/level', 6);
    await shows(valueOf(page, 'press/level'), '6.000mm', 12_000);
    await shows(page.locator('.notice'), /^The gateway was restarted \d+ s ago\.$/);
    await shows(topLine(page), /everything works/);
    assert.deepEqual(page.faults, []);
});

test('50,000 tags: few rows exist, few are subscribed to, every one can be found', async (t) => {
    const many = Array.from({ length: 50_000 }, (_, index) =>
        tagRow(`press/hall_${Math.floor(index / 1000)}/tag_${index}`, 'REAL'));
    const { gateway, page } = await begin(t, { more: { tags: many } });
    await shows(page.locator('.row-count'), '50,000 tags', 30_000);
    const rows = () => page.locator('.body .row').count();
    assert.ok(await rows() < 80, `${await rows()} rows`);
    // Through all of it, as fast as frames come.
    const frames = await page.locator('.body').evaluate(async (body) => {
        const times = [];
        for (let step = 0; step < 60; step += 1) {
            body.scrollTop = (step / 60) * body.scrollHeight;
            await new Promise(requestAnimationFrame);
            times.push(performance.now());
        }
        return times;
    });
    t.diagnostic(`60 jumps in ${Math.round(frames.at(-1) - frames[0])} ms`);
    assert.ok(await rows() < 80);
    await page.locator('.body').evaluate((body) => { body.scrollTop = body.scrollHeight; });
    gateway.set('press/hall_49/tag_49999', 42);
    await shows(valueOf(page, 'press/hall_49/tag_49999'), '42.000');
    await page.keyboard.press('/');
    await page.keyboard.type('tag_3141');
    await shows(page.locator('.row-count'), '11 of 50,000 tags');
    gateway.set('press/hall_3/tag_3141', 3.5);
    await shows(valueOf(page, 'press/hall_3/tag_3141'), '3.500');
    // Scrolling past rows subscribes to none of them.
    assert.ok(gateway.subscribedTags.every((list) => list.length < 100));
    assert.ok(gateway.subscribedTags.length < 12, `${gateway.subscribedTags.length} subscriptions`);
    await page.keyboard.press('Escape');
    gateway.set('press/hall_7/tag_7777', null, 'BadNoCommunication', 2);
    await page.getByRole('button', { name: /^Not good/ }).click();
    await shows(page.locator('.row-count'), '1 of 50,000 tags', 20_000);
    assert.equal(await row(page, 'press/hall_7/tag_7777').count(), 1);
    assert.deepEqual(page.faults, []);
});

test('the keyboard alone is enough', async (t) => {
    const { page } = await begin(t);
    await shows(page.locator('.row-count'), '8 tags');
    await page.keyboard.press('/');
    await page.keyboard.type('press/r');
    await shows(page.locator('.row-count'), '2 of 8 tags');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await shows(page.locator('.row.selected .path'), 'press/running');
    await page.keyboard.press('Home');
    await shows(page.locator('.row.selected .path'), 'press/ratio');
    const body = page.locator('.body');
    const active = await body.getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Enter');
    await shows(page.locator('.tag-details h2'), 'press/ratio');
    assert.deepEqual(page.faults, []);
});

test('German for a German browser, English by choice, and the choice stays', async (t) => {
    const { gateway, page } = await begin(t, { locale: 'de-DE' });
    lose(gateway);
    await shows(topLine(page),
        /^2 SPSen, 1 Problem: boiler seit \d+ s nicht erreichbar \(die SPS antwortet nicht mehr, /);
    await shows(row(page, 'boiler/setpoint').locator('.quality-cell'), 'Schlechtkeine Verbindung zur SPS');
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
    await page.getByLabel('Sprache').selectOption('en');
    await shows(topLine(page), /^2 PLCs, 1 problem: boiler unreachable/);
    await page.reload();
    await shows(topLine(page), /^2 PLCs, 1 problem: boiler unreachable/);
    assert.deepEqual(page.faults, []);
});

for (const [width, height, colorScheme] of [
    [1920, 1080, 'light'], [1920, 1080, 'dark'], [1024, 768, 'light'], [1024, 768, 'dark'],
]) {
    test(`at ${width} px, ${colorScheme}: nothing is cut off sideways, text has contrast`, async (t) => {
        const { gateway, page } = await begin(t, { viewport: { width, height }, colorScheme });
        gateway.set('press/level', 1, 'UncertainLastUsableValue', 4);
        lose(gateway);
        await shows(topLine(page), /boiler unreachable/);
        await openWriteForm(page, 'press/running');
        await keepScreenshot(page, `page_${width}_${colorScheme}`);
        const wide = await page.evaluate(() =>
            document.documentElement.scrollWidth > document.documentElement.clientWidth);
        assert.equal(wide, false);
        assert.deepEqual(await page.evaluate(faintTexts), []);
        assert.deepEqual(page.faults, []);
    });
}

/** In the browser: texts whose contrast to what lies behind them is below 4.5 (WCAG 2, AA). */
function faintTexts() {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const colour = (text) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = text;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = ([red, green, blue]) => {
        const [r, g, b] = [red, green, blue].map((byte) => {
            const part = byte / 255;
            return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        for (let at = element; at !== null; at = at.parentElement) {
            const ground = colour(getComputedStyle(at).backgroundColor);
            if (ground[3] === 255) {
                return ground;
            }
        }
        return [255, 255, 255, 255];
    };
    const faint = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (texts.currentNode.data.trim() === '' || !element.checkVisibility()) {
            continue;
        }
        const [light, dark] = [colour(getComputedStyle(element).color), behind(element)]
            .map(luminance).sort((a, b) => b - a);
        const contrast = (light + 0.05) / (dark + 0.05);
        if (contrast < 4.5) {
            faint.push(`${texts.currentNode.data} (${contrast.toFixed(2)})`);
        }
    }
    return faint;
}
