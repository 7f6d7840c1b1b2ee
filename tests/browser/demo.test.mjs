// The page as a newcomer sees it: `tagferry demo`, its values and its fault.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keepScreenshot, openPage, row, startBrowser, topLine, valueOf } from './browser.mjs';
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

const open = async (t, options) => {
    const page = await openPage(browser, demo.endpoints.http, options);
    t.after(() => page.context().close());
    return page;
};

const says = (locator, pattern, ms = 8000) =>
    eventually(`text ${pattern}`, ms, async () => {
        const text = await locator.first().textContent({ timeout: ms });
        if (!pattern.test(text)) {
            throw new Error(`it says: ${text}`);
        }
        return text;
    });

test('the page shows a fault and its end in words, live, with nothing wrong in the console', async (t) => {
    const page = await open(t);
    await says(topLine(page), /^2 PLCs, everything works\. 4\d tags are good\.$/);
    const first = await says(valueOf(page, 'press/ram/position'), /mm$/);
    await eventually('the position moves', 5000, async () =>
        await valueOf(page, 'press/ram/position').textContent() !== first);
    await says(page.locator('.connect-client'), new RegExp(demo.endpoints.opcua));
    await keepScreenshot(page, 'demo_well');
    // The demo pulls the boiler's cable 20 s after its start.
    await says(topLine(page),
        /^2 PLCs, 1 problem: boiler unreachable for \d+ s \(.+127\.0\.0\.1:\d+\)\. (Retry in \d+ s|Trying now)\.$/,
        30_000);
    await page.getByRole('searchbox').fill('boiler steam pressure');
    await says(row(page, 'boiler/steam/pressure').locator('.quality-cell'),
        /^Badno connection to the PLC$/);
    await says(valueOf(page, 'boiler/steam/pressure'), /^last\d\.\d+bar$/);
    await row(page, 'boiler/steam/pressure').click();
    await says(page.locator('.trouble'), /[Cc]heck cable.*Last good value/);
    await keepScreenshot(page, 'demo_fault');
    await says(topLine(page), /everything works/, 30_000);
    await says(row(page, 'boiler/steam/pressure').locator('.quality-cell'), /^Good$/);
    await says(valueOf(page, 'boiler/steam/pressure'), /^\d\.\d+bar$/);
    assert.deepEqual(page.faults, []);
});

for (const [width, height, colorScheme, locale] of [
    [1920, 1080, 'light', 'en'], [1920, 1080, 'dark', 'de'],
    [1024, 768, 'light', 'de'], [1024, 768, 'dark', 'en'],
]) {
    test(`${width} px, ${colorScheme}, ${locale}: rows, cards and top line are there`, async (t) => {
        const page = await open(t, { viewport: { width, height }, colorScheme, locale });
        await says(valueOf(page, 'press/tank/level'), /mm$/);
        assert.equal(await page.locator('.card').count(), 2);
        assert.ok(await page.locator('.body .row').count() >= 10);
        await keepScreenshot(page, `demo_${width}_${colorScheme}`);
        assert.deepEqual(page.faults, []);
    });
}
