import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/gatehouse', import.meta.url));
const pages = fileURLToPath(new URL('../dist', import.meta.url));
const keys = ['http.listen', 'rtc.udp_listen', 'rtc.tcp_listen', 'enet.listen', 'admin.listen'];
const patience = 20_000;

/**
 * The server to play on: the one that GATEHOUSE_URL names, else one of our own.
 *
 * @returns {Promise<{url: string, stop: () => Promise<void>}>}
 */
export async function server() {
  return process.env.GATEHOUSE_URL ? { url: process.env.GATEHOUSE_URL, stop: async () => {} } : ownServer();
}

/** A server of our own, on ports that are free. More flags make its lines bad, say. */
export async function ownServer(...flags) {
  if (!existsSync(program)) throw new Error(`${program} is not built; build it, or name a running server in GATEHOUSE_URL`);
  const settings = keys.flatMap((key) => ['--set', `${key}=127.0.0.1:0`]);
  const child = spawn(program, ['serve', '--dev', ...flags, ...settings, '--set', `web.dir=${pages}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), patience);
    await ended;
    clearTimeout(hard);
  };
  try {
    return { url: await address(child, ended), stop };
  } catch (e) {
    await stop();
    throw e;
  }
}

/** Reads where to play from what the server announces. */
async function address(child, ended) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error('the server does not say where it listens')), patience).unref();
    void ended.then((code) => reject(new Error(`the server ended with ${code}`)));
  });
  const said = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /\bPlay\s+(https?:\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  return Promise.race([said, late]);
}
