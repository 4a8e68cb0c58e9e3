import { Interpolator, Pacer, Predictor, type Applied, type Entity, type Room } from '../../../sdk/src/index.js';
import { Door, Flag, Match, Player, Type, encodeIntent, type Config, type Intent } from './contract.js';
import { Grid, step, type Input, type State } from './movement.js';

/** Whom the client plays, as it shows it. Positions in tiles. */
export interface Me {
  readonly entity: Entity;
  readonly x: number;
  readonly y: number;
  readonly state: State;
}

/**
 * Game is the arena as this client sees it: the own player predicted, everything
 * else a little in the past. It draws nothing and knows no keys.
 */
export class Game {
  readonly config: Config;
  readonly grid: Grid;
  readonly interpolator = new Interpolator(
    {
      player: { x: { by: 'line' }, y: { by: 'line' }, aim: { by: 'turn', turn: 256 } },
      enemy: { x: { by: 'line' }, y: { by: 'line' }, aim: { by: 'turn', turn: 256 } },
      projectile: { x: { by: 'line' }, y: { by: 'line' } },
    },
    { jump: 600 },
  );
  readonly predictor: Predictor<State, Input>;
  private readonly pacer: Pacer;
  private mine: Entity | undefined;

  constructor(readonly room: Room) {
    this.config = room.info.config as Config;
    this.grid = new Grid(this.config.map);
    this.pacer = new Pacer(room.tickRate);
    this.predictor = new Predictor<State, Input>(
      {
        step: (state, input) => step(this.grid, this.config.movement, state, input),
        equal: (a, b) => a.x === b.x && a.y === b.y && a.vx === b.vx && a.vy === b.vy,
        position: ({ x, y }) => ({ x, y }),
      },
      { snap: 1.5 * 256 },
    );
    // What the world holds already counts as spawned.
    const { world } = room;
    this.take({ tick: world.tick, full: true, input: undefined, spawned: [...world.entities.values()], despawned: [], updated: [] });
    room.on('snapshot', (a) => this.take(a));
  }

  /** Runs the ticks that are due: asks for the player's intent, sends it, and moves ahead of the server with it. */
  advance(now: number, passedMs: number, intent: () => Intent): void {
    this.pacer.advance(now, () => {
      const i = intent();
      const seq = this.room.sendInput(encodeIntent(i));
      if (seq !== undefined) this.predictor.input(seq, i);
    });
    this.predictor.fade(passedMs);
  }

  /** The own player, undefined while it has no body here. */
  me(now: number): Me | undefined {
    const { mine } = this;
    const at = this.predictor.shown(this.pacer.fraction(now));
    const { state } = this.predictor;
    if (mine === undefined || at === undefined || state === undefined) return undefined;
    return { entity: mine, x: at.x / 256, y: at.y / 256, state };
  }

  /** The state of the round, undefined until its entity is here. */
  get match(): Entity | undefined {
    return this.find((e) => e.type.index === Type.match);
  }

  /** The first entity that fits. */
  find(fits: (e: Entity) => boolean): Entity | undefined {
    for (const e of this.room.world.entities.values()) if (fits(e)) return e;
    return undefined;
  }

  /** The body of a member. */
  playerOf(peer: number): Entity | undefined {
    return this.find((e) => e.type.index === Type.player && e.int(Player.owner) === peer);
  }

  /** Whether a round is being played. */
  get playing(): boolean {
    return this.match?.int(Match.phase) === 0;
  }

  private take(a: Applied): void {
    this.interpolator.record(a);
    for (const e of a.spawned) this.changed(e);
    for (const e of a.updated) this.changed(e);
    for (const { entity } of a.despawned) {
      if (entity !== this.mine) continue;
      this.mine = undefined;
      this.predictor.reset();
    }
    if (this.mine !== undefined) this.predictor.reconcile(stateOf(this.mine), a.input);
  }

  private changed(e: Entity): void {
    if (e.type.index === Type.door) this.grid.setDoor(e.int(Door.x), e.int(Door.y), e.int(Door.open) === 1);
    if (e.type.index !== Type.player || e.int(Player.owner) !== this.room.you) return;
    if (this.mine !== e) this.predictor.reset();
    this.mine = e;
  }
}

/** What the rule of movement knows of a player. */
function stateOf(e: Entity): State {
  return {
    x: e.int(Player.x),
    y: e.int(Player.y),
    vx: e.int(Player.vx),
    vy: e.int(Player.vy),
    dash: e.int(Player.dash),
    power: e.int(Player.power),
    flags: e.int(Player.flags),
  };
}

/** Whether a player's flags say that it lives. */
export function isAlive(flags: number): boolean {
  return (flags & Flag.alive) !== 0;
}
