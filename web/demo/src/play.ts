import { GatehouseError, type Entity, type Room } from '../../sdk/src/index.js';
import {
  Door, Enemy, Gone, Player, Projectile, Type, breeds, fromAim, itemNames,
  type ArenaEvent, type Damage, type Intent,
} from './arena/contract.js';
import { Controls, type Action } from './arena/controls.js';
import { Game, isAlive, type Me } from './arena/game.js';
import { Effects } from './draw/effects.js';
import { Minimap } from './draw/minimap.js';
import { colorOf, enemyColors, itemColors, playerColors, projectileColors } from './draw/palette.js';
import { Scene, placeOf } from './draw/scene.js';
import { byId, toast } from './ui/dom.js';
import { Hud } from './ui/hud.js';
import { Overlay } from './ui/overlay.js';

/** Play runs the arena on the page: every frame, and whatever the room tells in between. */
export class Play {
  readonly game: Game;
  readonly overlay: Overlay;
  private readonly canvas = byId<HTMLCanvasElement>('scene');
  private readonly controls: Controls;
  private readonly effects = new Effects();
  private readonly scene: Scene;
  private readonly minimap: Minimap;
  private readonly hud: Hud;
  private lastFrame = performance.now();
  private aim = 0; // radians, as last sent
  private lastShot = 0;
  private over = false;

  constructor(private readonly room: Room) {
    document.body.classList.add('playing');
    this.game = new Game(room);
    this.controls = new Controls(this.canvas, (a) => this.act(a));
    this.scene = new Scene(this.canvas, this.game, this.effects, (e, reason) => this.gone(e, reason));
    this.minimap = new Minimap(byId<HTMLCanvasElement>('minimap'), this.game);
    this.hud = new Hud(this.game);
    this.overlay = new Overlay(room, this.game);
    addEventListener('resize', () => this.scene.resize());
    byId('respawn').onclick = () => this.act('respawn');
    // Not clicks: those come of the first finger only, and that is on a stick.
    byId('touchDash').onpointerdown = () => this.controls.dash();
    byId('touchStrike').onpointerdown = () => this.act('strike');
    byId('touchUse').onpointerdown = () => this.act('interact');
    for (const id of ['timer', 'scoreBox']) byId(id).onpointerdown = () => this.hud.toggleScores();
    room.onEvent('damage', (e) => this.damage(e.data as Damage));
    room.onEvent('game_event', (e) => this.happened(e.data as ArenaEvent));
    room.on('closed', () => (this.over = true));
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    if (this.over) return;
    const passed = Math.min(100, Math.max(0, now - this.lastFrame));
    this.lastFrame = now;
    this.game.advance(now, passed, () => this.intent());
    const me = this.game.me(now);
    this.effects.advance(passed / 1000);
    this.scene.draw(now, passed, me, this.aim, this.controls);
    this.minimap.draw(this.scene.camera, me);
    this.hud.paint(now, me, this.controls.touch);
    this.hud.hint(this.hintFor(me));
    this.overlay.paint(now);
    document.body.classList.toggle('touching', this.controls.touch);
    requestAnimationFrame((next) => this.frame(next));
  }

  private intent(): Intent {
    const intent = this.controls.intent();
    this.aim = fromAim(intent.aim);
    if (intent.attack) this.muzzle();
    return intent;
  }

  /** Shows a shot at once; the bolt itself comes with a snapshot. */
  private muzzle(): void {
    const now = performance.now();
    const me = this.game.me(now);
    if (now - this.lastShot < 260 || me === undefined || !isAlive(me.entity.int(Player.flags)) || !this.game.playing) return;
    this.lastShot = now;
    const x = me.x + Math.cos(this.aim) * 0.6;
    const y = me.y + Math.sin(this.aim) * 0.6;
    this.effects.burst(x, y, projectileColors[0], 5, 4, { toward: this.aim, spread: 0.9, size: 0.14, life: 0.12 });
  }

  private act(a: Action): void {
    const me = this.game.me(performance.now());
    if (a === 'overlay') this.overlay.toggle();
    else if (a === 'scores' || a === 'scoresEnd') this.hud.scores(a === 'scores');
    else if (me === undefined) return;
    else if (a === 'respawn') {
      if (!isAlive(me.entity.int(Player.flags)) && me.entity.int(Player.wait) === 0) void this.ask('respawn');
    } else if (a === 'interact') {
      const door = this.nearest(me, Type.door, this.game.config.interact_reach);
      if (door !== undefined) void this.ask('interact', { target: door.id });
    } else {
      const target = this.nearest(me, Type.enemy, this.game.config.strike_reach) ?? this.nearest(me, Type.player, this.game.config.strike_reach);
      this.effects.wave(me.x + Math.cos(this.aim) * 0.5, me.y + Math.sin(this.aim) * 0.5, '#ffffff', 0.55, 0.18);
      if (target !== undefined) void this.ask('attack', { target: target.id, aim: (this.aim * 180) / Math.PI });
    }
  }

