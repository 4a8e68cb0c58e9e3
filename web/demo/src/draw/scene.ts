import type { Entity, Shown } from '../../../sdk/src/index.js';
import { Door, Enemy, Flag, Item, Player, Projectile, Type, breeds, fromAim, fullHealth } from '../arena/contract.js';
import type { Controls } from '../arena/controls.js';
import { stickReach } from '../arena/controls.js';
import { isAlive, type Game, type Me } from '../arena/game.js';
import { drawTag, type Spot } from './brush.js';
import { Camera } from './camera.js';
import type { Effects } from './effects.js';
import { drawEnemy } from './enemies.js';
import { Ground, solidColor } from './ground.js';
import { Light, type Lamp } from './light.js';
import { colorOf, itemColors, paintGlow, playerColors, projectileColors } from './palette.js';
import { drawPlayer } from './players.js';
import { drawDoor, drawItem, drawItemGlow, drawProjectile } from './things.js';

/** Scene paints the arena: ground, bodies, light, glow, names; in that order. */
export class Scene {
  readonly camera: Camera;
  private readonly g: CanvasRenderingContext2D;
  private readonly ground: Ground;
  private readonly light: Light;
  private readonly doors = new Map<Entity, number>(); // how far open they are shown
  private readonly births = new WeakMap<Entity, number>(); // seconds
  private time = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly game: Game,
    private readonly effects: Effects,
    private readonly onGone: (entity: Entity, reason: number) => void,
  ) {
    this.g = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
    this.camera = new Camera(game.grid.width, game.grid.height);
    this.ground = new Ground(game.grid);
    this.light = new Light(game.grid);
    this.resize();
  }

  resize(): void {
    const ratio = Math.min(2, devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.canvas;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.camera.resize(clientWidth, clientHeight);
  }

  /** Paints the picture of a moment. */
  draw(now: number, passedMs: number, me: Me | undefined, aim: number, controls: Controls): void {
    this.time = now / 1000;
    const seen = this.collect(now);
    this.follow(me, aim, passedMs);
    const { g, camera } = this;
    const ratio = this.canvas.width / Math.max(1, camera.width);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.fillStyle = solidColor;
    g.fillRect(0, 0, camera.width, camera.height);
    this.ground.draw(g, camera);
    for (const s of seen) if (s.entity.type.index === Type.door) this.door(s, passedMs);
    for (const s of seen) if (s.entity.type.index === Type.item) this.item(s);
    for (const s of seen) if (s.entity.type.index === Type.enemy) this.enemy(s);
    for (const s of seen) if (s.entity.type.index === Type.player && s.entity !== me?.entity) this.player(s, me);
    if (me !== undefined) this.ownPlayer(me, aim);
    this.light.draw(g, camera, me, this.lamps(seen));
    for (const s of seen) if (s.entity.type.index === Type.item) this.shine(s);
    for (const s of seen) if (s.entity.type.index === Type.projectile) this.projectile(s);
    this.effects.drawGlowing(g, camera);
    for (const s of seen) this.tag(s, me);
    this.effects.drawLabels(g, camera);
    this.hurt(me);
    this.pointer(controls, me);
  }

  private collect(now: number): Shown[] {
    const seen: Shown[] = [];
    const { interpolator, room } = this.game;
    const past = room.clock.playTick(now);
    const newest = room.clock.serverTick(now);
    // One's own bolts are shown where they are by now: what one does should be seen at once.
    const own = (e: Entity): boolean => e.type.index === Type.projectile && e.int(Projectile.owner) === room.you;
    interpolator.each(
      (e) => (own(e) ? newest : past),
      (s) => {
        seen.push(s);
        if (!this.births.has(s.entity)) this.births.set(s.entity, this.time);
      },
      (entity, reason) => {
        this.doors.delete(entity);
        this.onGone(entity, reason);
      },
    );
    return seen;
  }

  private follow(me: Me | undefined, aim: number, passedMs: number): void {
    const { camera, game } = this;
    if (me === undefined) {
      camera.follow(game.grid.width / 2, game.grid.height / 2, 0, 0, passedMs);
      return;
    }
    camera.follow(me.x, me.y, Math.cos(aim) * 1.1, Math.sin(aim) * 0.8, passedMs);
  }

  private spot(x: number, y: number): Spot {
    return { x: this.camera.screenX(x), y: this.camera.screenY(y), unit: this.camera.scale };
  }

  private door({ entity, values }: Shown, passedMs: number): void {
    const x = values[Door.x] as number;
    const y = values[Door.y] as number;
    const target = values[Door.open] as number;
    const before = this.doors.get(entity) ?? target;
    const open = before + Math.sign(target - before) * Math.min(Math.abs(target - before), passedMs / 180);
    this.doors.set(entity, open);
    if (!this.camera.sees(x + 0.5, y + 0.5, 1)) return;
    const wall = (tx: number): boolean => this.game.grid.solid(tx, y) || this.game.grid.door(tx, y);
    drawDoor(this.g, this.camera.screenX(x), this.camera.screenY(y), this.camera.scale, open, wall(x - 1) && wall(x + 1));
  }

  private enemy({ entity, values }: Shown): void {
    const { x, y } = placeOf(entity, values);
    if (!this.camera.sees(x, y, 1)) return;
    drawEnemy(this.g, this.spot(x, y), {
      kind: values[Enemy.kind] as number,
      state: values[Enemy.state] as number,
      aim: fromAim(values[Enemy.aim] as number),
      white: this.effects.whiteness(entity.id),
      time: this.time + entity.id,
    });
  }

  private player({ entity, values }: Shown, me: Me | undefined): void {
    const flags = values[Player.flags] as number;
    const { x, y } = placeOf(entity, values);
    if (!isAlive(flags) || entity === me?.entity || !this.camera.sees(x, y, 1)) return;
    if (flags & Flag.dashing) this.ghost(x, y, values[Player.color] as number);
    drawPlayer(this.g, this.spot(x, y), {
      color: values[Player.color] as number,
      skin: values[Player.skin] as number,
      flags,
      power: values[Player.power] as number,
      aim: fromAim(values[Player.aim] as number),
      white: this.effects.whiteness(entity.id),
      own: false,
      time: this.time,
    });
  }

  private ownPlayer(me: Me, aim: number): void {
    const e = me.entity;
    if (!isAlive(e.int(Player.flags))) return;
    const moving = me.state.vx !== 0 || me.state.vy !== 0 ? Flag.moving : 0;
    const { dash_every, dash_ticks } = this.game.config.movement;
    if (me.state.dash > dash_every - dash_ticks) this.ghost(me.x, me.y, e.int(Player.color));
    drawPlayer(this.g, this.spot(me.x, me.y), {
      color: e.int(Player.color),
      skin: e.int(Player.skin),
      flags: (e.int(Player.flags) & ~Flag.moving) | moving,
      power: e.int(Player.power),
      aim,
      white: this.effects.whiteness(e.id),
      own: true,
      time: this.time,
    });
  }

  /** The streak that a dash leaves behind. */
  private ghost(x: number, y: number, color: number): void {
    this.effects.burst(x, y, colorOf(playerColors, color), 2, 0.4, { size: 0.3, life: 0.22 });
  }

  private item({ entity, values }: Shown): void {
    const { x, y } = placeOf(entity, values);
    if (!this.camera.sees(x, y, 1)) return;
    const kind = values[Item.kind] as number;
    drawItem(this.g, this.spot(x, y), kind, this.time + entity.id * 1.7);
  }

  private shine({ entity, values }: Shown): void {
    const { x, y } = placeOf(entity, values);
    if (!this.camera.sees(x, y, 1)) return;
    const kind = values[Item.kind] as number;
    drawItemGlow(this.g, this.spot(x, y), kind, this.time + entity.id * 1.7);
    if (Math.random() < 0.02) this.effects.burst(x, y, colorOf(itemColors, kind), 1, 0.5, { size: 0.05, life: 0.7 });
  }

  private projectile({ entity, values }: Shown): void {
    const { x, y } = placeOf(entity, values);
    if (!this.camera.sees(x, y, 1)) return;
    const age = this.time - (this.births.get(entity) ?? this.time);
    drawProjectile(this.g, this.spot(x, y), values[Projectile.kind] as number, fromAim(values[Projectile.aim] as number), age);
  }

  private tag({ entity, values }: Shown, me: Me | undefined): void {
    const kind = entity.type.index;
    if (entity === me?.entity || (kind !== Type.player && kind !== Type.enemy)) return;
    const { x, y } = placeOf(entity, values);
    if (!this.camera.sees(x, y, 1)) return;
    if (kind === Type.enemy) {
      const breed = breeds[values[Enemy.kind] as number];
      const part = (values[Enemy.health] as number) / (breed?.health ?? 100);
      if (part < 1) drawTag(this.g, this.spot(x, y), (breed?.radius ?? 0.3) + 0.4, part, '#ff6b5a');
      return;
    }
    if (!isAlive(values[Player.flags] as number)) return;
    const peer = this.game.room.peers.get(values[Player.owner] as number);
    const name = (peer?.name ?? '') + (values[Player.flags]! & Flag.away ? ' (away)' : '');
    const part = (values[Player.health] as number) / fullHealth;
    drawTag(this.g, this.spot(x, y), 0.74, part, part > 0.35 ? '#5dfc9a' : '#ffb347', name);
  }

  private lamps(seen: readonly Shown[]): Lamp[] {
    const lamps: Lamp[] = [];
    for (const { entity, values } of seen) {
      const kind = entity.type.index;
      const { x, y } = placeOf(entity, values);
      if (!this.camera.sees(x, y, 3)) continue;
      if (kind === Type.projectile) {
        lamps.push({ x, y, radius: 1.9, color: colorOf(projectileColors, values[Projectile.kind] as number), alpha: 0.55 });
      } else if (kind === Type.item) {
        lamps.push({ x, y, radius: 1.6, color: '#ffffff', alpha: 0.5 });
      } else if (kind === Type.player && isAlive(values[Player.flags] as number)) {
        lamps.push({ x, y, radius: 2.6, color: colorOf(playerColors, values[Player.color] as number), alpha: 0.42 });
      } else if (kind === Type.door) {
        lamps.push({ x: x + 0.5, y: y + 0.5, radius: 1.2, color: values[Door.open] ? '#5dfc9a' : '#ffb347', alpha: 0.28 });
      }
    }
    return lamps;
  }

  /** Red corners when the player is badly hurt. */
  private hurt(me: Me | undefined): void {
    if (me === undefined || !isAlive(me.entity.int(Player.flags))) return;
    const badly = Math.max(0, 0.45 - me.entity.int(Player.health) / fullHealth) / 0.45;
    if (badly === 0) return;
    const { g } = this;
    const { width, height } = this.camera;
    const fade = g.createRadialGradient(width / 2, height / 2, height * 0.42, width / 2, height / 2, Math.hypot(width, height) * 0.56);
    fade.addColorStop(0, 'rgba(150,6,14,0)');
    fade.addColorStop(1, `rgba(150,6,14,${badly * (0.65 + 0.25 * Math.sin(this.time * 6))})`);
    g.fillStyle = fade;
    g.fillRect(0, 0, width, height);
  }

  private pointer(controls: Controls, me: Me | undefined): void {
    const { g } = this;
    if (me !== undefined) controls.standAt(this.camera.screenX(me.x), this.camera.screenY(me.y));
    for (const stick of [controls.sticks.left, controls.sticks.right]) {
      if (stick === undefined) continue;
      g.strokeStyle = 'rgba(220,232,255,0.35)';
      g.lineWidth = 2;
      g.beginPath();
      g.arc(stick.baseX, stick.baseY, stickReach, 0, 2 * Math.PI);
      g.stroke();
      g.fillStyle = 'rgba(220,232,255,0.4)';
      g.beginPath();
      g.arc(stick.baseX + stick.x * stickReach, stick.baseY + stick.y * stickReach, 24, 0, 2 * Math.PI);
      g.fill();
    }
    if (controls.pointer === undefined || me === undefined) return;
    const { x, y } = controls.pointer;
    g.globalCompositeOperation = 'lighter';
    paintGlow(g, '#7df9ff', x, y, 22, 0.3);
    g.globalCompositeOperation = 'source-over';
    g.strokeStyle = '#d9f7ff';
    g.lineWidth = 2;
    g.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]] as const) {
      g.moveTo(x + dx * 5, y + dy * 5);
      g.lineTo(x + dx * 11, y + dy * 11);
    }
    g.stroke();
    g.fillStyle = '#d9f7ff';
    g.fillRect(x - 1, y - 1, 2, 2);
  }
}

const places: Readonly<Record<number, readonly [x: number, y: number]>> = {
  [Type.player]: [Player.x, Player.y],
  [Type.enemy]: [Enemy.x, Enemy.y],
  [Type.projectile]: [Projectile.x, Projectile.y],
  [Type.item]: [Item.x, Item.y],
};

/** Where an entity is, in tiles; at the values that are shown, or at its newest. */
export function placeOf(entity: Entity, values?: readonly number[]): { x: number; y: number } {
  const kind = entity.type.index;
  const at = (i: number): number => values?.[i] ?? entity.int(i);
  if (kind === Type.door) return { x: at(Door.x), y: at(Door.y) };
  const place = places[kind];
  return place === undefined ? { x: 0, y: 0 } : { x: at(place[0]) / 256, y: at(place[1]) / 256 };
}
