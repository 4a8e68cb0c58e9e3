import { Code, join, type GatehouseError, type Room, type RoomState } from '../../sdk/src/index.js';
import { installHook } from './hook.js';
import { Play } from './play.js';
import { byId, toast } from './ui/dom.js';
import { Start, type Choice } from './ui/start.js';
import { endText } from './ui/words.js';

const start = new Start(play);
start.open();

async function play(choice: Choice): Promise<void> {
  let running: Play | undefined;
  let fallback: string | undefined;
  const options = {
    room: choice.room,
    name: choice.name,
    transport: choice.transport,
    profile: { color: choice.color, skin: choice.skin },
    identity: identity(),
    onFallback: (f: { reason: string }) => {
      fallback = f.reason;
      running?.overlay.fellBack(f.reason);
    },
  };
  const room = await join(choice.token === undefined ? options : { ...options, token: choice.token });
  if (room.info.game !== 'arena') {
    await room.leave();
    throw new Error(`The room ${choice.room} does not play the arena; rooms whose name begins with arena do.`);
  }
  running = new Play(room);
  if (fallback !== undefined) running.overlay.fellBack(fallback);
  installHook(room, () => ({
    at: running?.game.predictor.state,
    corrections: running?.game.predictor.corrections ?? 0,
    fallback,
  }));
  watch(room, choice);
}

/** Shows when the connection is lost, and how it ends. */
function watch(room: Room, choice: Choice): void {
  const veil = byId('veil');
  const [title, text, again] = ['b', 'p', 'button'].map((tag) => veil.querySelector(tag) as HTMLElement) as [HTMLElement, HTMLElement, HTMLElement];
  const titles: Partial<Record<RoomState, string>> = {
    away: 'Connection lost',
    connecting: 'Reconnecting',
    joining: 'Reconnecting',
  };
  let goingAway = false;
  room.on('state', ({ state, previous, end }) => {
    const lost = titles[state];
    if (end?.code === Code.going_away) goingAway = true;
    veil.hidden = lost === undefined;
    title.textContent = lost ?? '';
    text.textContent = goingAway ? 'The server went away. Trying to get back…' : 'Your place is kept. Coming back…';
    if (state !== 'synchronized' || previous === 'resynchronizing') return;
    goingAway = false;
    toast('Back in the arena.', 'info', 2500);
  });
  room.on('draining', (ms) => {
    goingAway = true;
    toast(`The server is going away within ${Math.ceil(ms / 1000)} s.`, 'warn');
  });
  room.on('closed', (e: GatehouseError) => {
    veil.hidden = false;
    title.textContent = 'The game is over';
    text.textContent = endText(e);
    again.hidden = false;
    again.onclick = () => start.again(choice);
  });
  // A page that is closed leaves; one that may come back from the browser's cache does not.
  addEventListener('pagehide', (e) => {
    if (!e.persisted) void room.leave();
  });
}

/** Who this tab is, on servers that ask for no token: one identity may be in a room once. */
function identity(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `web-${Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')}`;
}
