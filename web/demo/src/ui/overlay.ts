import type { Room, Transport } from '../../../sdk/src/index.js';
import type { Game } from '../arena/game.js';
import { byId, make, setText, toast } from './dom.js';

const names: Record<Transport, string> = { webrtc: 'WebRTC', websocket: 'WebSocket' };
const rows = ['Transport', 'State', 'Round trip', 'Tick', 'Received', 'Sent', 'Snapshots', 'Shown behind', 'Corrections', 'Entities', 'Resumes'] as const;

/** The panel that tells how the connection does, and the switch between transports. */
export class Overlay {
  private readonly panel = byId('overlay');
  private readonly button = byId<HTMLButtonElement>('overlayButton');
  private readonly cells = new Map<string, HTMLElement>();
  private readonly switches = new Map<Transport, HTMLButtonElement>();
  private readonly why = make('p', '', 'why');
  private reason = ''; // why WebRTC is not used, until it was told
  private switching = false;
  private paintedAt = 0;

  constructor(
    private readonly room: Room,
    private readonly game: Game,
  ) {
    const list = make('dl');
    for (const row of rows) {
      const cell = make('dd');
      list.append(make('dt', row), cell);
      this.cells.set(row, cell);
    }
    const choice = make('div', '', 'switch');
    for (const transport of ['webrtc', 'websocket'] as const) {
      const button = make('button', names[transport]);
      button.id = `switch-${transport}`;
      button.addEventListener('click', () => void this.switchTo(transport));
      choice.append(button);
      this.switches.set(transport, button);
    }
    this.panel.replaceChildren(list, choice, this.why);
    for (const change of ['state', 'unstable'] as const) {
      room.on(change, () => {
        this.paintedAt = 0;
        this.paint(performance.now());
      });
    }
    room.on('transport', (transport) => {
      if (transport === 'webrtc') this.reason = '';
      else if (this.reason !== '') this.tell();
    });
    this.button.hidden = false;
    this.button.onclick = () => {
      this.toggle();
      this.button.blur(); // the space bar dashes
    };
  }

  toggle(): void {
    this.panel.hidden = !this.panel.hidden;
  }

  /** Says why WebRTC is not used, as soon as the other transport plays. */
  fellBack(reason: string): void {
    this.reason = reason;
    if (this.room.transport === 'websocket') this.tell();
  }

  private tell(): void {
    setText(this.why, `No WebRTC: ${this.reason}.`);
    toast(`WebRTC can not connect: ${this.reason}. Playing over WebSocket.`, 'warn', 9000);
    this.reason = '';
  }

  /** Brings the figures up to date, a few times a second. */
  paint(now: number): void {
    if (now - this.paintedAt < 200) return;
    this.paintedAt = now;
    const { room, game } = this;
    const stats = room.stats();
    const transport = room.transport === undefined ? 'none' : names[room.transport];
    const measured = !room.unstable && stats.rtt > 0;
    const state = room.unstable ? 'unstable' : room.state;
    this.button.className = state;
    if (room.unstable) setText(this.button, 'Connection unstable');
    else if (room.transport === undefined) setText(this.button, 'No connection');
    else setText(this.button, measured ? `${transport} · ${Math.round(stats.rtt)} ms` : transport);
    if (room.transport === 'webrtc') setText(this.why, '');
    if (this.panel.hidden) return;
    const set = (row: (typeof rows)[number], text: string): void => setText(this.cells.get(row) as HTMLElement, text);
    set('Transport', transport);
    set('State', state);
    (this.cells.get('State') as HTMLElement).className = `state ${state}`;
    set('Round trip', measured ? `${stats.rtt.toFixed(stats.rtt < 10 ? 1 : 0)} ms` : '–');
    set('Tick', String(room.world.tick));
    set('Received', perSecond(stats.bytesInPerSecond));
    set('Sent', perSecond(stats.bytesOutPerSecond));
    set('Snapshots', `${stats.snapshotsPerSecond.toFixed(0)} /s`);
    set('Shown behind', `${room.clock.behind.toFixed(1)} ticks`);
    set('Corrections', `${game.predictor.corrections} (${game.predictor.snaps} jumps)`);
    set('Entities', String(room.world.entities.size));
    set('Resumes', `${stats.resumes}, resyncs ${stats.resyncs}`);
    for (const [t, button] of this.switches) {
      button.ariaPressed = String(t === room.transport);
      button.disabled = this.switching;
    }
  }

  private async switchTo(transport: Transport): Promise<void> {
    if (this.switching || transport === this.room.transport) return;
    this.switching = true;
    this.paintedAt = 0;
    (document.activeElement as HTMLElement | null)?.blur();
    try {
      await this.room.switchTransport(transport);
      toast(`Playing over ${names[transport]}.`);
    } catch (e) {
      const reason = e instanceof Error ? ((e as { reason?: string }).reason ?? e.message) : String(e);
      if (transport === 'webrtc' && this.room.transport === 'websocket' && !this.room.unstable) this.fellBack(reason);
      else toast(`${names[transport]} can not connect: ${reason}.`, 'warn', 9000);
    } finally {
      this.switching = false;
    }
  }
}

function perSecond(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B/s` : `${(bytes / 1024).toFixed(1)} KiB/s`;
}
