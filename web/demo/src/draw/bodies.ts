import { EnemyKind, EnemyState, Flag, ItemKind, breeds } from '../arena/contract.js';
import { colorOf, enemyColors, itemColors, paintGlow, playerColors, projectileColors, shade } from './palette.js';

/** A point and a size on the screen, in CSS pixels; unit is a tile. */
export interface Spot {
  readonly x: number;
  readonly y: number;
  readonly unit: number;
}

const playerRadius = 0.36; // tiles: a little more than its body, so that it looks solid
const outline = 'rgba(6,9,16,0.95)';

/** What of a player decides its looks. */
export interface PlayerLook {
  readonly color: number;
  readonly skin: number;
  readonly flags: number;
  readonly power: number;
  readonly aim: number; // radians
  readonly white: number; // 0 to 1
  readonly own: boolean;
  readonly time: number; // seconds
}

export function drawPlayer(g: CanvasRenderingContext2D, at: Spot, look: PlayerLook): void {
  const r = playerRadius * at.unit;
  const color = colorOf(playerColors, look.color);
  shadow(g, at, r);
  g.save();
  g.globalAlpha = look.flags & Flag.away ? 0.45 : 1;
  g.translate(at.x, at.y);
  if (look.own) ownMark(g, r, color, look.time);
  g.rotate(look.aim);
  treads(g, r, look.flags & Flag.moving ? look.time * 9 : 0);
  gun(g, r, color, (look.flags & Flag.attacking) !== 0);
  ball(g, r, color);
  pattern(g, r, look.skin);
  visor(g, r);
  whiten(g, r, look.white);
  g.restore();
  if (look.flags & Flag.shielded) bubble(g, at, r * 1.55, look.time);
}

/** A ring that nobody else has: one look tells who one is. */
function ownMark(g: CanvasRenderingContext2D, r: number, color: string, time: number): void {
  g.strokeStyle = color;
  g.lineWidth = Math.max(2, r * 0.1);
  g.beginPath();
  g.arc(0, 0, r * 1.45, 0, 2 * Math.PI);
  g.stroke();
  g.fillStyle = '#ffffff';
  for (let i = 0; i < 3; i++) {
    const angle = time * 1.2 + (i * 2 * Math.PI) / 3;
    g.beginPath();
    g.arc(Math.cos(angle) * r * 1.45, Math.sin(angle) * r * 1.45, r * 0.11, 0, 2 * Math.PI);
    g.fill();
  }
}

function shadow(g: CanvasRenderingContext2D, { x, y }: Spot, r: number): void {
  g.fillStyle = 'rgba(0,0,0,0.42)';
  g.beginPath();
  g.ellipse(x + r * 0.22, y + r * 0.42, r * 1.08, r * 0.92, 0, 0, 2 * Math.PI);
  g.fill();
}

function treads(g: CanvasRenderingContext2D, r: number, phase: number): void {
  for (const side of [-1, 1]) {
    g.fillStyle = '#10141d';
    g.beginPath();
    g.roundRect(-r * 0.78, side * r * 0.86 - r * 0.26, r * 1.5, r * 0.52, r * 0.2);
    g.fill();
    g.fillStyle = 'rgba(150,170,210,0.28)';
    for (let i = 0; i < 4; i++) {
      const x = (((i * 0.38 - phase * 0.16) % 1.52) + 1.52) % 1.52;
      g.fillRect(-r * 0.78 + x * r * 0.98, side * r * 0.86 - r * 0.24, r * 0.09, r * 0.48);
    }
  }
}

function gun(g: CanvasRenderingContext2D, r: number, color: string, firing: boolean): void {
  const back = firing ? r * 0.14 : 0;
  g.fillStyle = outline;
  g.beginPath();
  g.roundRect(r * 0.3 - back, -r * 0.26, r * 1.28, r * 0.52, r * 0.14);
  g.fill();
  g.fillStyle = '#8794ad';
  g.beginPath();
  g.roundRect(r * 0.4 - back, -r * 0.17, r * 1.1, r * 0.34, r * 0.08);
  g.fill();
  g.fillStyle = shade(color, 0.25);
  g.fillRect(r * 1.28 - back, -r * 0.17, r * 0.14, r * 0.34);
}

