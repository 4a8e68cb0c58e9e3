import { ItemKind, Match, Phase, Player, Type, fullHealth, itemNames, breeds, type ArenaEvent } from '../arena/contract.js';
import { isAlive, type Game, type Me } from '../arena/game.js';
import { colorOf, playerColors } from '../draw/palette.js';
import { byId, make, setText } from './dom.js';

const powerNames = ['', 'Haste', 'Spread', 'Shield'] as const;

/** Everything on the screen that is text or bars: clock, health, feed, scores, death. */
export class Hud {
  private showScores = false;
  private scoresAt = 0;
  private bannerUntil = 0;
  private killer = '';

  constructor(private readonly game: Game) {
    byId('hud').hidden = false;
  }

  scores(shown: boolean): void {
    this.showScores = shown;
    this.scoresAt = 0;
  }

  toggleScores(): void {
    this.scores(!this.showScores);
  }

  paint(now: number, me: Me | undefined, touch: boolean): void {
    this.paintMatch();
    this.paintVitals(me);
    this.paintDeath(me, touch);
    byId('banner').hidden = now > this.bannerUntil;
    const between = this.game.match?.int(Match.phase) === Phase.intermission;
    byId('scores').hidden = !(this.showScores || between);
    if (!byId('scores').hidden && now - this.scoresAt > 500) {
      this.scoresAt = now;
      this.paintScores();
    }
  }

  /** What to press, when something is in reach. */
  hint(text: string): void {
    setText(byId('hint'), text);
  }

  /** Tells what happened. */
  tell(e: ArenaEvent): void {
    switch (e.type) {
      case 'kill': {
        const { victim_peer, killer_peer, kind } = e.payload;
        const victim = victim_peer > 0 ? this.name(victim_peer) : (breeds[kind]?.name ?? 'Enemy');
        const killer = killer_peer > 0 ? this.name(killer_peer) : this.enemyName(e.payload.killer);
        if (victim_peer === this.game.room.you) this.killer = killer;
        if (victim_peer > 0 || killer_peer === this.game.room.you) {
          this.feed([killer, ' destroyed ', victim], [victim_peer, killer_peer].includes(this.game.room.you));
        }
        return;
      }
      case 'pickup':
        if (e.payload.peer === this.game.room.you && e.payload.kind !== ItemKind.gem) this.feed(['You', ' took ', itemNames[e.payload.kind] ?? 'something'], true);
        return;
      case 'wave':
        return this.banner(`Wave ${e.payload.wave}`, 'They come in greater numbers');
      case 'round_start':
        return this.banner(`Round ${e.payload.round}`, 'The best score wins');
      case 'round_end':
        return this.banner(e.payload.winner > 0 ? `${this.name(e.payload.winner)} wins` : 'Nobody scored', `Round ${e.payload.round} is over`);
    }
  }

  banner(title: string, under = ''): void {
    const box = byId('banner');
    box.replaceChildren(title, make('small', under));
    box.hidden = true;
    void box.offsetWidth; // so that its entrance plays again
    box.hidden = false;
    this.bannerUntil = performance.now() + 2600;
  }

  feed([who, did, whom]: readonly [string, string, string], own: boolean): void {
    const item = make('li', '', own ? 'own' : '');
    item.append(who, make('em', did), whom);
    const list = byId('feed');
    list.append(item);
    while (list.childElementCount > 6) list.firstElementChild?.remove();
    setTimeout(() => item.remove(), 7000);
  }

  private name(peer: number): string {
    return this.game.room.peers.get(peer)?.name ?? `Player ${peer}`;
  }

  private enemyName(id: number): string {
    const e = this.game.room.world.entities.get(id);
    return e?.type.index === Type.enemy ? `A ${breeds[e.int(0)]?.name ?? 'creature'}` : 'The arena';
  }

  private paintMatch(): void {
    const { match } = this.game;
    if (match === undefined) return;
    const seconds = match.int(Match.seconds);
    const between = match.int(Match.phase) === Phase.intermission;
    setText(byId('clock'), `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`);
    setText(byId('round'), between ? 'next round' : `round ${match.int(Match.round)} · wave ${match.int(Match.wave)}`);
    (byId('clock').parentElement as HTMLElement).classList.toggle('late', !between && seconds <= 15);
  }

  private paintVitals(me: Me | undefined): void {
    const health = me?.entity.int(Player.health) ?? 0;
    const bar = byId('health');
    bar.style.width = `${(100 * health) / fullHealth}%`;
    (bar.parentElement as HTMLElement).classList.toggle('low', health <= 35);
    setText(byId('healthText'), String(health));
    setText(byId('score'), String(me?.entity.int(Player.score) ?? 0));
    const dash = byId('dash');
    const part = me === undefined ? 0 : 1 - me.state.dash / this.game.config.movement.dash_every;
    (dash.firstElementChild as HTMLElement).style.width = `${100 * part}%`;
    byId('touchDash').style.setProperty('--loaded', `${100 * part}%`);
    for (const element of [dash, byId('touchDash')]) element.classList.toggle('ready', part >= 1);
    const power = me?.entity.int(Player.power) ?? 0;
    byId('power').hidden = power === 0;
    if (me !== undefined && power > 0) {
      setText(byId('power').firstElementChild as HTMLElement, `${powerNames[power] ?? ''} ${me.entity.int(Player.powerLeft)} s`);
    }
  }

  private paintDeath(me: Me | undefined, touch: boolean): void {
    const dead = me !== undefined && !isAlive(me.entity.int(Player.flags));
    byId('death').hidden = !dead;
    if (me === undefined || !dead) {
      this.killer = '';
      return;
    }
    setText(byId('deathBy'), this.killer === '' ? '' : `by ${this.killer.replace(/^(A|The) /, (word) => word.toLowerCase())}`);
    const wait = me.entity.int(Player.wait);
    const button = byId<HTMLButtonElement>('respawn');
    button.disabled = wait > 0;
    setText(button, wait > 0 ? `Respawn in ${wait}` : touch ? 'Respawn' : 'Respawn (click or Space)');
  }

  private paintScores(): void {
    const table = make('table');
    const head = make('tr');
    for (const title of ['Player', 'Score', 'Kills', 'Deaths']) head.append(make('th', title));
    table.append(head);
    const players = [...this.game.room.world.entities.values()].filter((e) => e.type.index === Type.player);
    players.sort((a, b) => b.int(Player.score) - a.int(Player.score) || b.int(Player.kills) - a.int(Player.kills));
    for (const e of players.slice(0, 14)) {
      const owner = e.int(Player.owner);
      const row = make('tr', '', owner === this.game.room.you ? 'you' : '');
      const name = make('td');
      const dot = make('i');
      dot.style.background = colorOf(playerColors, e.int(Player.color));
      name.append(dot, this.name(owner));
      row.append(name, make('td', String(e.int(Player.score))), make('td', String(e.int(Player.kills))), make('td', String(e.int(Player.deaths))));
      table.append(row);
    }
    byId('scores').replaceChildren(table);
  }
}
