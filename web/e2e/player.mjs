// A browser as a player, for tests that compare it with other clients:
//
//   node e2e/player.mjs URL [--transport webrtc] [--seconds 10] [--room arena]
//     [--name Browser] [--token TOKEN] [--without-webrtc] [--switch websocket] [--idle]
//     [--screenshot FILE]
//
// It joins, walks and shoots, moves to the transport of --switch after half of the
// time, and prints what it sees as lines of JSON:
//
//   {"state":"synchronized","transport":"webrtc","you":3,"fallback":null}   at every change
//   {"peers":[{"id":1,"name":"Ann"}]}                                      at every change, ids ascending
//   {"tick":1234,"hash":567}                                               for every tick that was applied
//   {"done":true,"corrections":0,"stats":{…},"faults":[]}                  at the end
//
// It ends with 0, or with 1 and a line {"error":"…"} if it could not play.

import { parseArgs } from 'node:util';
import { launch, look, open, synchronized } from './browser.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    transport: { type: 'string', default: 'webrtc' },
    seconds: { type: 'string', default: '10' },
    room: { type: 'string', default: 'arena' },
    name: { type: 'string', default: 'Browser' },
    token: { type: 'string' },
    screenshot: { type: 'string' },
    'without-webrtc': { type: 'boolean', default: false },
    switch: { type: 'string' },
    idle: { type: 'boolean', default: false },
  },
});
const [url] = positionals;
const seconds = Number(values.seconds);
if (url === undefined || !(seconds > 0 && seconds <= 600)) {
  console.error('usage: node e2e/player.mjs URL [--transport webrtc|websocket|auto] [--seconds 1..600] …');
  process.exit(2);
}

const say = (line) => console.log(JSON.stringify(line));
const walk = ['KeyD', 'KeyS', 'KeyA', 'KeyW'];

/** Tells what is new since the last look. */
function reporter() {
  let told = 0;
  const last = {};
  const changed = (key, line) => {
    const text = JSON.stringify(line);
    if (last[key] === text) return;
    last[key] = text;
    console.log(text);
  };
  return (seen) => {
    changed('state', { state: seen.state, transport: seen.transport ?? null, you: seen.you, fallback: seen.fallback ?? null });
    changed('peers', { peers: seen.peers.sort((a, b) => a.id - b.id) });
    for (const [tick, hash] of seen.hashes) {
      if (tick <= told) continue;
      told = tick;
      say({ tick, hash });
    }
  };
}

const browser = await launch();
try {
  const { page, faults } = await open(browser, {
    url,
    transport: values.transport,
    room: values.room,
    name: values.name,
    token: values.token,
    withoutWebRTC: values['without-webrtc'],
  });
  await synchronized(page);
  const report = reporter();
  if (!values.idle) {
    await page.mouse.move(900, 260);
    await page.mouse.down();
  }
  const end = Date.now() + seconds * 1000;
  let next = values.switch;
  for (let turn = 0; Date.now() < end; turn++) {
    const key = walk[turn % walk.length];
    if (!values.idle) await page.keyboard.down(key);
    await page.waitForTimeout(Math.min(400, Math.max(1, end - Date.now())));
    if (!values.idle) await page.keyboard.up(key);
    report(await look(page));
    if (next !== undefined && end - Date.now() < seconds * 500) {
      await page.evaluate((transport) => window.gatehouse.room.switchTransport(transport), next);
      next = undefined;
    }
  }
  if (values.screenshot) await page.screenshot({ path: values.screenshot });
  const seen = await look(page);
  report(seen);
  say({ done: true, corrections: seen.corrections, stats: seen.stats, faults });
} catch (e) {
  say({ error: e instanceof Error ? e.message : String(e) });
  process.exitCode = 1;
} finally {
  await browser.close();
}