function ball(g: CanvasRenderingContext2D, r: number, color: string): void {
  g.fillStyle = outline;
  g.beginPath();
  g.arc(0, 0, r * 1.02, 0, 2 * Math.PI);
  g.fill();
  const fill = g.createRadialGradient(-r * 0.3, -r * 0.35, r * 0.1, 0, 0, r);
  fill.addColorStop(0, shade(color, 0.45));
  fill.addColorStop(0.5, color);
  fill.addColorStop(1, shade(color, -0.45));
  g.fillStyle = fill;
  g.beginPath();
  g.arc(0, 0, r * 0.9, 0, 2 * Math.PI);
  g.fill();
}

function pattern(g: CanvasRenderingContext2D, r: number, skin: number): void {
  g.strokeStyle = 'rgba(8,12,22,0.55)';
  g.lineWidth = r * 0.16;
  g.beginPath();
  if (skin === 0) g.arc(0, 0, r * 0.55, 0, 2 * Math.PI);
  else if (skin === 1) {
    g.moveTo(-r * 0.75, -r * 0.3);
    g.lineTo(r * 0.1, -r * 0.3);
    g.moveTo(-r * 0.75, r * 0.3);
    g.lineTo(r * 0.1, r * 0.3);
  } else if (skin === 2) {
    g.moveTo(-r * 0.1, -r * 0.7);
    g.lineTo(-r * 0.45, 0);
    g.lineTo(-r * 0.1, r * 0.7);
  } else {
    g.moveTo(-r * 0.7, 0);
    g.lineTo(r * 0.05, 0);
    g.moveTo(-r * 0.33, -r * 0.4);
    g.lineTo(-r * 0.33, r * 0.4);
  }
  g.stroke();
}

function visor(g: CanvasRenderingContext2D, r: number): void {
  g.fillStyle = '#0a0e17';
  g.beginPath();
  g.ellipse(r * 0.34, 0, r * 0.3, r * 0.46, 0, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = 'rgba(170,235,255,0.9)';
  g.beginPath();
  g.ellipse(r * 0.4, -r * 0.16, r * 0.1, r * 0.18, 0.2, 0, 2 * Math.PI);
  g.fill();
}

function whiten(g: CanvasRenderingContext2D, r: number, white: number): void {
  if (white <= 0) return;
  g.globalAlpha = white * 0.85;
  g.fillStyle = '#ffffff';
  g.beginPath();
  g.arc(0, 0, r, 0, 2 * Math.PI);
  g.fill();
}

function bubble(g: CanvasRenderingContext2D, { x, y }: Spot, r: number, time: number): void {
  const beat = 1 + Math.sin(time * 5) * 0.03;
  const fill = g.createRadialGradient(x, y, r * 0.55, x, y, r * beat);
  fill.addColorStop(0, 'rgba(122,240,255,0)');
  fill.addColorStop(0.85, 'rgba(122,240,255,0.16)');
  fill.addColorStop(1, 'rgba(122,240,255,0.5)');
  g.fillStyle = fill;
  g.beginPath();
  g.arc(x, y, r * beat, 0, 2 * Math.PI);
  g.fill();
}

/** What of an enemy decides its looks. */
export interface EnemyLook {
  readonly kind: number;
  readonly state: number;
  readonly aim: number; // radians
  readonly white: number;
  readonly time: number;
}

export function drawEnemy(g: CanvasRenderingContext2D, at: Spot, look: EnemyLook): void {
  const r = (breeds[look.kind]?.radius ?? 0.3) * at.unit * 1.12;
  shadow(g, at, r);
  g.save();
  g.translate(at.x, at.y);
  g.rotate(look.aim);
  if (look.state === EnemyState.windup) {
    const beat = 0.5 + 0.5 * Math.sin(look.time * 26);
    g.strokeStyle = `rgba(255,84,60,${0.5 + beat * 0.5})`;
    g.lineWidth = r * 0.16;
    g.beginPath();
    g.arc(0, 0, r * (1.35 + beat * 0.12), 0, 2 * Math.PI);
    g.stroke();
    g.translate(-r * 0.1 * beat, 0);
  }
  if (look.kind === EnemyKind.grub) grub(g, r, look.time);
  else if (look.kind === EnemyKind.spitter) spitter(g, r, look.time);
  else brute(g, r, look.time);
  whiten(g, r, look.white);
  g.restore();
  if (look.state === EnemyState.stun) stars(g, at, r, look.time);
}

function grub(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[0];
  for (let i = 2; i >= 0; i--) {
    const x = r * (0.42 - i * 0.62);
    const y = Math.sin(time * 9 - i * 1.1) * r * 0.12;
    const size = r * (0.74 - i * 0.1);
    legs(g, x, y, size, time * 14 + i);
    segment(g, x, y, size, color);
  }
  eyes(g, r * 0.72, r * 0.28, r * 0.16, '#ff3d3d');
  g.strokeStyle = '#f4f1d0';
  g.lineWidth = r * 0.11;
  g.lineCap = 'round';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(r * 1.02, side * r * 0.26);
    g.quadraticCurveTo(r * 1.4, side * r * 0.3, r * 1.36, side * r * 0.06);
    g.stroke();
  }
}

