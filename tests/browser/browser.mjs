// Chromium for tests, as Debian packages it, and pages that remember what went wrong in them.
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const program = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']
    .find((path) => path && existsSync(path));

export const startBrowser = () => {
    if (!program) {
        throw new Error('no Chromium: deploy/install-build-packages.sh tests installs it');
    }
    return chromium.launch({
        executablePath: program,
        // Its sandbox refuses to run as root, as which containers run tests.
        args: process.getuid() === 0 ? ['--no-sandbox'] : [],
    });
};

/**
 * A page in a browser session of its own. `page.faults` collects errors of scripts, console and
 * Content-Security-Policy; `expected` names those that a test causes on purpose.
 */
export const openPage = async (browser, url, { expected = /^$/, ...options } = {}) => {
    const context = await browser.newContext({
        viewport: { width: 1920, height: 1080 }, colorScheme: 'light', locale: 'en', ...options,
    });
    const page = await context.newPage();
    page.faults = [];
    const note = (text) => {
        if (!expected.test(text)) {
            page.faults.push(text);
        }
    };
    page.on('pageerror', (error) => note(String(error)));
    page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') {
            note(message.text());
        }
    });
    await page.goto(url);
    return page;
};

/** Into the folder that TAGFERRY_SCREENSHOTS names; none without it. */
export const keepScreenshot = async (page, name) => {
    const folder = process.env.TAGFERRY_SCREENSHOTS;
    if (folder) {
        mkdirSync(folder, { recursive: true });
        await page.screenshot({ path: join(folder, `${name}.png`) });
    }
};

export const topLine = (page) => page.locator('.top-line h1');
export const row = (page, path) => page.locator('.body .row', {
    has: page.locator('.path', { hasText: new RegExp(`^${path}$`) }),
});
export const valueOf = (page, path) => row(page, path).locator('.value-cell');

/** Opens the write form of a tag and waits until it is that tag's: the panel may show another's. */
export const openWriteForm = async (page, path) => {
    await page.getByRole('button', { name: `Write ${path}`, exact: true }).click();
    await page.getByRole('heading', { name: path, exact: true, level: 2 }).waitFor();
    return page.getByRole('form', { name: 'Write a value' });
};
