// Writes from the page, through the gateway, to the simulated PLCs of `tagferry demo`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keepScreenshot, openPage, openWriteForm, startBrowser, valueOf } from './browser.mjs';
import { eventually, startTagferry } from '../support/node/process.mjs';

let browser;
let demo;

before(async () => {
    browser = await startBrowser();
    demo = await startTagferry(['demo', '--opcua-port', '0', '--http-port', '0', '--s7-port', '0']);
});
after(async () => {
    await browser.close();
    await demo.stop();
});

const says = (locator, pattern, ms = 8000) =>
    eventually(`text ${pattern}`, ms, async () => {
        const text = await locator.first().textContent({ timeout: ms });
        if (!pattern.test(text)) {
            throw new Error(`it says: ${text}`);
        }
        return text;
    });

test('a write reaches the PLC with the printed token; a wrong token is refused with why', async (t) => {
    const { token, http } = demo.endpoints;
    assert.ok(token, 'the demo prints a token');
    const page = await openPage(browser, http, { expected: /status of 40[13]/ });
    t.after(() => page.context().close());
    const write = async (path, value) => {
        await openWriteForm(page, path);
        await form.getByLabel('New value').fill(value);
        await form.getByLabel('New value').press('Enter');
    };
    await page.getByRole('searchbox').fill('press/recipe/');
    const before = await says(valueOf(page, 'press/recipe/setpoint'), /kN$/);
    const form = await openWriteForm(page, 'press/recipe/setpoint');
    await form.getByLabel('Token').fill('wrong');
    await write('press/recipe/setpoint', '950.5');
    await says(form.locator('.outcome'), /^The gateway does not know this token\. Printed by/);
    assert.equal(await valueOf(page, 'press/recipe/setpoint').textContent(), before);
    await form.getByLabel('Token').fill(token);
    await write('press/recipe/setpoint', '950.5');
    await says(form.locator('.outcome'), /^Written\. The PLC accepted 950\.5\.$/);
    await says(valueOf(page, 'press/recipe/setpoint'), /^950\.50kN$/);
    // The token is kept; a text and an array go the same way.
    await write('press/recipe/name', 'Flansch größer');
    await says(form.locator('.outcome'), /^Written\. The PLC accepted Flansch größer\.$/);
    await says(valueOf(page, 'press/recipe/name'), /^Flansch größer$/);
    await write('press/recipe/profile', '1, 2, 3, 4, 5, 6, 7, 8, 9, -10');
    await says(form.locator('.outcome'), /^Written\./);
    await says(valueOf(page, 'press/recipe/profile'), /^\[1, 2, 3, 4, 5, 6, 7, 8, 9, -10\]/);
    await keepScreenshot(page, 'demo_written');
    assert.deepEqual(page.faults, []);
});
