import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Starts the machine's own Chromium, without a window. */
export async function launch() {
  const executablePath = candidates.find((path) => path && existsSync(path));
  if (executablePath === undefined) {
    throw new Error('no Chromium found: install the package chromium, or name its program in CHROMIUM');
  }
  return chromium.launch({
    executablePath,
    args: [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * Opens the demo and lets it join at once.
 *
 * @param {import('playwright-core').Browser} browser
 * @param {{url: string, transport?: string, room?: string, name?: string, token?: string, withoutWebRTC?: boolean}} options
 * @returns {Promise<{page: import('playwright-core').Page, faults: string[]}>} the page, and what went wrong on it so far
 */
export async function open(browser, options) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  const faults = [];
  page.on('pageerror', (e) => faults.push(e.stack ?? e.message));
  page.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
  if (options.withoutWebRTC) await page.addInitScript('delete globalThis.RTCPeerConnection');
  const address = new URL(options.url);
  address.search = new URLSearchParams({
    auto: '1',
    transport: options.transport ?? 'webrtc',
    room: options.room ?? 'arena',
    name: options.name ?? 'Browser',
    ...(options.token ? { token: options.token } : {}),
  }).toString();
  await page.goto(address.href);
  return { page, faults };
}

/** Waits until the page plays; fails with what the start screen says, if it does not. */
export async function synchronized(page, timeout = 20_000) {
  const why = () => page.evaluate(() => document.getElementById('startError')?.textContent || window.gatehouse?.state || 'it is still joining');
  try {
    await page.waitForFunction(() => window.gatehouse?.state === 'synchronized', undefined, { timeout });
  } catch (e) {
    throw new Error(`the page is not synchronized after ${timeout / 1000} s: ${await why()}`, { cause: e });
  }
}

/** What the page's hook says, as plain values. */
export function look(page) {
  return page.evaluate(() => {
    const g = window.gatehouse;
    return {
      state: g.state,
      transport: g.transport,
      tick: g.tick,
      you: g.you,
      entities: g.entities,
      peers: g.peers.map(({ id, name }) => ({ id, name })),
      hash: g.hash(),
      hashes: [...g.hashes],
      at: g.at && { x: g.at.x, y: g.at.y },
      corrections: g.corrections,
      fallback: g.fallback,
      stats: g.room.stats(),
    };
  });
}