function legs(g: CanvasRenderingContext2D, x: number, y: number, r: number, phase: number): void {
  g.strokeStyle = '#26371a';
  g.lineWidth = r * 0.18;
  g.lineCap = 'round';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(x, y);
    g.lineTo(x + Math.sin(phase * side) * r * 0.3, y + side * r * 1.35);
    g.stroke();
  }
}

function segment(g: CanvasRenderingContext2D, x: number, y: number, r: number, color: string): void {
  const fill = g.createRadialGradient(x - r * 0.2, y - r * 0.3, r * 0.1, x, y, r);
  fill.addColorStop(0, shade(color, 0.35));
  fill.addColorStop(0.6, color);
  fill.addColorStop(1, shade(color, -0.55));
  g.fillStyle = outline;
  g.beginPath();
  g.arc(x, y, r * 1.1, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = fill;
  g.beginPath();
  g.arc(x, y, r, 0, 2 * Math.PI);
  g.fill();
}

function eyes(g: CanvasRenderingContext2D, x: number, apart: number, r: number, color: string): void {
  for (const side of [-1, 1]) {
    g.fillStyle = color;
    g.beginPath();
    g.arc(x, side * apart, r, 0, 2 * Math.PI);
    g.fill();
    g.fillStyle = '#fff6e8';
    g.beginPath();
    g.arc(x + r * 0.25, side * apart - r * 0.25, r * 0.35, 0, 2 * Math.PI);
    g.fill();
  }
}

function spitter(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[1];
  g.fillStyle = shade(color, -0.6);
  for (let i = 0; i < 6; i++) {
    const angle = Math.PI * (0.45 + i * 0.22);
    const sway = Math.sin(time * 5 + i) * 0.12;
    g.beginPath();
    g.ellipse(Math.cos(angle + sway) * r * 1.05, Math.sin(angle + sway) * r * 1.05, r * 0.42, r * 0.18, angle + sway, 0, 2 * Math.PI);
    g.fill();
  }
  segment(g, 0, 0, r * 0.98, color);
  g.fillStyle = '#170a26';
  g.beginPath();
  g.ellipse(r * 0.72, 0, r * 0.3, r * (0.34 + Math.sin(time * 4) * 0.05), 0, 0, 2 * Math.PI);
  g.fill();
  g.fillStyle = projectileColors[1];
  g.beginPath();
  g.arc(r * 0.76, 0, r * 0.15, 0, 2 * Math.PI);
  g.fill();
  eyes(g, r * 0.2, r * 0.5, r * 0.17, '#ffe45e');
}

function brute(g: CanvasRenderingContext2D, r: number, time: number): void {
  const color = enemyColors[2];
  const swing = Math.sin(time * 6) * r * 0.1;
  for (const side of [-1, 1]) segment(g, r * 0.35 + swing * side, side * r * 0.85, r * 0.42, shade0(color));
  segment(g, 0, 0, r, color);
  g.fillStyle = 'rgba(40,6,4,0.5)';
  for (const x of [-0.55, -0.2, 0.15]) {
    g.beginPath();
    g.roundRect(r * x, -r * 0.52, r * 0.16, r * 1.04, r * 0.08);
    g.fill();
  }
  g.fillStyle = '#f1e6d2';
  for (const side of [-1, 1]) {
    g.beginPath();
    g.moveTo(r * 0.5, side * r * 0.72);
    g.quadraticCurveTo(r * 1.1, side * r * 0.85, r * 1.32, side * r * 0.4);
    g.quadraticCurveTo(r * 1.0, side * r * 0.6, r * 0.62, side * r * 0.44);
    g.fill();
  }
  eyes(g, r * 0.66, r * 0.26, r * 0.13, '#ffd23f');
}

function shade0(color: string): string {
  const n = parseInt(color.slice(1), 16);
  const dark = (v: number): string => Math.round(v * 0.62).toString(16).padStart(2, '0');
  return `#${dark(n >> 16)}${dark((n >> 8) & 255)}${dark(n & 255)}`;
}

function stars(g: CanvasRenderingContext2D, { x, y }: Spot, r: number, time: number): void {
  g.fillStyle = '#ffe45e';
  for (let i = 0; i < 3; i++) {
    const angle = time * 6 + (i * 2 * Math.PI) / 3;
    g.beginPath();
    g.arc(x + Math.cos(angle) * r * 0.9, y - r * 0.9 + Math.sin(angle) * r * 0.3, r * 0.13, 0, 2 * Math.PI);
    g.fill();
  }
}

/** A projectile, with the streak of where it was a moment ago. Paint it over the lit picture. */
export function drawProjectile(g: CanvasRenderingContext2D, at: Spot, kind: number, aim: number, age: number): void {
  const color = colorOf(projectileColors, kind);
  const tail = Math.min(1, age / 0.15) * (kind === 0 ? 1.25 : 0.6) * at.unit;
  const dx = Math.cos(aim);
  const dy = Math.sin(aim);
  g.globalCompositeOperation = 'lighter';
  const fade = g.createLinearGradient(at.x, at.y, at.x - dx * tail, at.y - dy * tail);
  fade.addColorStop(0, `${color}dd`);
  fade.addColorStop(0.4, `${color}55`);
  fade.addColorStop(1, `${color}00`);
  g.strokeStyle = fade;
  g.lineCap = 'round';
  g.lineWidth = at.unit * (kind === 0 ? 0.13 : 0.24);
  g.beginPath();
  g.moveTo(at.x, at.y);
  g.lineTo(at.x - dx * tail, at.y - dy * tail);
  g.stroke();
  paintGlow(g, color, at.x, at.y, at.unit * 0.55, 0.8);
  g.fillStyle = '#ffffff';
  g.beginPath();
  g.ellipse(at.x, at.y, at.unit * (kind === 0 ? 0.17 : 0.12), at.unit * (kind === 0 ? 0.06 : 0.12), aim, 0, 2 * Math.PI);
  g.fill();
  g.globalCompositeOperation = 'source-over';
}

/** A pick-up that floats. */
export function drawItem(g: CanvasRenderingContext2D, at: Spot, kind: number, time: number): void {
  g.fillStyle = 'rgba(0,0,0,0.4)';
  g.beginPath();
  g.ellipse(at.x, at.y + at.unit * 0.16, at.unit * 0.16, at.unit * 0.07, 0, 0, 2 * Math.PI);
  g.fill();
  g.save();
  g.translate(at.x, floating(at, time));
  g.scale(at.unit * 0.2, at.unit * 0.2);
  symbol(g, kind, colorOf(itemColors, kind), time);
  g.restore();
}

/** The light of a pick-up. Paint it over the lit picture. */
export function drawItemGlow(g: CanvasRenderingContext2D, at: Spot, kind: number, time: number): void {
  g.globalCompositeOperation = 'lighter';
  paintGlow(g, colorOf(itemColors, kind), at.x, floating(at, time), at.unit * 0.62, 0.5 + 0.15 * Math.sin(time * 3.3));
  g.globalCompositeOperation = 'source-over';
}

function floating(at: Spot, time: number): number {
  return at.y - at.unit * (0.1 + 0.06 * Math.sin(time * 2.6));
}

function symbol(g: CanvasRenderingContext2D, kind: number, color: string, time: number): void {
  g.lineJoin = 'round';
  g.fillStyle = color;
  g.strokeStyle = outline;
  g.lineWidth = 0.28;
  if (kind === ItemKind.gem) {
    const narrow = 0.45 + 0.4 * Math.abs(Math.cos(time * 1.8));
    polygon(g, [[0, -1.1], [narrow, -0.2], [0, 1.15], [-narrow, -0.2]]);
    g.fillStyle = 'rgba(255,255,255,0.65)';
    polygon(g, [[0, -1.1], [narrow, -0.2], [0, 0.05], [-narrow * 0.2, -0.3]], false);
    return;
  }
  if (kind === ItemKind.health) {
    polygon(g, [[-0.35, -1], [0.35, -1], [0.35, -0.35], [1, -0.35], [1, 0.35], [0.35, 0.35], [0.35, 1], [-0.35, 1], [-0.35, 0.35], [-1, 0.35], [-1, -0.35], [-0.35, -0.35]]);
  } else if (kind === ItemKind.haste) {
    polygon(g, [[0.35, -1.15], [-0.75, 0.2], [-0.05, 0.2], [-0.35, 1.15], [0.75, -0.25], [0.05, -0.25]]);
  } else if (kind === ItemKind.spread) {
    for (const [x, y] of [[0, -0.7], [-0.75, 0.5], [0.75, 0.5]] as const) {
      g.beginPath();
      g.arc(x, y, 0.48, 0, 2 * Math.PI);
      g.stroke();
      g.fill();
    }
  } else {
    polygon(g, [[0, -1.1], [0.95, -0.65], [0.8, 0.4], [0, 1.15], [-0.8, 0.4], [-0.95, -0.65]]);
    g.fillStyle = 'rgba(255,255,255,0.5)';
    polygon(g, [[0, -0.75], [0, 0.7], [-0.5, 0.25], [-0.6, -0.45]], false);
  }
}

function polygon(g: CanvasRenderingContext2D, points: readonly (readonly [number, number])[], stroked = true): void {
  g.beginPath();
  for (const [x, y] of points) g.lineTo(x, y);
  g.closePath();
  if (stroked) g.stroke();
  g.fill();
}

/** A door that slides: open is 0 to 1. `across` says that its wall runs left and right. */
export function drawDoor(g: CanvasRenderingContext2D, left: number, top: number, unit: number, open: number, across: boolean): void {
  const leaf = (unit / 2) * (1 - open * 0.84);
  g.save();
  g.translate(left + unit / 2, top + unit / 2);
  if (!across) g.rotate(Math.PI / 2);
  for (const side of [-1, 1]) {
    const x = side < 0 ? -unit / 2 : unit / 2 - leaf;
    g.fillStyle = 'rgba(0,0,0,0.4)';
    g.fillRect(x, -unit * 0.2 + unit * 0.1, leaf, unit * 0.46);
    const fill = g.createLinearGradient(0, -unit * 0.22, 0, unit * 0.22);
    fill.addColorStop(0, '#5b6b86');
    fill.addColorStop(0.5, '#3a475e');
    fill.addColorStop(1, '#222b3c');
    g.fillStyle = fill;
    g.fillRect(x, -unit * 0.22, leaf, unit * 0.44);
    g.strokeStyle = 'rgba(5,8,14,0.9)';
    g.lineWidth = Math.max(1, unit * 0.03);
    g.strokeRect(x, -unit * 0.22, leaf, unit * 0.44);
    g.fillStyle = open > 0.5 ? '#5dfc9a' : '#ffb347';
    g.fillRect(side < 0 ? x + leaf - unit * 0.1 : x + unit * 0.05, -unit * 0.1, unit * 0.05, unit * 0.2);
  }
  g.restore();
}

/** A bar of health over a head, and a name. */
export function drawTag(g: CanvasRenderingContext2D, at: Spot, above: number, part: number, color: string, name?: string): void {
  const width = at.unit * 0.9;
  const height = Math.max(3, at.unit * 0.085);
  const x = at.x - width / 2;
  const y = at.y - above * at.unit;
  g.fillStyle = 'rgba(5,8,14,0.8)';
  g.beginPath();
  g.roundRect(x - 1.5, y - 1.5, width + 3, height + 3, height);
  g.fill();
  if (part > 0) {
    g.fillStyle = color;
    g.beginPath();
    g.roundRect(x, y, Math.max(height, width * Math.min(1, part)), height, height / 2);
    g.fill();
  }
  if (name === undefined) return;
  g.font = `600 ${Math.max(11, Math.round(at.unit * 0.25))}px system-ui, sans-serif`;
  g.textAlign = 'center';
  g.lineWidth = 3.5;
  g.strokeStyle = 'rgba(4,6,12,0.8)';
  g.strokeText(name, at.x, y - 6);
  g.fillStyle = '#eef3ff';
  g.fillText(name, at.x, y - 6);
}
