import { GatehouseError, type TransportChoice } from '../../../sdk/src/index.js';
import { playerColors } from '../draw/palette.js';
import { byId } from './dom.js';

/** What a player chose before joining. */
export interface Choice {
  name: string;
  room: string;
  transport: TransportChoice;
  color: number;
  skin: number;
  token: string | undefined;
}

const kept = 'gatehouse.choice';
const transports: readonly string[] = ['auto', 'webrtc', 'websocket'];

/**
 * The start screen. The address may choose beforehand (`?room=&name=&transport=&token=`),
 * and with `auto=1` play at once.
 */
export class Start {
  private readonly form = byId('start').querySelector('form') as HTMLFormElement;
  private color = Math.floor(Math.random() * playerColors.length);
  private readonly skin = Math.floor(Math.random() * 4);
  private readonly query = new URLSearchParams(location.search);

  constructor(private readonly play: (c: Choice) => Promise<void>) {
    this.recall();
    this.paintColors();
    this.form.addEventListener('submit', (e) => {
      e.preventDefault();
      void this.submit();
    });
  }

  /** Shows the screen, or skips it if the address says so. */
  open(): void {
    if (this.query.get('auto') === '1') void this.submit();
    else this.show();
  }

  /** Shows the screen, with why the last attempt ended. */
  show(error = ''): void {
    byId('start').hidden = false;
    byId('startError').textContent = error;
    byId<HTMLInputElement>('name').focus();
  }

  private async submit(): Promise<void> {
    const button = byId<HTMLButtonElement>('play');
    button.disabled = true;
    button.textContent = 'Joining…';
    byId('startError').textContent = '';
    const choice = this.choice();
    this.remember(choice);
    try {
      await this.play(choice);
      byId('start').hidden = true;
    } catch (e) {
      this.show(e instanceof GatehouseError ? `Could not join: ${e.reason}.` : String((e as Error).message));
    } finally {
      button.disabled = false;
      button.textContent = 'Play';
    }
  }

  private choice(): Choice {
    const transport = this.form.querySelector<HTMLInputElement>('input[name=transport]:checked')?.value ?? 'auto';
    return {
      name: byId<HTMLInputElement>('name').value.trim() || 'Player',
      room: byId<HTMLInputElement>('room').value.trim() || 'arena',
      transport: transport as TransportChoice,
      color: this.color,
      skin: this.skin,
      token: this.query.get('token') ?? undefined,
    };
  }

  private recall(): void {
    let last: Partial<Choice> = {};
    try {
      last = JSON.parse(localStorage.getItem(kept) ?? '{}') as Partial<Choice>;
    } catch {
      // Storage may be forbidden, or hold what another version wrote.
    }
    byId<HTMLInputElement>('name').value = this.query.get('name') ?? last.name ?? '';
    byId<HTMLInputElement>('room').value = this.query.get('room') ?? last.room ?? 'arena';
    const transport = this.query.get('transport') ?? last.transport ?? 'auto';
    const radio = transports.includes(transport) ? `input[name=transport][value=${transport}]` : '';
    if (radio !== '') (this.form.querySelector(radio) as HTMLInputElement).checked = true;
    if (typeof last.color === 'number' && last.color in playerColors) this.color = last.color;
  }

  private remember({ name, room, transport, color }: Choice): void {
    try {
      localStorage.setItem(kept, JSON.stringify({ name, room, transport, color }));
    } catch {
      // Then it is not remembered.
    }
  }

  private paintColors(): void {
    const list = byId('colors');
    list.replaceChildren(
      ...playerColors.map((color, i) => {
        const button = document.createElement('button');
        button.type = 'button';
        button.style.background = button.style.color = color;
        button.ariaLabel = `Colour ${i + 1}`;
        button.ariaPressed = String(i === this.color);
        button.addEventListener('click', () => {
          this.color = i;
          this.paintColors();
        });
        return button;
      }),
    );
  }
}
