// Plays the demo in a real Chromium, on a server of its own or on one that runs:
//
//   npm run e2e
//   GATEHOUSE_URL=http://127.0.0.1:8080/ npm run e2e

import assert from 'node:assert/strict';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { launch, look, open, synchronized } from './browser.mjs';
import { ownServer, server } from './server.mjs';

let browser;
let house;
let pictures;

before(async () => {
  house = await server();
  browser = await launch();
  pictures = await mkdtemp(join(tmpdir(), 'gatehouse-e2e-'));
  console.log(`# screenshots go to ${pictures}`);
});

after(async () => {
  await browser?.close();
  await house?.stop();
});

/** Opens a page for one test; it fails if anything went wrong on it. */
async function playing(t, options, use) {
  const { page, faults } = await open(browser, { url: house.url, name: 'Tester', ...options });
  try {
    await synchronized(page);
    await use(page);
    await page.screenshot({ path: join(pictures, `${t.name.replaceAll(/\W+/g, '-')}.png`) });
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

/** Holds keys one after the other until the player has gone far enough. */
async function walk(page, far) {
  const from = (await look(page)).at;
  for (let turn = 0; turn < 24; turn++) {
    const key = ['KeyD', 'KeyS', 'KeyA', 'KeyW'][turn % 4];
    await page.keyboard.down(key);
    await page.waitForTimeout(500);
    await page.keyboard.up(key);
    const { at } = await look(page);
    if (at && from && Math.hypot(at.x - from.x, at.y - from.y) >= far) return;
    await page.keyboard.press('KeyR'); // if it was destroyed
  }
  assert.fail('the player has not moved');
}

/** Waits for a condition on the hook. */
const until = (page, condition) => page.waitForFunction(condition, undefined, { timeout: 20_000 });

test('plays over WebRTC', async (t) => {
  await playing(t, { transport: 'webrtc' }, async (page) => {
    assert.equal((await look(page)).transport, 'webrtc');
    await page.keyboard.press('KeyO');
    await walk(page, 256);
    await until(page, () => window.gatehouse.hashes.size >= 60);
    const seen = await look(page);
    assert.equal(seen.fallback, undefined);
    assert.equal(seen.state, 'synchronized');
    assert.ok(seen.entities > 5, `${seen.entities} entities`);
    assert.ok(seen.peers.some((p) => p.id === seen.you && p.name === 'Tester'));
    assert.deepEqual(seen.hashes.at(-1), [seen.tick, seen.hash]);
    assert.equal(await page.textContent('#overlay .state'), 'synchronized');
  });
});

test('plays over WebSocket where there is no WebRTC, and says why', async (t) => {
  await playing(t, { transport: 'webrtc', withoutWebRTC: true }, async (page) => {
    const seen = await look(page);
    assert.equal(seen.transport, 'websocket');
    assert.match(seen.fallback, /no WebRTC/);
    assert.match(await page.textContent('#toasts'), /WebRTC can not connect: this browser has no WebRTC.*Playing over WebSocket/);
    await page.keyboard.press('KeyO');
    assert.match(await page.textContent('#overlay .why'), /No WebRTC: this browser has no WebRTC/);
    await walk(page, 256);
  });
});

test('moves from WebRTC to WebSocket and back while it plays', async (t) => {
  await playing(t, { transport: 'webrtc' }, async (page) => {
    const { you } = await look(page);
    await page.keyboard.press('KeyO');
    await page.click('#switch-websocket');
    await until(page, () => window.gatehouse.transport === 'websocket');
    await walk(page, 128);
    await page.click('#switch-webrtc');
    await until(page, () => window.gatehouse.transport === 'webrtc');
    await walk(page, 128);
    const seen = await look(page);
    assert.equal(seen.you, you);
    assert.equal(seen.stats.resumes, 2);
    assert.equal(seen.stats.resyncs, 0);
  });
});

test('comes back by itself after its connection was cut', async (t) => {
  await playing(t, { transport: 'websocket' }, async (page) => {
    await page.evaluate(() => window.gatehouse.room.dropLink());
    assert.equal((await look(page)).state, 'away');
    await until(page, () => window.gatehouse.state === 'synchronized');
    const { tick } = await look(page);
    await page.waitForFunction((t) => window.gatehouse.tick > t + 10, tick, { timeout: 20_000 });
    assert.equal((await look(page)).stats.resumes, 1);
  });
});

test('plays well on a bad line', { skip: process.env.GATEHOUSE_URL && 'needs a server of its own' }, async (t) => {
  const bad = await ownServer('--netsim', 'latency=50ms,jitter=10ms,loss=5%');
  try {
    await playing(t, { url: bad.url, transport: 'webrtc' }, async (page) => {
      await page.keyboard.press('KeyO');
      const from = (await look(page)).stats;
      await walk(page, 512);
      await until(page, () => window.gatehouse.hashes.size >= 150);
      const { stats, corrections, transport } = await look(page);
      assert.equal(transport, 'webrtc');
      assert.ok(stats.rtt >= 80, `a round trip of ${stats.rtt} ms is not what the line was made to have`);
      assert.ok(stats.snapshots - from.snapshots >= 60, `${stats.snapshots - from.snapshots} snapshots`);
      assert.equal(stats.resyncs, 0);
      // Blows, doors and pick-ups correct a prediction now and then; a wrong rule would at every snapshot.
      assert.ok(corrections <= stats.snapshots / 10, `${corrections} corrections in ${stats.snapshots} snapshots`);
    });
  } finally {
    await bad.stop();
  }
});

test('two pages hold the same world at the same tick', async (t) => {
  await playing(t, { transport: 'webrtc', name: 'First' }, async (first) => {
    await playing(t, { transport: 'websocket', name: 'Second' }, async (second) => {
      await until(second, () => window.gatehouse.hashes.size >= 90);
      const mine = new Map((await look(first)).hashes);
      const both = (await look(second)).hashes.filter(([tick]) => mine.has(tick));
      const equal = both.filter(([tick, hash]) => mine.get(tick) === hash);
      assert.ok(both.length >= 30, `${both.length} ticks in common`);
      // A record that had to wait for a later snapshot makes a tick differ for a moment.
      assert.ok(equal.length >= both.length * 0.9, `${equal.length} of ${both.length} are equal`);
      const names = (await look(second)).peers.map((p) => p.name);
      assert.ok(names.includes('First') && names.includes('Second'), names.join());
    });
  });
});
