import { Code, GatehouseError, type TransportChoice } from '../../../sdk/src/index.js';
import { playerColors } from '../draw/palette.js';
import { byId } from './dom.js';
import { endText, squeeze } from './words.js';

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
const once = 'gatehouse.again';
const tokenCodes: readonly number[] = [Code.unauthorized, Code.token_expired];
const transports: readonly string[] = ['auto', 'webrtc', 'websocket'];

/**
 * The start screen. The address may choose beforehand (`?room=&name=&transport=&token=`),
 * and with `auto=1` play at once. The token's field is there once the server asks
 * for one.
 */
export class Start {
  private readonly form = byId('start').querySelector('form') as HTMLFormElement;
  private color = Math.floor(Math.random() * playerColors.length);
  private skin = Math.floor(Math.random() * 4);
  private readonly query = new URLSearchParams(location.search);
  private readonly atOnce: boolean;

  constructor(private readonly play: (c: Choice) => Promise<void>) {
    const again = takeAgain();
    this.atOnce = again !== undefined || this.query.get('auto') === '1';
    this.recall(again);
    this.paintColors();
    this.form.addEventListener('submit', (e) => {
      e.preventDefault();
      void this.submit();
    });
  }

  /** Shows the screen, or skips it if the address says so. */
  open(): void {
    if (this.atOnce) void this.submit();
    else this.show();
  }

  /** Joins afresh, on a page without a past. */
  again(choice: Choice): void {
    try {
      sessionStorage.setItem(once, JSON.stringify(choice));
    } catch {
      // Then the screen asks.
    }
    location.reload();
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
      this.show(e instanceof GatehouseError ? endText(e) : String((e as Error).message));
      if (e instanceof GatehouseError && tokenCodes.includes(e.code)) this.askToken();
    } finally {
      button.disabled = false;
      button.textContent = 'Play';
    }
  }

  private askToken(): void {
    byId('tokenLabel').hidden = false;
    byId<HTMLInputElement>('token').select();
  }

  private choice(): Choice {
    const transport = this.form.querySelector<HTMLInputElement>('input[name=transport]:checked')?.value ?? 'auto';
    return {
      name: squeeze(byId<HTMLInputElement>('name').value) || 'Player',
      room: squeeze(byId<HTMLInputElement>('room').value) || 'arena',
      transport: transport as TransportChoice,
      color: this.color,
      skin: this.skin,
      token: byId<HTMLInputElement>('token').value.trim() || undefined,
    };
  }

  /** Fills the form: as the game that is joined again, else as the address says, else as last time. */
  private recall(again: Partial<Choice> | undefined): void {
    let last: Partial<Choice> = {};
    try {
      last = JSON.parse(localStorage.getItem(kept) ?? '{}') as Partial<Choice>;
    } catch {
      // Storage may be forbidden, or hold what another version wrote.
    }
    const said = (key: 'name' | 'room' | 'transport' | 'token'): string | undefined => again?.[key] ?? this.query.get(key) ?? last[key];
    byId<HTMLInputElement>('name').value = said('name') ?? '';
    byId<HTMLInputElement>('room').value = said('room') ?? 'arena';
    byId<HTMLInputElement>('token').value = said('token') ?? '';
    const transport = said('transport') ?? 'auto';
    const radio = transports.includes(transport) ? `input[name=transport][value=${transport}]` : '';
    if (radio !== '') (this.form.querySelector(radio) as HTMLInputElement).checked = true;
    if (typeof again?.skin === 'number') this.skin = again.skin;
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

/** The game to join again, if this page was loaded for that. It is so once only. */
function takeAgain(): Partial<Choice> | undefined {
  try {
    const choice = JSON.parse(sessionStorage.getItem(once) ?? 'null') as Partial<Choice> | null;
    sessionStorage.removeItem(once);
    return choice ?? undefined;
  } catch {
    return undefined; // Storage is forbidden.
  }
}