  /** Sends a request; a refusal is the game's business and nothing to shout about. */
  private async ask(name: string, data: object = {}): Promise<void> {
    try {
      await this.room.request(name, data);
    } catch (e) {
      const result = e instanceof GatehouseError ? (e.payload as { result?: string } | undefined)?.result : undefined;
      const words: Record<string, string> = { blocked: 'Something stands in the door', out_of_reach: 'Too far away', no_sight: 'A wall is in the way' };
      if (result !== undefined && result in words) toast(words[result] as string, 'info', 1600);
    }
  }

  private nearest(me: Me, type: number, reach: number): Entity | undefined {
    let best: Entity | undefined;
    let bestFar = reach / 256;
    for (const e of this.room.world.entities.values()) {
      if (e.type.index !== type || e === me.entity) continue;
      if (type === Type.player && !isAlive(e.int(Player.flags))) continue;
      const { x, y } = centreOf(e);
      const far = Math.hypot(x - me.x, y - me.y);
      if (far > bestFar) continue;
      best = e;
      bestFar = far;
    }
    return best;
  }

  private hintFor(me: Me | undefined): string {
    if (me === undefined || !isAlive(me.entity.int(Player.flags))) return '';
    const door = this.nearest(me, Type.door, this.game.config.interact_reach);
    if (door === undefined) return this.sticksHint();
    return `${this.controls.touch ? 'Use' : 'E'}: ${door.int(Door.open) === 1 ? 'close' : 'open'} the door`;
  }

  /** How to play by touch, until both sticks were found. */
  private sticksHint(): string {
    const { touch, used } = this.controls;
    if (!touch) return '';
    return [used.left ? '' : 'Left thumb: move', used.right ? '' : 'Right thumb: aim and shoot'].filter(Boolean).join(' · ');
  }

  // What happens in the arena --------------------------------------------------

  private damage({ target, amount, source }: Damage): void {
    const e = this.room.world.entities.get(target);
    if (e === undefined || document.hidden) return;
    const me = this.game.me(performance.now());
    const own = e === me?.entity;
    const { x, y } = own && me !== undefined ? me : placeOf(e);
    this.effects.flash(target);
    this.effects.label(x, y - 0.45, String(amount), own ? '#ff7b7b' : '#ffe9a8', amount >= 20 ? 1.25 : 1);
    const from = this.room.world.entities.get(source);
    const toward = from === undefined ? 0 : Math.atan2(y - placeOf(from).y, x - placeOf(from).x);
    this.effects.burst(x, y, this.bloodOf(e), 9, 4.5, { toward, spread: 1.6, size: 0.09 });
    if (own) this.scene.camera.shake(Math.min(1, 0.35 + amount / 40));
  }

  private bloodOf(e: Entity): string {
    if (e.type.index === Type.enemy) return colorOf(enemyColors, e.int(Enemy.kind));
    return colorOf(playerColors, e.type.index === Type.player ? e.int(Player.color) : 0);
  }

  private happened(e: ArenaEvent): void {
    this.hud.tell(e);
    if (document.hidden) return; // nothing is painted: effects would pile up
    if (e.type === 'kill') {
      const { x, y, kind, victim_peer } = e.payload;
      const player = this.game.playerOf(victim_peer);
      const color = kind >= 0 ? colorOf(enemyColors, kind) : player === undefined ? '#ffffff' : this.bloodOf(player);
      const big = kind < 0 || breeds[kind]?.name === 'Brute';
      this.effects.burst(x / 256, y / 256, color, big ? 46 : 26, big ? 7 : 5, { size: 0.13, life: 0.7 });
      this.effects.wave(x / 256, y / 256, color, big ? 1.7 : 1);
      if (victim_peer === this.room.you) this.scene.camera.shake(1);
    } else if (e.type === 'pickup') {
      const player = this.game.playerOf(e.payload.peer);
      if (player === undefined) return;
      const at = e.payload.peer === this.room.you ? (this.game.me(performance.now()) ?? placeOf(player)) : placeOf(player);
      const color = colorOf(itemColors, e.payload.kind);
      this.effects.burst(at.x, at.y, color, 16, 3, { size: 0.08, life: 0.6 });
      this.effects.wave(at.x, at.y, color, 0.8);
      if (e.payload.peer === this.room.you) {
        this.effects.label(at.x, at.y - 0.6, itemNames[e.payload.kind] ?? '', color, 0.85);
      }
    } else if (e.type === 'respawn') {
      const player = this.game.playerOf(e.payload.peer);
      if (player !== undefined) this.effects.wave(placeOf(player).x, placeOf(player).y, this.bloodOf(player), 1.4, 0.5);
    }
  }

  /** An entity has gone from the picture. */
  private gone(e: Entity, reason: number): void {
    if (e.type.index !== Type.projectile || (reason !== Gone.hit && reason !== Gone.wall)) return;
    const { x, y } = placeOf(e);
    const back = fromAim(e.int(Projectile.aim)) + Math.PI;
    this.effects.burst(x, y, colorOf(projectileColors, e.int(Projectile.kind)), 8, 4, { toward: back, spread: 1.8, size: 0.07, life: 0.3 });
  }
}

function centreOf(e: Entity): { x: number; y: number } {
  const { x, y } = placeOf(e);
  return e.type.index === Type.door ? { x: x + 0.5, y: y + 0.5 } : { x, y };
}
